// Fetching pieces of sparse tensors: who holds a home piece tells what it gives, coordinates and numbers, to whom; a piece is
// packed of what comes, and from then on values alone travel. Slices come as they lie (fetch_slices.cpp).
#include <algorithm>
#include <map>

#include "base/require.hpp"
#include "execute/move/fetch_state.hpp"
#include "level/kernel.hpp"
#include "level/level.hpp"
#include "runtime/space/box_index.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using runtime::Instance;
using runtime::Instances;
using runtime::Layout;
using runtime::Mapping;
using runtime::Partition;
using runtime::Space;
using runtime::Transport;

namespace {

// Pieces of equal shares are copies of each other: a rank takes its own, else that of the lowest colour gives.
class Givers {
 public:
  Givers(const Shares& shares, const Mapping& ranks) : first_(first_alike(shares)) {
    for (size_t q = 0; q < first_.size(); q++) lowest_.try_emplace({first_[q], ranks.rank_of(int64_t(q))}, int64_t(q));
  }
  bool gives(int64_t q, int to) const {
    auto there = lowest_.find({first_[size_t(q)], to});
    return q == (there == lowest_.end() ? first_[size_t(q)] : there->second);
  }

 private:
  std::vector<int64_t> first_;                         // of the same share
  std::map<std::pair<int64_t, int>, int64_t> lowest_;  // of the same share on a rank
};

Range hull_of(std::span<const int64_t> column) {
  if (column.empty()) return {0, 0};
  auto [least, most] = std::minmax_element(column.begin(), column.end());
  return {*least, *most + 1};
}

bool covers(const Storage& piece, const Ranges& ranges) {
  for (size_t k = 0; k < piece.order(); k++) {
    const std::optional<Range>& r = ranges[size_t(piece.format().mode_order()[k])];
    if (!has_places(piece.format().levels()[k]) || !r || r->size() <= 0) continue;
    const Range& has = piece.pattern().level(k).range;
    if (r->lo < has.lo || r->hi > has.hi) return false;
  }
  return true;
}

void whole_piece(const Storage& piece, int64_t first, std::vector<int64_t>& numbers,
                 std::vector<std::vector<int64_t>>& columns) {
  Coordinates entries = unpack(piece);
  for (size_t d = 0; d < piece.order(); d++) columns.emplace_back(entries.column(d).begin(), entries.column(d).end());
  for (const Range& run : stored_runs(piece.pattern()))
    for (int64_t p = run.lo; p < run.hi; p++) numbers.push_back(first + p);
}

// The number of the first element of each home piece, and how many there are.
std::vector<int64_t> first_numbers(Transport& transport, const Home& home) {
  std::vector<int64_t> mine;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) mine.push_back(home.piece(q).nnz());
  runtime::Writer w;
  w.put_all(std::span<const int64_t>(mine));
  std::vector<int64_t> out{0};
  for (const runtime::Bytes& bytes : runtime::share(transport, w.take())) {
    runtime::Reader r(bytes);
    while (!r.at_end()) out.push_back(out.back() + r.take<int64_t>());
  }
  return out;
}

// Positions of a piece that are its own and not just between, nor held by a share that comes before.
Space held_positions(const Home& home, int64_t q) {
  if (home.owns_all(q)) return stored_positions(home.piece(q).pattern());
  std::vector<Range> runs;
  for_each_position(home.piece(q).pattern(), [&](std::span<const int64_t> at, int64_t position) {
    if (!home.holds(q, at, position)) return;
    if (!runs.empty() && runs.back().hi == position) runs.back().hi++;
    else runs.push_back({position, position + 1});
  });
  return Space::from_intervals(std::move(runs));
}

// What colours need, found by piece: coordinates along each dimension, and positions where the access is split.
class Wanted {
 public:
  Wanted(const std::vector<Need>& needs) : needs_(needs), index_(boxes_of(needs)) {}

  // The colours that may need something of a piece, whose first position of the split level is `base`.
  std::vector<int64_t> of(const Home& home, int64_t q, int64_t base,
                          const std::optional<plan::PositionSplit>& split) const {
    const Pattern& pattern = home.piece(q).pattern();
    std::vector<Range> box = hull(home.shares().of[size_t(q)], home.dims());
    // Shares of positions say nothing of coordinates: how far the outermost level goes does.
    const LevelArrays& outermost = pattern.level(0);
    Range& side = box[size_t(pattern.format().mode_order()[0])];
    side = runtime::common(side, outermost.range);
    auto coordinate = functions_of(pattern.format().levels()[0]).coordinate;
    if (outermost.positions > 0 && keeps_order(pattern.format().levels()[0]))
      side = runtime::common(side, {coordinate(outermost, 0), coordinate(outermost, outermost.positions - 1) + 1});
    if (split) box.push_back({base, base + pattern.level(split->level).positions});
    return index_.meeting(box);
  }
  std::vector<Need> needs_of(const std::vector<int64_t>& colours) const {
    std::vector<Need> out;
    for (int64_t c : colours) out.push_back(needs_[size_t(c)]);
    return out;
  }

