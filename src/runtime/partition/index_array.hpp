// The part of a distributed `pos` or `crd` array that is here: values with the global index of the first. Positions in
// a piece are local and narrow; where they stand in the whole is a base that is added.
#pragma once
#include <cstdint>
#include <span>

#include "base/blocks.hpp"
#include "base/require.hpp"

namespace spdistal::runtime {

/// Coordinates of the positions [first_position, first_position + values.size()).
template <class I>
struct LocalCrd {
  std::span<const I> values;
  int64_t first_position = 0;

  Range positions() const { return {first_position, first_position + int64_t(values.size())}; }
  int64_t at(int64_t position) const { return int64_t(values[size_t(position - first_position)]); }
};

/// The n + 1 bounds of n parents, [first_parent, first_parent + n): parent p has the positions [begin(p), end(p)),
/// ascending and without gaps. No entries at all means no parents.
template <class I>
struct LocalPos {
  std::span<const I> entries;
  int64_t first_parent = 0;
  int64_t first_position = 0;  // what local positions are counted from

  Range parents() const { return {first_parent, first_parent + (entries.empty() ? 0 : int64_t(entries.size()) - 1)}; }
  int64_t begin(int64_t parent) const { return first_position + int64_t(entries[size_t(parent - first_parent)]); }
  int64_t end(int64_t parent) const { return begin(parent + 1); }
  Range positions() const { return entries.empty() ? Range{} : Range{begin(parents().lo), begin(parents().hi)}; }
};

}  // namespace spdistal::runtime
