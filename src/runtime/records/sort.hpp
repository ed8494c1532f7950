// Sorting the records of one rank by their coordinates, modes in any order: least significant digit first, on
// coordinates packed into as few words as their ranges allow. Stable.
#pragma once
#include "runtime/records/records.hpp"

namespace spdistal::runtime {

enum class Duplicates {
  Keep,
  Add,  // records of equal coordinates become one; values are added in the order they stood
};

/// By coordinate of mode modes[0], then modes[1], …
void sort(Records& records, std::span<const int> modes, Duplicates duplicates);

/// Whether a comes before b, modes in this order.
bool precedes(std::span<const int64_t> a, std::span<const int64_t> b, std::span<const int> modes);

}  // namespace spdistal::runtime
