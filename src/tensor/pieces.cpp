// Entries go to the colours of their cell. Where dense levels end a format and not every colour takes all of them, a
// node has elements (zeros) at colours that get no entry of it: those get the node itself.
#include "tensor/pieces.hpp"

#include <algorithm>
#include <map>

#include "memory/copy.hpp"
#include "memory/pool.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/making.hpp"
#include "tensor/sort.hpp"

namespace spdistal {

using runtime::Records;

namespace {

// The outermost level in which two entries differ.
size_t depth_of(std::span<const int64_t> a, std::span<const int64_t> b, const std::vector<int>& modes) {
  size_t k = 0;
  while (k < modes.size() && a[size_t(modes[k])] == b[size_t(modes[k])]) k++;
  return k;
}

// Goes through entries in storage order and knows the number of each one's node at every counted level.
class Walk {
 public:
  Walk(std::vector<int64_t> before, std::optional<Path> forerunner, const Format& format, const Tree& tree)
      : modes_(format.mode_order()), tree_(tree), numbers_(std::move(before)), last_(std::move(forerunner)) {
    for (int64_t& number : numbers_) number--;
  }

  // On to the next entry. Whether it begins a node above the tail.
  bool step(std::span<const int64_t> at) {
    size_t depth = last_ ? depth_of(at, *last_, modes_) : 0;
    for (size_t j = 0; j < numbers_.size(); j++) {
      const CountedLevel& counted = tree_.counted()[j];
      auto dimension = size_t(modes_[counted.level]);
      numbers_[j] += last_ ? counted.step(depth, (*last_)[dimension], at[dimension]) : 1;
    }
    last_.emplace(at.begin(), at.end());
    return depth < tree_.tail();
  }
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  const std::vector<int>& modes_;
  const Tree& tree_;
  std::vector<int64_t> numbers_;
  std::optional<Path> last_;
};

// How many nodes the entries add to those of their forerunners.
std::vector<int64_t> count_nodes(const Entries& entries, const Format& format, const Tree& tree) {
  Walk walk(std::vector<int64_t>(tree.counted().size()), entries.forerunner, format, tree);
  for (int64_t e = 0; e < entries.records.size(); e++) walk.step(entries.records.at(e));
  std::vector<int64_t> counts = walk.numbers();
  for (int64_t& count : counts) count++;
  return counts;
}

void find_parts(const Making& making, std::span<const int64_t> numbers, const Path& path, std::vector<int64_t>& parts) {
  parts.clear();
  for (const Holders::Split& split : making.holders.splits()) {
    int64_t position = numbers[*making.tree.counted_at(split.level)] * making.tree.per_node(split.level) +
                       making.tree.offset(split.level, path.data());
    parts.push_back(making.part_with(split, path[0], position));
  }
}

// The parts that the elements below a node lie in; the path ends with the node.
std::vector<Range> parts_below(const Making& making, const Path& path, std::span<const int64_t> numbers) {
  std::vector<Range> parts;
  for (const Holders::Split& split : making.holders.splits()) {
    int64_t per = making.tree.per_node(split.level), number = numbers[*making.tree.counted_at(split.level)];
    bool below = split.level >= making.tree.tail();
    Path first_path = path;
    first_path.resize(std::max(path.size(), split.level + 1));
    int64_t first = number * per + making.tree.offset(split.level, first_path.data());
    int64_t last = below ? first + making.tree.per_tail_node(split.level) - 1 : first;
    parts.push_back({making.part_with(split, path[0], first), making.part_with(split, path[0], last) + 1});
  }
  return parts;
}

// Whether some colour may hold elements of a node without getting an entry of it.
bool needs_nodes(const Making& making) {
  size_t tail = making.tree.tail();
  if (tail == 0 || tail == making.tree.order()) return false;
  auto in_tail = [&](size_t d) { return making.format.level_of(d) >= tail; };
  for (const Share& share : making.simple.of) {
    for (size_t d = 0; d < making.dims.size(); d++)
      if (in_tail(d) && share.coordinates[d] != runtime::Space::interval(0, making.dims[d])) return true;
    for (const FusedRange& fused : share.fused)
      if (std::any_of(fused.dims.begin(), fused.dims.end(), in_tail)) return true;
    for (const PositionBlock& split : share.positions)
      if (split.level >= tail) return true;
  }
  return false;
}

// The nodes above the tail: their paths, and after these, where there are any, their numbers at all
// counted levels.
Records list_nodes(const Making& making, const Entries& entries) {
  size_t length = making.tree.tail();
  bool numbered = !making.total.empty();
  Records nodes(int(length + making.total.size()), ScalarType::Bool);
  Walk walk(entries.before, entries.forerunner, making.format, making.tree);
  Path record;
  for (int64_t e = 0; e < entries.records.size(); e++) {
    std::span<const int64_t> at = entries.records.at(e);
    if (numbered && !walk.step(at)) continue;
    record.clear();
    for (size_t k = 0; k < length; k++) record.push_back(at[size_t(making.format.mode_order()[k])]);
    if (numbered) record.insert(record.end(), walk.numbers().begin(), walk.numbers().end());
    nodes.add(record, true);
  }
  return nodes;
}

}  // namespace

Entries number_entries(Records sorted, const Format& format, const Tree& tree) {
  Entries out{std::move(sorted), std::vector<int64_t>(tree.counted().size()), {}, {}};
  out.total = count_nodes(out, format, tree);
  return out;
}

Entries number_entries(runtime::Transport& transport, Records sorted, const Format& format, const Tree& tree) {
  Entries out{std::move(sorted), {}, {}, {}};
  runtime::Writer last;
  if (!out.records.empty()) last.put_all(out.records.at(out.records.size() - 1));
  std::vector<runtime::Bytes> all = share(transport, last.take());
  for (int r = transport.rank() - 1; r >= 0 && !out.forerunner; r--)
    if (!all[size_t(r)].empty()) out.forerunner = runtime::Reader(all[size_t(r)]).take_all<int64_t>(format.order());
  out.before = count_nodes(out, format, tree);
  out.total = out.before;
  transport.exclusive_scan(out.before);
  transport.allreduce(out.total.data(), out.total.size(), ScalarType::Int64, runtime::ReduceOp::Sum);
  return out;
}

bool needs_order(const Shares& simple) {
  return std::any_of(simple.of.begin(), simple.of.end(), [](const Share& share) { return !share.positions.empty(); });
}

namespace {

// For each colour the first of its rank with the same share: colours that are alike are brought one piece.
std::vector<int64_t> first_of_rank(const Shares& simple, const runtime::Mapping& mapping) {
  std::vector<int64_t> out;
  std::map<std::pair<int, uint64_t>, std::vector<int64_t>> seen;
  for (int64_t c = 0; c < mapping.colours(); c++) {
    const Share& share = simple.of[size_t(c)];
    std::vector<int64_t>& others = seen[{mapping.rank_of(c), hash(share)}];
    auto same =
        std::find_if(others.begin(), others.end(), [&](int64_t other) { return simple.of[size_t(other)] == share; });
    out.push_back(same == others.end() ? c : *same);
    if (same == others.end()) others.push_back(c);
  }
  return out;
}

// Pieces of position blocks are as large as what is there, which is checked as they are made.
void check_memory(const Making& making, Range colours, ScalarType type) {
  std::vector<std::vector<Range>> ranges;
  for (int64_t c = colours.lo; c < colours.hi; c++)
    if (const Share& share = making.simple.of[size_t(c)]; share.positions.empty())
      ranges.push_back(hull(share, making.dims));
  spdistal::check_memory(making.format, ranges, type);
}

// Collective. The nodes of each counted level before the first entry of a row, or of one after it.
std::map<int64_t, std::vector<int64_t>> nodes_before_rows(runtime::Transport& transport, const Making& making,
                                                          const Entries& entries) {
  std::map<int64_t, std::vector<int64_t>> out;
  for (const Holders::Split& split : making.holders.splits())
    for (const Range& rows : split.rows) out[rows.lo] = out[rows.hi] = making.total;
  if (out.empty()) return out;
  Walk walk(entries.before, entries.forerunner, making.format, making.tree);
  size_t first = size_t(making.format.mode_order()[0]);
  auto next = out.begin();
  for (int64_t e = 0; e < entries.records.size() && next != out.end(); e++) {
    walk.step(entries.records.at(e));
    for (; next != out.end() && next->first <= entries.records.at(e)[first]; ++next) next->second = walk.numbers();
  }
  for (auto& [row, nodes] : out)
    transport.allreduce(nodes.data(), nodes.size(), ScalarType::Int64, runtime::ReduceOp::Min);
  return out;
}

std::vector<Records> bring_nodes(runtime::Transport& transport, Making& making, const Entries& entries,
                                 const Bring& bring) {
  Records mine = runtime::together(transport, [&] {
    Records out = list_nodes(making, entries);
    sort_nodes(out);
    return out;
  });
  size_t tail = making.tree.tail();
  return bring(std::move(mine), [&](std::span<const int64_t> node, int64_t, std::vector<int64_t>& to) {
    Path path(node.begin(), node.begin() + std::ptrdiff_t(tail)), at(making.dims.size());
    for (size_t k = 0; k < tail; k++) at[size_t(making.format.mode_order()[k])] = path[k];
    std::vector<Range> parts = parts_below(making, path, node.subspan(tail));
    std::span<const int64_t> found = making.holders.of_any(at, tail, parts);
    to.insert(to.end(), found.begin(), found.end());
  });
}

std::vector<Records> bring_entries(Making& making, Entries entries, const Bring& bring) {
  Walk walk(entries.before, entries.forerunner, making.format, making.tree);
  Path path;
  std::vector<int64_t> parts;
  bool numbered = !making.total.empty();
  return bring(std::move(entries.records), [&](std::span<const int64_t> at, int64_t, std::vector<int64_t>& to) {
    if (numbered) {
      walk.step(at);
      making.find_path(at, path);
      find_parts(making, walk.numbers(), path, parts);
    }
    std::span<const int64_t> found = making.holders.of(at, parts);
    require(!found.empty(), "together the shares of all colours hold every element");
    to.insert(to.end(), found.begin(), found.end());
  });
}

}  // namespace

Home make_home(runtime::Transport& transport, Entries entries, const std::vector<int64_t>& dims, const Format& format,
               Shares shares, const Bring& bring) {
  ScalarType type = entries.records.type();
  runtime::ReduceOp merging = entries.merging;
  Tree tree(format, dims);
  Shares simple = simplified(shares, format, dims);
  runtime::Mapping mapping(shares.grid.count(), transport.size());
  Range colours = mapping.colours_of(transport.rank());
  std::vector<int64_t> like = first_of_rank(simple, mapping);
  std::vector<bool> listed;
  for (int64_t c = 0; c < mapping.colours(); c++) listed.push_back(like[size_t(c)] == c);

  Making making{dims, format, tree, simple, Holders(simple, format, dims, listed)};
  if (!making.holders.splits().empty()) making.total = entries.total;
  making.before = nodes_before_rows(transport, making, entries);
  making.with_nodes = needs_nodes(making);
  std::vector<Records> nodes(size_t(colours.size()), Records(0, ScalarType::Bool));
  if (making.with_nodes) nodes = bring_nodes(transport, making, entries, bring);
  std::vector<Records> arrived = bring_entries(making, std::move(entries), bring);

  std::vector<Storage> pieces;
  std::vector<NodeEnds> ends;
  runtime::together(transport, [&] {
    check_memory(making, colours, type);
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      size_t i = size_t(c - colours.lo);
      if (like[size_t(c)] != c) {
        size_t first = size_t(like[size_t(c)] - colours.lo);
        pieces.push_back(pieces[first].clone());
        ends.push_back(ends[first]);
        continue;
      }
      Coordinates here = to_coordinates(std::move(arrived[i]), dims);
      here.merge_by(merging);
      // Here rather than as they are packed, so that what sorting takes is given back before.
      here = sort_and_merge(std::move(here), format.mode_order());
      memory::give_back_idle(size_t(here.size()) * here.order() * sizeof(int64_t));
      MadePiece piece = make_piece(making, simple.of[size_t(c)], std::move(here), std::move(nodes[i]));
      pieces.push_back(std::move(piece.storage));
      ends.push_back(piece.ends);
    }
  });
  return Home(transport, format, dims, type, std::move(shares), std::move(pieces), std::move(ends));
}

