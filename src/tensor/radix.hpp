// A stable radix sort of 64-bit keys with 64-bit payloads, parallel.
#pragma once
#include <cstdint>

#include "memory/array.hpp"

namespace spdistal {

struct Record {
  uint64_t key, payload;
};

/// Sorts by key; equal keys keep their order. `spare` is as long as `records`; the contents of both may change places.
void radix_sort(Array<Record>& records, Array<Record>& spare);

}  // namespace spdistal