 private:
  static std::vector<std::vector<Range>> boxes_of(const std::vector<Need>& needs) {
    std::vector<std::vector<Range>> out;
    for (const Need& need : needs) {
      std::vector<Range>& box = out.emplace_back();
      for (const Space& set : need.coordinates) box.push_back(set.empty() ? Range{} : set.bounding()[0]);
      if (need.positions) box.push_back(*need.positions);
    }
    return out;
  }

  const std::vector<Need>& needs_;
  runtime::BoxIndex index_;
};

// The smallest range around what a colour needs of each level. What elements hang from is needed with them.
std::vector<std::optional<Range>> around(const std::vector<std::optional<Partition>>& levels, int64_t colour) {
  std::vector<std::optional<Range>> out;
  for (const std::optional<Partition>& level : levels) {
    require(!level || !(*level)[colour].empty(), "what elements are needed of, levels above are too");
    out.push_back(level ? std::optional((*level)[colour].bounding()[0]) : std::nullopt);
  }
  return out;
}

// What the colours of this rank gather of what each other rank holds.
std::vector<runtime::Writer> gathered_sets(const Home& home, const std::vector<size_t>& gathered,
                                           const Mapping& home_ranks, int rank, const Range& colours,
                                           const std::vector<Need>& needs) {
  std::vector<runtime::Writer> to(size_t(home_ranks.ranks()));
  for (int other = 0; other < home_ranks.ranks(); other++) {
    if (other == rank) continue;
    Range there = home_ranks.colours_of(other);
    for (size_t d : gathered) {
      std::vector<Space> sets;
      for (int64_t q = there.lo; q < there.hi; q++) sets.push_back(home.shares().of[size_t(q)].coordinates[d]);
      Space holds = runtime::unite(1, sets);
      for (int64_t c = colours.lo; c < colours.hi; c++) {
        Space part = needs[size_t(c)].coordinates[d] & holds;
        if (part.empty()) continue;
        runtime::Writer& w = to[size_t(other)];
        w.put(c);
        w.put(d);
        w.put(part.rect_count());
        w.put_all(part.sides());
      }
    }
  }
  return to;
}

// Collective. Who holds pieces learns what the colours of other ranks gather.
void send_gathered_sets(Transport& transport, const Home& home, const FetchRequest& request, const Mapping& home_ranks,
                        const Range& colours, std::vector<Need>& needs) {
  std::vector<size_t> gathered;
  for (size_t d = 0; d < request.access.projections.size(); d++)
    if (std::holds_alternative<plan::Gather>(request.access.projections[d])) gathered.push_back(d);
  if (gathered.empty()) return;
  std::vector<runtime::Writer> to = runtime::together(
      transport, [&] { return gathered_sets(home, gathered, home_ranks, transport.rank(), colours, needs); });
  // Of other ranks' colours nothing is needed but what they say.
  for (int64_t c = 0; c < request.colours.count(); c++)
    if (!colours.contains(c))
      for (size_t d : gathered) needs[size_t(c)].coordinates[d] = Space(1);
  for (const runtime::Bytes& bytes : runtime::deal(transport, runtime::messages_of(std::move(to)))) {
    runtime::Reader r(bytes);
    while (!r.at_end()) {
      int64_t c = r.take<int64_t>();
      size_t d = r.take<size_t>(), count = r.take<size_t>();
      needs[size_t(c)].coordinates[d] = Space::from_canonical(1, r.take_all<Range>(count));
    }
  }
}

// Where the values of the numbers go: straight into the piece where they come in its order.
Space place_numbers(FetchedPiece& p, std::span<const int64_t> numbers, Instances& own) {
  bool in_order = true;
  for (size_t k = 0; k < numbers.size() && in_order; k++)
    in_order = numbers[k] > 0 && (k == 0 || numbers[k] > numbers[k - 1]);
  std::vector<int64_t> sorted;
  for (int64_t n : numbers)
    if (n > 0) sorted.push_back(n - 1);
  if (!in_order) std::sort(sorted.begin(), sorted.end());
  Space set = Space::from_sorted(std::span<const int64_t>(sorted));
  if (in_order) {
    own.add(instance_of(*p.own, Layout::compact(set)));
    return set;
  }
  p.staged.emplace(p.own->type(), Layout::compact(set));
  p.order.reserve(numbers.size());
  for (int64_t n : numbers)
    p.order.push_back(n == 0 ? -1 : std::lower_bound(sorted.begin(), sorted.end(), n - 1) - sorted.begin());
  own.add(*p.staged);
  return set;
}

