#include "tensor/weights.hpp"

#include <algorithm>

#include "base/blocks.hpp"
#include "level/level.hpp"
#include "tensor/slices.hpp"

namespace spdistal {

namespace {

// The positions of a level below those before one of the first level, which may be the end of it.
int64_t below(const Pattern& pattern, size_t level, int64_t position) {
  for (size_t k = 1; k <= level && position > 0; k++) {
    if (pattern.level(k).positions == 0) return 0;
    position = functions_of(pattern.format().levels()[k]).children(pattern.level(k), position - 1).hi;
  }
  return position;
}

}  // namespace

std::vector<int64_t> stored_before(runtime::Transport& transport, const Weighed& homes,
                                   const std::vector<int64_t>& coordinates) {
  std::vector<int64_t> out(coordinates.size());
  for (const Home* home : homes)
    for (int64_t q = home->colours().lo; q < home->colours().hi; q++) {
      if (home->owns_nothing(q)) continue;
      const Pattern& pattern = home->piece(q).pattern();
      for (size_t k = 0; k < out.size(); k++)
        out[k] += below(pattern, pattern.order() - 1, first_position(pattern, coordinates[k]));
    }
  transport.allreduce(out.data(), out.size(), ScalarType::Int64, runtime::ReduceOp::Sum);
  return out;
}

// The first position at or after a coordinate, of all that pieces have; the same one may be in several.
std::vector<int64_t> positions_before(runtime::Transport& transport, const Home& home, size_t level,
                                      const std::vector<int64_t>& coordinates) {
  std::vector<int64_t> out(coordinates.size(), home.positions(level));
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    const Pattern& pattern = home.piece(q).pattern();
    for (size_t k = 0; k < out.size(); k++) {
      int64_t first = below(pattern, level, first_position(pattern, coordinates[k]));
      if (first < pattern.level(level).positions) out[k] = std::min(out[k], home.base(q, level) + first);
    }
  }
  transport.allreduce(out.data(), out.size(), ScalarType::Int64, runtime::ReduceOp::Min);
  return out;
}

Cuts equal_cuts(int64_t coordinates, int64_t blocks) {
  Cuts out;
  for (int64_t c = 0; c <= blocks; c++) out.push_back(block(coordinates, blocks, c).lo);
  return out;
}

// All cuts are searched for at a time, so that ranks talk as often as coordinates can be halved.
Cuts weighted_cuts(runtime::Transport& transport, const Weighed& homes, int64_t coordinates, int64_t blocks) {
  int64_t total = stored_before(transport, homes, {coordinates})[0];
  Cuts from(size_t(blocks) + 1, 0), to(size_t(blocks) + 1, coordinates);
  from.back() = coordinates;
  for (;;) {
    std::vector<int64_t> asked;
    for (size_t c = 0; c < from.size(); c++)
      if (from[c] < to[c]) {
        int64_t middle = from[c] + (to[c] - from[c]) / 2;
        asked.insert(asked.end(), {middle, middle + 1});
      }
    if (asked.empty()) return from;
    std::vector<int64_t> before = stored_before(transport, homes, asked);
    for (size_t c = 0, k = 0; c < from.size(); c++) {
      if (from[c] >= to[c]) continue;
      bool earlier = before[k] + before[k + 1] < weight_of_cut(total, blocks, int64_t(c));
      (earlier ? from[c] : to[c]) = earlier ? asked[k] + 1 : asked[k];
      k += 2;
    }
  }
}

double imbalance(runtime::Transport& transport, const Weighed& homes, const Cuts& cuts) {
  std::vector<int64_t> before = stored_before(transport, homes, cuts);
  int64_t most = 0, all = before.back() - before.front();
  for (size_t c = 0; c + 1 < before.size(); c++) most = std::max(most, before[c + 1] - before[c]);
  return all == 0 ? 1 : double(most) * double(before.size() - 1) / double(all);
}

}  // namespace spdistal
