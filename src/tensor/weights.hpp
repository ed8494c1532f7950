// How much homes store, by coordinates of their first levels, whose coordinates rise: what blocks of these weigh, and blocks
// that weigh the same (`base/blocks.hpp`).
#pragma once
#include <vector>

#include "runtime/transport/transport.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Tensors of which the first levels have the same coordinates: rows that are walked together.
using Weighed = std::vector<const Home*>;

/// Collective. How many elements all of them together store before each of these coordinates.
std::vector<int64_t> stored_before(runtime::Transport& transport, const Weighed& homes,
                                   const std::vector<int64_t>& coordinates);

/// Collective. How many positions of a level a home whose pieces are ordered has before each of these coordinates.
std::vector<int64_t> positions_before(runtime::Transport& transport, const Home& home, size_t level,
                                      const std::vector<int64_t>& coordinates);

/// Where blocks of coordinates begin, one after the other, and where the last ends.
using Cuts = std::vector<int64_t>;
Cuts equal_cuts(int64_t coordinates, int64_t blocks);
/// Collective. Of blocks that have equal shares of what all of them together store at the first so many coordinates.
Cuts weighted_cuts(runtime::Transport& transport, const Weighed& homes, int64_t coordinates, int64_t blocks);

/// Collective. The most that a block stores, over the mean.
double imbalance(runtime::Transport& transport, const Weighed& homes, const Cuts& cuts);

}  // namespace spdistal
