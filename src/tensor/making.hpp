// One piece in the making: what is known of all entries of a tensor while they go to the colours that hold them, and what becomes
// of those that came to one.
#pragma once
#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "base/require.hpp"
#include "tensor/holders.hpp"
#include "tensor/pieces.hpp"

namespace spdistal {

using Path = std::vector<int64_t>;

/// All there is to know about where entries go and what becomes of them there.
struct Making {
  const std::vector<int64_t>& dims;
  const Format& format;
  const Tree& tree;
  const Shares& simple;
  Holders holders;
  std::vector<int64_t> total = {};  // nodes of each counted level, where positions are split
  bool with_nodes = false;          // colours get nodes besides entries
  /// Where blocks of rows are split by themselves: nodes of each counted level before the row.
  std::map<int64_t, std::vector<int64_t>> before = {};

  int64_t positions(size_t level) const { return total[*tree.counted_at(level)] * tree.per_node(level); }
  Range positions(size_t level, const Range& rows) const {
    size_t counted = *tree.counted_at(level);
    int64_t each = tree.per_node(level);
    return {before.at(rows.lo)[counted] * each, before.at(rows.hi)[counted] * each};
  }
  /// The positions that a split is about, for a row: all of them, or those of its block.
  Range around(const Holders::Split& split, int64_t row) const {
    if (split.rows.empty()) return {0, positions(split.level)};
    auto next = std::upper_bound(split.rows.begin(), split.rows.end(), row,
                                 [](int64_t x, const Range& block) { return x < block.lo; });
    require(next != split.rows.begin() && std::prev(next)->contains(row), "blocks of rows have every row");
    return positions(split.level, *std::prev(next));
  }
  int64_t part_with(const Holders::Split& split, int64_t row, int64_t position) const {
    Range all = around(split, row);
    return split.parts.number_with(all.size(), position - all.lo);
  }
  void find_path(std::span<const int64_t> at, Path& path) const {
    path.clear();
    for (int dimension : format.mode_order()) path.push_back(at[size_t(dimension)]);
  }
};

struct MadePiece {
  Storage storage;
  NodeEnds ends;
};
/// The piece of a share: of entries in storage order, and the nodes that came besides, if any do.
MadePiece make_piece(const Making& making, const Share& share, Coordinates entries, runtime::Records listed);

/// Nodes in order, each once.
void sort_nodes(runtime::Records& nodes);

}  // namespace spdistal