// Elements of a home piece that a colour gets: their numbers, and their coordinates by dimension. Of a piece that stays
// whole neither is written out.
struct Given {
  int64_t home, count;
  int64_t base;  // where an access is split: the first position of that level, in the whole
  std::vector<int64_t> numbers;
  std::vector<std::vector<int64_t>> columns;
};

void write(runtime::Writer& w, int64_t colour, const Given& g) {
  w.put(colour);
  w.put(g.home);
  w.put(g.count);
  w.put(g.base);
  w.put_all(std::span<const int64_t>(g.numbers));
  for (const auto& column : g.columns) w.put_all(std::span<const int64_t>(column));
}

Given read(runtime::Reader& r, size_t order) {
  Given g{r.take<int64_t>(), 0, 0, {}, {}};
  g.count = r.take<int64_t>();
  g.base = r.take<int64_t>();
  g.numbers = r.take_all<int64_t>(size_t(g.count));
  for (size_t d = 0; d < order; d++) g.columns.push_back(r.take_all<int64_t>(size_t(g.count)));
  return g;
}

// Some elements of a home piece, written out; `first` is the number of its first one.
Given written_out(int64_t home, const Coordinates& entries, const Space& part, int64_t base, int64_t first) {
  Given g{home, part.size(), base, {}, std::vector<std::vector<int64_t>>(entries.order())};
  for (size_t d = 0; d < g.columns.size(); d++) {
    std::span<const int64_t> column = entries.column(d);
    g.columns[d].reserve(size_t(g.count));
    for (const Range& r : part.sides())
      g.columns[d].insert(g.columns[d].end(), column.begin() + r.lo, column.begin() + r.hi);
  }
  for (const Range& r : part.sides())
    for (int64_t p = r.lo; p < r.hi; p++) g.numbers.push_back(first + p);
  return g;
}

// The position of the split level that one of the last level is below.
int64_t ancestor(const Pattern& pattern, int64_t position, const plan::PositionSplit& split) {
  for (size_t k = pattern.order() - 1; k > split.level; k--)
    position = functions_of(pattern.format().levels()[k]).parent(pattern.level(k), position);
  return position;
}

// Where what a colour gets begins; nothing begins anywhere.
int64_t first_base(const std::vector<Given>& parts, int64_t wanted) {
  if (parts.empty()) return wanted;
  return std::min_element(parts.begin(), parts.end(), [](const Given& a, const Given& b) { return a.base < b.base; })
      ->base;
}

// All that a colour gets, as entries whose values are numbers from 1 on.
Coordinates numbered_entries(const Home& home, const std::vector<int64_t>& first, std::vector<Given>& parts) {
  Coordinates entries(home.dims(), ScalarType::Int64);
  for (Given& g : parts) {
    if (g.columns.empty()) whole_piece(home.piece(g.home), first[size_t(g.home)], g.numbers, g.columns);
    int64_t at = entries.size();
    entries.resize(at + g.count);
    for (size_t d = 0; d < home.order(); d++)
      std::copy(g.columns[d].begin(), g.columns[d].end(), entries.column(d).begin() + at);
    for (int64_t n = 0; n < g.count; n++) entries.values<int64_t>()[size_t(at + n)] = g.numbers[size_t(n)] + 1;
    g = {g.home, g.count, g.base, {}, {}};
  }
  return entries;
}

}  // namespace

// Local. What home pieces of this rank give to colours, by home and colour.
std::vector<Fetch::State::Gift> Fetch::State::gifts_of(const Home& home, const FetchRequest& request,
                                                       const std::vector<Need>& needs) const {
  Givers givers(home.shares(), home_ranks);
  Wanted wanted(needs);
  std::vector<Gift> out;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    const Storage& stored = home.piece(q);
    if (stored.nnz() == 0) continue;
    int64_t base = request.access.split ? home.base(q, request.access.split->level) : 0;
    std::vector<int64_t> takers = wanted.of(home, q, base, request.access.split);
    if (takers.empty()) continue;
    runtime::ColourGrid some({int64_t(takers.size())});
    Selected selected = select(request.access, stored, base, some, wanted.needs_of(takers));
    Space held = held_positions(home, q);
    for (size_t k = 0; k < takers.size(); k++) {
      if (!givers.gives(q, task_ranks.rank_of(takers[k]))) continue;
      Space part = selected.elements[int64_t(k)] & held;
      if (!part.empty()) out.push_back({q, takers[k], std::move(part), around(selected.levels, int64_t(k))});
    }
  }
  return out;
}

