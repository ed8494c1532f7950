#include "tensor/making.hpp"

#include "format/fill.hpp"
#include "level/kernel.hpp"
#include "runtime/records/sort.hpp"
#include "tensor/pack.hpp"
#include "tensor/sort.hpp"

namespace spdistal {

using runtime::Records;

void sort_nodes(Records& nodes) {
  std::vector<int> modes;
  for (int k = 0; k < nodes.order(); k++) modes.push_back(k);
  sort(nodes, modes, runtime::Duplicates::Add);
}

namespace {

// Whether a node has an element that the share admits: not only what coordinates tell one by one.
bool has_element(const Making& making, const Share& share, std::span<const int64_t> node,
                 const std::vector<Range>& ranges) {
  size_t tail = making.tree.tail(), order = making.tree.order();
  Path path(node.begin(), node.begin() + std::ptrdiff_t(tail)), at(order);
  path.resize(order);
  std::vector<Range> sides;
  for (size_t k = tail; k < order; k++) sides.push_back(ranges[size_t(making.format.mode_order()[k])]);
  bool found = false;
  runtime::for_each_point(runtime::Space(runtime::Rect(sides)), [&](std::span<const int64_t> below) {
    if (found) return;
    std::copy(below.begin(), below.end(), path.begin() + std::ptrdiff_t(tail));
    for (size_t k = 0; k < order; k++) at[size_t(making.format.mode_order()[k])] = path[k];
    found = admits(share, making.dims, at);
    for (const PositionBlock& split : share.positions) {
      if (split.level < tail) continue;
      int64_t number = node[tail + *making.tree.counted_at(split.level)];
      int64_t position = number * making.tree.per_node(split.level) + making.tree.offset(split.level, path.data());
      found = found && split.part.of(making.positions(split.level)).contains(position);
    }
  });
  return found;
}

// The nodes that a piece has, and those among them that have no entries.
struct Nodes {
  Records all, bare;
};
Nodes nodes_here(const Making& making, const Share& share, const Coordinates& entries, const Records& listed,
                 const std::vector<Range>& ranges) {
  Nodes out{Records(listed.order(), listed.type()), Records(listed.order(), listed.type())};
  int64_t e = 0;
  auto compare = [&](std::span<const int64_t> node) {  // entry e with a node
    for (size_t k = 0; k < making.tree.tail(); k++) {
      int64_t x = entries.column(size_t(making.format.mode_order()[k]))[size_t(e)];
      if (x != node[k]) return x < node[k] ? -1 : 1;
    }
    return 0;
  };
  for (int64_t n = 0; n < listed.size(); n++) {
    std::span<const int64_t> node = listed.at(n);
    while (e < entries.size() && compare(node) < 0) e++;
    bool bare = e == entries.size() || compare(node) != 0;
    if (bare && !has_element(making, share, node, ranges)) continue;
    out.all.add(node, true);
    if (bare) out.bare.add(node, true);
  }
  return out;
}

// The coordinates that occur in each dimension, of nodes and entries.
std::vector<Range> occurring(const Making& making, const Coordinates& entries, const Records& nodes) {
  std::vector<Range> out(making.dims.size(), Range{INT64_MAX, INT64_MIN});
  auto take = [&](size_t d, int64_t x) { out[d] = {std::min(out[d].lo, x), std::max(out[d].hi, x + 1)}; };
  for (size_t d = 0; d < making.dims.size(); d++)
    for (int64_t x : entries.column(d)) take(d, x);
  for (int64_t n = 0; n < nodes.size(); n++)
    for (size_t k = 0; k < making.tree.tail(); k++) take(size_t(making.format.mode_order()[k]), nodes.at(n)[k]);
  return out;
}

// The ranges of a piece of position blocks: around what is there where there is one parent, so that positions stay
// consecutive below several.
std::vector<Range> ranges_of_blocks(const Making& making, const Share& share, std::vector<Range> ranges,
                                    const std::vector<Range>& there, std::span<const int64_t> first_node) {
  const Tree& tree = making.tree;
  size_t deepest = share.positions.back().level;
  bool single = true;  // so far one position
  for (size_t k = 0; k <= deepest; k++) {
    size_t d = size_t(making.format.mode_order()[k]);
    bool dense = has_places(making.format.levels()[k]);
    if (dense && single && k < tree.tail()) ranges[d] = there[d];
    if (dense && single && k >= tree.tail())
      for (const PositionBlock& split : share.positions) {
        if (split.level < k) continue;
        // What the block leaves of the one node, seen from this level.
        int64_t per = tree.per_tail_node(split.level), here = tree.per_tail_node(k);
        Path first_path(first_node.begin(), first_node.begin() + std::ptrdiff_t(tree.tail()));
        first_path.resize(split.level + 1);
        int64_t above = first_node[tree.tail() + *tree.counted_at(split.level)] * tree.per_node(split.level) +
                        tree.offset(split.level, first_path.data());
        Range positions = split.part.of(making.positions(split.level));
        int64_t step = per / here, lo = std::max<int64_t>(0, positions.lo - above),
                hi = std::min(per, positions.hi - above);
        Range side{lo / step % tree.extent(k), (hi - 1) / step % tree.extent(k) + 1};
        ranges[d] = runtime::common(ranges[d], side);
      }
    single = single && (dense ? ranges[d].size() == 1 : there[d].size() == 1);
  }
  return ranges;
}

}  // namespace

MadePiece make_piece(const Making& making, const Share& share, Coordinates entries, Records listed) {
  std::vector<Range> ranges = hull(share, making.dims);
  Nodes nodes{Records(0, ScalarType::Bool), Records(0, ScalarType::Bool)};
  if (making.with_nodes) {
    entries = sort_and_merge(std::move(entries), making.format.mode_order());
    sort_nodes(listed);
    nodes = nodes_here(making, share, entries, listed, ranges);
  }
  NodeEnds ends;
  if (!share.positions.empty() && entries.size() == 0 && nodes.all.empty()) {
    std::fill(ranges.begin(), ranges.end(), Range{});
  } else if (!share.positions.empty()) {
    std::span<const int64_t> first_node;
    if (making.with_nodes) {
      first_node = nodes.all.at(0);
      ends = {first_node.back(), nodes.all.at(nodes.all.size() - 1).back()};
    }
    ranges = ranges_of_blocks(making, share, std::move(ranges), occurring(making, entries, nodes.bare), first_node);
  }
  Path at(making.dims.size());
  for (int64_t n = 0; n < nodes.bare.size(); n++) {
    for (size_t k = 0; k < at.size(); k++) {
      size_t d = size_t(making.format.mode_order()[k]);
      at[d] = k < making.tree.tail() ? nodes.bare.at(n)[k] : ranges[d].lo;
    }
    std::visit([&](auto fill) { entries.add(std::span<const int64_t>(at), fill); },
               static_cast<const ScalarVariant&>(fill_value(making.format, entries.type())));
  }
  return {pack(std::move(entries), making.format, ranges), ends};
}

}  // namespace spdistal