Records to_records(Coordinates entries) {
  Records out(int(entries.order()), entries.type());
  out.reserve(entries.size());
  std::vector<int64_t> at(entries.order());
  size_t bytes = size_of(entries.type());
  for (int64_t e = 0; e < entries.size(); e++) {
    for (size_t d = 0; d < at.size(); d++) at[d] = entries.column(d)[size_t(e)];
    out.add_bytes(at, entries.value_bytes() + size_t(e) * bytes);
  }
  entries = Coordinates(entries.dims(), entries.type());
  memory::give_back_idle(out.values().size() + out.coordinates().size_bytes());
  return out;
}

Coordinates to_coordinates(Records records, const std::vector<int64_t>& dims) {
  Coordinates out(dims, records.type());
  out.resize(records.size());
  for (size_t d = 0; d < dims.size(); d++) {
    std::span<int64_t> column = out.column(d);
    for (size_t e = 0; e < column.size(); e++) column[e] = records.at(int64_t(e))[d];
  }
  if (!records.empty()) memory::copy_bytes(out.value_bytes(), records.values().data(), records.values().size());
  size_t taken = records.values().size() + records.coordinates().size_bytes();
  records = Records(0, records.type());
  memory::give_back_idle(taken);
  return out;
}

}  // namespace spdistal
