// How many positions the levels of a distributed tensor have, and where in the whole those of each piece begin.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/transport/transport.hpp"
#include "tensor/share.hpp"
#include "tensor/storage.hpp"
#include "tensor/tree.hpp"

namespace spdistal {

struct Counts {
  std::vector<int64_t> positions;           // of each level
  bool ordered = false;                     // positions of every piece are consecutive, at every level
  std::vector<std::vector<int64_t>> bases;  // by piece of this rank and level, where they are
};

/// Whether the pieces of simplified shares are consecutive in storage order, each an interval that shares no element
/// with another unless they are equal.
bool are_consecutive(const Shares& shares, const Format& format, const std::vector<int64_t>& dims);

/// Collective. Of the pieces of this rank's colours.
Counts count_positions(runtime::Transport& transport, const Shares& simple, const Format& format,
                       const std::vector<int64_t>& dims, Range colours, const std::vector<Storage>& pieces);

}  // namespace spdistal
