// Pieces that are consecutive tell each other how many nodes they have and which are the first and the last; a node that
// a piece shares with the one before it is counted once, and what a level fills between two pieces is counted too. Other pieces share nodes anyhow: where they can, all nodes are
// sorted over all ranks.
#include "tensor/counts.hpp"

#include <algorithm>
#include <map>

#include "runtime/records/sort_globally.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/nodes.hpp"

namespace spdistal {

using runtime::Space;

namespace {

using PathTo = std::vector<int64_t>;

// An interval in storage order: all elements between two paths, both included.
struct Stretch {
  PathTo first, last;
  bool operator==(const Stretch&) const = default;
};

// The stretch of a share as far as coordinates and fused numbers tell; nothing where it is none.
std::optional<Stretch> stretch_of(const Share& share, const Format& format, const std::vector<int64_t>& dims) {
  size_t order = dims.size();
  Stretch out{PathTo(order), PathTo(order)};
  bool several = false;  // levels above have more than one coordinate
  for (size_t k = 0; k < order; k++) {
    size_t d = size_t(format.mode_order()[k]);
    const Space& set = share.coordinates[d];
    if (!set.is_rect()) return std::nullopt;
    Range side = set.bounding()[0];
    if (several && side != Range{0, dims[d]}) return std::nullopt;
    out.first[k] = side.lo, out.last[k] = side.hi - 1;
    several = several || side.size() > 1;
  }
  for (const FusedRange& fused : share.fused) {
    Stretch numbers{PathTo(order), PathTo(order)};
    for (size_t k = 0; k < order; k++) numbers.last[k] = dims[size_t(format.mode_order()[k])] - 1;
    if (fused.dims.size() > order) return std::nullopt;
    int64_t first = std::max<int64_t>(fused.range.lo, 0), last = fused.range.hi - 1;
    for (size_t k = fused.dims.size(); k-- > 0;) {
      if (fused.dims[k] != size_t(format.mode_order()[k])) return std::nullopt;
      int64_t dim = dims[fused.dims[k]];
      numbers.first[k] = first % dim, numbers.last[k] = last % dim;
      first /= dim, last /= dim;
    }
    out = {std::max(out.first, numbers.first), std::min(out.last, numbers.last)};
  }
  return out;
}

std::vector<int64_t> parts_of(const Share& share) {
  std::vector<int64_t> out;
  for (const PositionBlock& block : share.positions) out.push_back(block.part.number());
  return out;
}

// What pieces tell of themselves at a counted level.
struct Ends {
  int64_t nodes = 0;
  PathTo first, last;
};
using PieceEnds = std::vector<Ends>;  // by counted level

runtime::Bytes write_ends(const Tree& tree, Range colours, const std::vector<Storage>& pieces,
                          const std::vector<int64_t>& alike) {
  runtime::Writer out;
  // A piece that all others are copies of is compared with none: it may be on a GPU, and stays there.
  bool several = std::any_of(alike.begin(), alike.end(), [&](int64_t c) { return c != alike[0]; });
  auto path = [&](const Pattern& pattern, size_t level, int64_t node) {
    return several ? path_to(pattern, level, node) : PathTo(level + 1);
  };
  for (int64_t c = colours.lo; c < colours.hi; c++) {
    if (alike[size_t(c)] != c) continue;
    const Pattern& pattern = pieces[size_t(c - colours.lo)].pattern();
    out.put(c);
    for (const CountedLevel& counted : tree.counted()) {
      int64_t nodes = pattern.level(counted.end).positions;
      out.put(nodes);
      if (nodes == 0) continue;
      out.put_all(std::span<const int64_t>(path(pattern, counted.end, 0)));
      out.put_all(std::span<const int64_t>(path(pattern, counted.end, nodes - 1)));
    }
  }
  return out.take();
}

std::map<int64_t, PieceEnds> read_ends(const Tree& tree, const std::vector<runtime::Bytes>& messages) {
  std::map<int64_t, PieceEnds> out;
  for (const runtime::Bytes& message : messages)
    for (runtime::Reader in(message); !in.at_end();) {
      PieceEnds& ends = out[in.take<int64_t>()];
      for (const CountedLevel& counted : tree.counted()) {
        Ends& here = ends.emplace_back();
        here.nodes = in.take<int64_t>();
        if (here.nodes == 0) continue;
        here.first = in.take_all<int64_t>(counted.end + 1);
        here.last = in.take_all<int64_t>(counted.end + 1);
      }
    }
  return out;
}

// The colours of different shares in the order of their stretches. Pieces of position blocks are known by what they
// have; empty ones come last.
std::vector<int64_t> in_order(const Shares& shares, const Format& format, const std::vector<int64_t>& dims,
                              const std::map<int64_t, PieceEnds>& ends) {
  struct Key {
    PathTo path;
    std::vector<int64_t> parts;
    int64_t colour;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  for (const auto& [colour, piece] : ends) {
    const Share& share = shares.of[size_t(colour)];
    if (holds_nothing(share, dims)) {
      if (piece.back().nodes > 0) keys.push_back({piece.back().first, parts_of(share), colour});  // of others
      continue;
    }
    Stretch stretch = *stretch_of(share, format, dims);
    PathTo path = share.positions.empty() ? stretch.first : piece.back().nodes > 0 ? piece.back().first : stretch.last;
    keys.push_back({std::move(path), parts_of(share), colour});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int64_t> out;
  for (const Key& key : keys) out.push_back(key.colour);
  return out;
}

// How many positions of a counted level a node stands after one that does not come later.
int64_t steps(const CountedLevel& counted, const PathTo& before, const PathTo& here) {
  size_t depth = 0;
  while (depth < here.size() && before[depth] == here[depth]) depth++;
  return depth == here.size() ? 0 : counted.step(depth, before[counted.level], here[counted.level]);
}

// For each counted level: all nodes; and for each colour of `ends`, those before its first.
struct NodeCounts {
  std::vector<int64_t> all;
  std::map<int64_t, std::vector<int64_t>> before;
};
NodeCounts count_consecutive(const Tree& tree, const std::vector<int64_t>& order,
                             const std::map<int64_t, PieceEnds>& ends) {
  NodeCounts out;
  for (const auto& [colour, piece] : ends) out.before[colour].assign(tree.counted().size(), 0);
  for (size_t j = 0; j < tree.counted().size(); j++) {
    int64_t sum = 0;
    const Ends* previous = nullptr;
    for (int64_t colour : order) {
      const Ends& here = ends.at(colour)[j];
      if (here.nodes == 0) {
        out.before[colour][j] = sum;
        continue;
      }
      int64_t first = previous ? sum - 1 + steps(tree.counted()[j], previous->last, here.first) : sum;
      out.before[colour][j] = first;
      sum = first + here.nodes;
      previous = &here;
    }
    out.all.push_back(sum);
  }
  return out;
}

// All nodes of a counted level where pieces may share them in any way.
int64_t count_distinct(runtime::Transport& transport, const CountedLevel& counted, const std::vector<bool>& counts,
                       const std::vector<Storage>& pieces) {
  runtime::Records nodes(int(counted.end) + 1, ScalarType::Bool);
  for (size_t p = 0; p < pieces.size(); p++)
    if (counts[p])
      for_each_node(pieces[p].pattern(), counted.end,
                    [&](std::span<const int64_t> path, int64_t) { nodes.add(path, true); });
  std::vector<int> modes;
  for (size_t k = 0; k <= counted.end; k++) modes.push_back(int(k));
  nodes = runtime::sort_globally(transport, std::move(nodes), modes, runtime::Duplicates::Add);
  // The last node of the ranks before tells what lies between it and the first here.
  runtime::Writer last;
  if (!nodes.empty()) last.put_all(nodes.at(nodes.size() - 1));
  std::optional<PathTo> before;
  std::vector<runtime::Bytes> all = share(transport, last.take());
  for (int r = 0; r < transport.rank(); r++)
    if (!all[size_t(r)].empty()) before = runtime::Reader(all[size_t(r)]).take_all<int64_t>(counted.end + 1);
  int64_t sum = 0;
  for (int64_t n = 0; n < nodes.size(); n++) {
    PathTo here(nodes.at(n).begin(), nodes.at(n).end());
    sum += before ? steps(counted, *before, here) : 1;
    before = std::move(here);
  }
  return transport.allreduce(sum, runtime::ReduceOp::Sum);
}

std::vector<int64_t> count_others(runtime::Transport& transport, const Tree& tree, const Shares& shares,
                                  const Format& format, const std::vector<int64_t>& dims, Range colours,
                                  const std::vector<Storage>& pieces, const std::vector<int64_t>& alike) {
  std::vector<bool> counts;  // the pieces that are not copies of another
  for (int64_t c = colours.lo; c < colours.hi; c++) counts.push_back(alike[size_t(c)] == c);
  std::vector<int64_t> meet, sums;
  for (const CountedLevel& counted : tree.counted()) {
    bool any = false;
    int64_t sum = 0;
    ShareIndex index(shares, format, dims, counted.end + 1);
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      if (!counts[size_t(c - colours.lo)]) continue;
      sum += pieces[size_t(c - colours.lo)].pattern().level(counted.end).positions;
      if (any) continue;
      for (int64_t b : index.before(c))
        any |= alike[size_t(b)] == b && may_meet(shares.of[size_t(b)], shares.of[size_t(c)], format, counted.end + 1);
    }
    meet.push_back(any);
    sums.push_back(sum);
  }
  transport.allreduce(meet.data(), meet.size(), ScalarType::Int64, runtime::ReduceOp::Max);
  transport.allreduce(sums.data(), sums.size(), ScalarType::Int64, runtime::ReduceOp::Sum);
  for (size_t j = 0; j < sums.size(); j++)
    if (meet[j] || tree.counted()[j].fills) sums[j] = count_distinct(transport, tree.counted()[j], counts, pieces);
  return sums;
}

}  // namespace

bool are_consecutive(const Shares& shares, const Format& format, const std::vector<int64_t>& dims) {
  std::map<std::vector<int64_t>, std::vector<Stretch>> by_parts;
  for (const Share& share : shares.of) {
    if (holds_nothing(share, dims)) continue;
    auto stretch = stretch_of(share, format, dims);
    if (!stretch) return false;
    if (stretch->first <= stretch->last) by_parts[parts_of(share)].push_back(std::move(*stretch));
  }
  for (auto& [parts, stretches] : by_parts) {
    std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
    for (size_t k = 1; k < stretches.size(); k++)
      if (stretches[k] != stretches[k - 1] && stretches[k].first <= stretches[k - 1].last) return false;
  }
  return true;
}

Counts count_positions(runtime::Transport& transport, const Shares& simple, const Format& format,
                       const std::vector<int64_t>& dims, Range colours, const std::vector<Storage>& pieces) {
  Tree tree(format, dims);
  Counts out;
  out.ordered = are_consecutive(simple, format, dims);
  NodeCounts nodes;
  std::vector<int64_t> alike = first_alike(simple);
  if (!tree.counted().empty()) {
    if (out.ordered) {
      auto ends = read_ends(tree, share(transport, write_ends(tree, colours, pieces, alike)));
      nodes = count_consecutive(tree, in_order(simple, format, dims, ends), ends);
    } else {
      nodes.all = count_others(transport, tree, simple, format, dims, colours, pieces, alike);
    }
  }
  for (size_t k = 0; k < dims.size(); k++) {
    auto above = tree.counted_at(k);
    out.positions.push_back(tree.per_node(k) * (above ? nodes.all[*above] : 1));
  }
  if (!out.ordered) return out;
  for (int64_t c = colours.lo; c < colours.hi; c++) {
    const Pattern& pattern = pieces[size_t(c - colours.lo)].pattern();
    std::vector<int64_t>& base = out.bases.emplace_back();
    PathTo path;  // of the first position, as far as ranges tell
    for (size_t k = 0; k < dims.size(); k++) {
      path.push_back(pattern.level(k).range.lo);
      auto above = tree.counted_at(k);
      int64_t before = above ? nodes.before.at(alike[size_t(c)])[*above] : 0;
      base.push_back(before * tree.per_node(k) + tree.offset(k, path.data()));
    }
  }
  return out;
}

}  // namespace spdistal
