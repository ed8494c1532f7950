// A stable radix sort of 64-bit keys with 64-bit payloads, parallel.
#pragma once
#include <cstdint>
#include <span>

namespace spdistal::runtime {

struct Keyed {
  uint64_t key, payload;
};

/// Sorts by key; equal keys keep their order. `spare` is as long as `items`, and is left with anything.
void radix_sort(std::span<Keyed> items, std::span<Keyed> spare, int threads);

}  // namespace spdistal::runtime