// Is all that is stored of a home piece of this rank what a colour gets, and has it places for all that it asks for?
bool Fetch::State::is_home_piece(const Home& home, const Ranges& ranges, int64_t q, int64_t positions) const {
  return home.colours().contains(q) && positions == stored_positions(home.piece(q).pattern()).size() &&
         covers(home.piece(q), ranges);
}

// Each step that can fail on one rank alone is agreed on before the ranks go on.
void Fetch::State::plan_sparse(const Home& home, const FetchRequest& request) {
  std::vector<int64_t> first = first_numbers(transport, home);
  std::vector<Need> needs = request.needs;
  send_gathered_sets(transport, home, request, home_ranks, colours, needs);
  std::vector<Gift> gifts = runtime::together(transport, [&] { return gifts_of(home, request, needs); });
  if (!plan_slices(home, request, gifts, first)) plan_entries(home, request, gifts, first);
}

void Fetch::State::plan_entries(const Home& home, const FetchRequest& request, const std::vector<Gift>& gifts,
                                const std::vector<int64_t>& first) {
  std::vector<runtime::Writer> to(size_t(transport.size()));
  std::vector<std::vector<Given>> given(pieces.size());
  runtime::together(transport, [&] {
    std::optional<std::pair<int64_t, Coordinates>> listed;  // the home piece at hand
    for (const auto& [q, c, part, levels] : gifts) {
      const Storage& stored = home.piece(q);
      int rank = task_ranks.rank_of(c);
      bool here = rank == transport.rank();
      bool whole = here && part.size() == stored_positions(stored.pattern()).size() && !request.copy;
      if (!whole && (!listed || listed->first != q)) listed.emplace(q, unpack_positions(stored));
      const std::optional<plan::PositionSplit>& split = request.access.split;
      int64_t at = split ? home.base(q, split->level) + ancestor(stored.pattern(), part.sides()[0].lo, *split) : 0;
      Given g = whole ? Given{q, part.size(), at, {}, {}} : written_out(q, listed->second, part, at, first[size_t(q)]);
      if (here) given[size_t(c - colours.lo)].push_back(std::move(g));
      else write(to[size_t(rank)], c, g);
    }
  });
  std::vector<runtime::Bytes> come = runtime::deal(transport, runtime::messages_of(std::move(to)));

  std::vector<Space> needed;
  Instances own(colours);
  runtime::together(transport, [&] {
    for (const runtime::Bytes& bytes : come) {
      runtime::Reader r(bytes);
      while (!r.at_end()) {
        int64_t c = r.take<int64_t>();
        given[size_t(c - colours.lo)].push_back(read(r, home.order()));
      }
    }
    come.clear();
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      FetchedPiece& p = piece(c);
      std::vector<Given>& parts = given[size_t(c - colours.lo)];
      const Ranges& ranges = request.ranges[size_t(c - colours.lo)];
      if (request.access.split) p.base = first_base(parts, request.needs[size_t(c)].positions->lo);
      if (!request.copy && parts.size() == 1 && parts[0].columns.empty() && covers(home.piece(parts[0].home), ranges)) {
        p.home = parts[0].home;
        needed.push_back(Space(1));
        own.add(Instance(home.type(), Layout::compact(Space(1))));
        continue;
      }
      Coordinates entries = numbered_entries(home, first, parts);
      std::vector<Range> bounds;
      for (size_t d = 0; d < home.order(); d++) bounds.push_back(ranges[d] ? *ranges[d] : hull_of(entries.column(d)));
      Storage numbered = pack(std::move(entries), home.format(), bounds);
      p.own.emplace(numbered.shared_pattern(), home.type());
      needed.push_back(place_numbers(p, numbered.values<int64_t>(), own));
    }
  });
  connect_numbers(home, request, first, std::move(needed), std::move(own));
}

// Elements are numbered home piece by home piece.
void Fetch::State::connect_numbers(const Home& home, const FetchRequest& request, const std::vector<int64_t>& first,
                                   std::vector<Space> needed, Instances own) {
  Space universe = Space::interval(0, first.back());
  std::vector<Space> held;
  Instances from(home.colours());
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    held.push_back(Space::interval(first[size_t(q)], first[size_t(q) + 1]));
    from.add(instance_of(home.piece(q), Layout::box(held.back())));
  }
  connect(home, Partition(home.shares().grid, universe, home.colours(), std::move(held)),
          Partition(request.colours, universe, colours, std::move(needed)), std::move(from), std::move(own));
}

}  // namespace spdistal
