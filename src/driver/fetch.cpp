#include "driver/fetch.hpp"

#include <algorithm>
#include <map>

#include "base/require.hpp"
#include "runtime/partition/match.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using runtime::Instance;
using runtime::Instances;
using runtime::Layout;
using runtime::Mapping;
using runtime::Partition;
using runtime::Rect;
using runtime::Space;
using runtime::Transport;

Space product_of(const Format& format, const std::vector<Space>& sets) {
  std::vector<Range> sides;
  std::vector<Range> rect(sets.size());
  size_t order = sets.size();
  for (const Space& set : sets)
    if (set.empty()) return Space(int(order));
  std::function<void(size_t)> walk = [&](size_t level) {
    if (level == order) {
      sides.insert(sides.end(), rect.begin(), rect.end());
      return;
    }
    for (const Range& side : sets[size_t(format.mode_order()[level])].sides()) {
      rect[level] = side;
      walk(level + 1);
    }
  };
  if (order == 0) return Space(Rect());
  walk(0);
  return Space::from_rects(int(order), sides);
}

void fill_up(std::vector<Space>& sets, int64_t most) {
  while (true) {
    double rects = 1;
    Space* shortest = nullptr;
    size_t lists = 0;
    for (Space& set : sets) {
      if (set.rect_count() < 2) continue;
      lists++;
      rects *= double(set.rect_count());
      if (!shortest || set.rect_count() < shortest->rect_count()) shortest = &set;
    }
    if (lists < 2 || rects <= double(most)) return;
    *shortest = Space(shortest->bounding());
  }
}

Space universe_of(const Format& format, const std::vector<int64_t>& dims) {
  std::vector<Range> sides;
  for (int dim : format.mode_order()) sides.push_back({0, dims[size_t(dim)]});
  return Space(Rect(sides));
}

namespace {

Rect box_of(const Storage& piece) {
  std::vector<Range> sides;
  for (const LevelArrays& level : piece.pattern().levels()) sides.push_back(level.range);
  return Rect(sides);
}

// { x in the box : the row-major number of the fused dimensions is in the range }.
Space fused_part(const Format& format, const std::vector<int64_t>& dims, const FusedRange& fused, const Space& within) {
  std::vector<Range> all;
  // A range of numbers is at most two rectangles for each fused dimension: walked digit by digit.
  std::function<void(size_t, Range, std::vector<Range>)> walk = [&](size_t k, Range range, std::vector<Range> sides) {
    if (range.size() <= 0) return;
    if (k == fused.dims.size()) {
      all.insert(all.end(), sides.begin(), sides.end());
      return;
    }
    int64_t below = 1;
    for (size_t n = k + 1; n < fused.dims.size(); n++) below *= dims[fused.dims[n]];
    if (below == 0) return;
    size_t level = format.level_of(fused.dims[k]);
    int64_t first = range.lo / below, last = (range.hi - 1) / below;
    auto part = [&](Range digits, Range rest) {
      if (digits.size() <= 0) return;
      std::vector<Range> next = sides;
      next[level] = digits;
      walk(k + 1, rest, next);
    };
    if (first == last) return part({first, first + 1}, {range.lo - first * below, range.hi - first * below});
    int64_t whole_lo = range.lo % below == 0 ? first : first + 1, whole_hi = range.hi % below == 0 ? last + 1 : last;
    if (whole_lo > first) part({first, first + 1}, {range.lo % below, below});
    part({whole_lo, whole_hi}, {0, below});
    if (whole_hi <= last) part({last, last + 1}, {0, range.hi - last * below});
  };
  std::vector<Range> sides;
  for (int dim : format.mode_order()) sides.push_back({0, dims[size_t(dim)]});
  walk(0, fused.range, sides);
  return Space::from_rects(int(dims.size()), all) & within;
}

}  // namespace

Partition held_by(const Home& home, const Space& universe) {
  std::vector<Space> pieces;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    const Share& share = home.shares().of[size_t(c)];
    Space held = home.order() == 0 ? universe : product_of(home.format(), share.coordinates);
    for (const FusedRange& fused : share.fused) held = fused_part(home.format(), home.dims(), fused, held);
    for (const PositionBlock& positions : share.positions) {
      // Positions of dense levels are row-major numbers of their coordinates.
      FusedRange fused{{}, {}};
      int64_t count = 1;
      for (size_t level = 0; level <= positions.level; level++) {
        fused.dims.push_back(size_t(home.format().mode_order()[level]));
        count *= home.dims()[fused.dims.back()];
      }
      fused.range = block(count, positions.of, positions.part);
      held = fused_part(home.format(), home.dims(), fused, held);
    }
    pieces.push_back(std::move(held));
  }
  return Partition(home.shares().grid, universe, home.colours(), std::move(pieces));
}

namespace {
std::shared_ptr<runtime::Buffer> memory_of(const Storage& storage) {
  std::span<std::byte> bytes{const_cast<std::byte*>(storage.value_bytes()),
                             size_t(storage.nnz()) * size_of(storage.type())};
  return std::make_shared<runtime::Buffer>(runtime::Buffer::borrow(bytes));
}
}  // namespace

Instance instance_of(const Storage& storage, Layout layout) {
  return Instance(storage.type(), std::make_shared<const Layout>(std::move(layout)), memory_of(storage));
}

Instances moved_to(const Instances& instances, const Home& home) {
  Instances out(instances.colours());
  for (int64_t c = out.colours().lo; c < out.colours().hi; c++)
    out.add(Instance(home.type(), instances[c].shared_layout(), memory_of(home.piece(c))));
  return out;
}

Instances home_instances(const Home& home) {
  Instances out(home.colours());
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
    out.add(instance_of(home.piece(c), Layout::box(Space(box_of(home.piece(c))))));
  return out;
}

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

}  // namespace

struct Fetch::State {
  Transport& transport;
  std::string name;
  runtime::Traffic* traffic;
  Mapping home_ranks, task_ranks;
  Range colours;  // of this rank

  struct Piece {
    std::optional<int64_t> home;  // the home colour whose piece it is
    std::optional<Storage> own;
    const Storage* storage = nullptr;
    int64_t base = 0;
    // Of values that do not come in storage order: the place in `staged` of each position, -1 where there is none.
    std::vector<int64_t> order;
    std::optional<Instance> staged;
  };
  std::vector<Piece> pieces;
  std::optional<runtime::Exchange> exchange;
  std::optional<Instances> sources, users;
  std::vector<const std::byte*> bound;  // the memory that the exchange reads
  uint64_t brought = 0;
  bool under_way = false;

  State(Transport& t, const Home& home, const FetchRequest& request)
      : transport(t),
        name(request.access.text),
        traffic(request.traffic),
        home_ranks(home.shares().grid.count(), t.size()),
        task_ranks(request.colours.count(), t.size()),
        colours(task_ranks.colours_of(t.rank())),
        pieces(size_t(colours.size())) {
    if (home.format().is_dense()) plan_dense(home, request);
    else plan_sparse(home, request);
    find_pieces(home);
  }

  Piece& piece(int64_t colour) { return pieces[size_t(colour - colours.lo)]; }

  // ---- dense tensors: rectangles of coordinates ----

  void plan_dense(const Home& home, const FetchRequest& request) {
    Space universe = universe_of(home.format(), home.dims());
    Partition held = held_by(home, universe);
    std::vector<Space> missing;
    Instances own(colours);
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      Piece& p = piece(c);
      std::vector<Space> sets = request.needs[size_t(c)].coordinates;
      std::vector<Range> ranges;
      for (size_t d = 0; d < sets.size(); d++) {
        Range hull = sets[d].empty() ? Range{0, 0} : sets[d].bounding()[0];
        ranges.push_back(request.ranges[size_t(c - colours.lo)][d].value_or(hull));
      }
      fill_up(sets, int64_t(4) << 20);
      Space needed = product_of(home.format(), sets);
      std::vector<Range> sides;
      for (int dim : home.format().mode_order()) sides.push_back(ranges[size_t(dim)]);
      Space box{Rect(sides)};
      auto covers_all = [&](const Storage& stored) {
        for (size_t k = 0; k < sides.size(); k++) {
          const Range& has = stored.pattern().level(k).range;
          if (sides[k].lo < has.lo || sides[k].hi > has.hi) return false;
        }
        return true;
      };
      if (!request.copy)
        for (int64_t q = home.colours().lo; q < home.colours().hi && !p.home; q++)
          if (covers_all(home.piece(q)) && runtime::contains(held[q], needed)) p.home = q;
      if (p.home) {
        missing.push_back(Space(int(home.order())));
        own.add(Instance(home.type(), Layout::compact(Space(int(home.order())))));
        continue;
      }
      p.own.emplace(dense_pattern(home.format(), home.dims(), ranges, home.type(), "a dense piece"), home.type());
      missing.push_back(needed & box);
      own.add(instance_of(*p.own, Layout::box(box)));
    }
    Partition needed(request.colours, universe, colours, std::move(missing));
    connect(home, held, needed, home_instances(home), std::move(own));
  }

  // ---- sparse tensors: numbers of stored elements, counted home piece by home piece ----

  void plan_sparse(const Home& home, const FetchRequest& request) {
    std::vector<int64_t> first = first_numbers(home);
    std::vector<Need> needs = request.needs;
    send_gathered_sets(home, request, needs);

    // What each home piece gives to each colour: coordinates and numbers.
    size_t order = home.order();
    Givers givers(home.shares(), home_ranks);
    std::vector<runtime::Writer> to(size_t(transport.size()));
    struct Given {
      int64_t home, count;
      std::vector<int64_t> numbers;
      std::vector<std::vector<int64_t>> columns;
    };
    std::vector<std::vector<Given>> given(pieces.size());
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
      const Storage& stored = home.piece(q);
      if (stored.nnz() == 0) continue;
      int64_t base = request.access.split ? home.base(q, request.access.split->level) : 0;
      Partition selected = select(request.access, stored, base, request.colours, needs);
      Space held = held_positions(home, q);
      std::optional<Coordinates> entries;
      for (int64_t c = 0; c < request.colours.count(); c++) {
        int rank = task_ranks.rank_of(c);
        if (!givers.gives(q, rank)) continue;
        Space part = selected[c] & held;
        if (part.empty()) continue;
        bool here = rank == transport.rank();
        bool whole = here && part.size() == stored.nnz();
        Given g{q, part.size(), {}, {}};
        if (!whole || request.copy) {
          if (!entries) entries = unpack(stored);
          g.columns.resize(order);
        }
        for (size_t d = 0; d < g.columns.size(); d++) {
          std::span<const int64_t> column = entries->column(d);
          g.columns[d].reserve(size_t(g.count));
          for (const Range& r : part.sides())
            g.columns[d].insert(g.columns[d].end(), column.begin() + r.lo, column.begin() + r.hi);
        }
        if (!g.columns.empty())
          for (const Range& r : part.sides())
            for (int64_t p = r.lo; p < r.hi; p++) g.numbers.push_back(first[size_t(q)] + p);
        if (here) {
          given[size_t(c - colours.lo)].push_back(std::move(g));
        } else {
          runtime::Writer& w = to[size_t(rank)];
          w.put(c);
          w.put(q);
          w.put(g.count);
          w.put_all(std::span<const int64_t>(g.numbers));
          for (const auto& column : g.columns) w.put_all(std::span<const int64_t>(column));
        }
      }
    }
    for (const runtime::Bytes& bytes : runtime::deal(transport, runtime::messages_of(std::move(to)))) {
      runtime::Reader r(bytes);
      while (!r.at_end()) {
        int64_t c = r.take<int64_t>();
        Given g{r.take<int64_t>(), 0, {}, {}};
        g.count = r.take<int64_t>();
        g.numbers = r.take_all<int64_t>(size_t(g.count));
        for (size_t d = 0; d < order; d++) g.columns.push_back(r.take_all<int64_t>(size_t(g.count)));
        given[size_t(c - colours.lo)].push_back(std::move(g));
      }
    }

    std::vector<Space> needed;
    Instances own(colours);
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      Piece& p = piece(c);
      std::vector<Given>& parts = given[size_t(c - colours.lo)];
      const Ranges& ranges = request.ranges[size_t(c - colours.lo)];
      if (request.access.split) p.base = request.needs[size_t(c)].positions->lo;
      if (!request.copy && parts.size() == 1 && parts[0].columns.empty() && covers(home.piece(parts[0].home), ranges)) {
        p.home = parts[0].home;
        needed.push_back(Space(1));
        own.add(Instance(home.type(), Layout::compact(Space(1))));
        continue;
      }
      Coordinates entries(home.dims(), ScalarType::Int64);
      for (Given& g : parts) {
        if (g.columns.empty()) whole_piece(home.piece(g.home), first[size_t(g.home)], g.numbers, g.columns);
        int64_t at = entries.size();
        entries.resize(at + g.count);
        for (size_t d = 0; d < order; d++)
          std::copy(g.columns[d].begin(), g.columns[d].end(), entries.column(d).begin() + at);
        for (int64_t n = 0; n < g.count; n++) entries.values<int64_t>()[size_t(at + n)] = g.numbers[size_t(n)] + 1;
        g = {g.home, g.count, {}, {}};
      }
      std::vector<Range> bounds;
      for (size_t d = 0; d < order; d++) bounds.push_back(ranges[d] ? *ranges[d] : hull_of(entries.column(d)));
      Storage numbered = pack(std::move(entries), home.format(), bounds);
      p.own.emplace(numbered.shared_pattern(), home.type());
      needed.push_back(place_numbers(p, numbered.values<int64_t>(), own));
    }
    int64_t total = first.back();
    Space universe = Space::interval(0, total);
    std::vector<Space> held;
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++)
      held.push_back(Space::interval(first[size_t(q)], first[size_t(q) + 1]));
    Instances from(home.colours());
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++)
      from.add(instance_of(home.piece(q), Layout::box(Space::interval(first[size_t(q)], first[size_t(q) + 1]))));
    connect(home, Partition(home.shares().grid, universe, home.colours(), std::move(held)),
            Partition(request.colours, universe, colours, std::move(needed)), std::move(from), std::move(own));
  }

  static Range hull_of(std::span<const int64_t> column) {
    if (column.empty()) return {0, 0};
    auto [least, most] = std::minmax_element(column.begin(), column.end());
    return {*least, *most + 1};
  }

  static bool covers(const Storage& piece, const Ranges& ranges) {
    for (size_t k = 0; k < piece.order(); k++) {
      const std::optional<Range>& r = ranges[size_t(piece.format().mode_order()[k])];
      if (!piece.format().levels()[k].properties().full || !r || r->size() <= 0) continue;
      const Range& has = piece.pattern().level(k).range;
      if (r->lo < has.lo || r->hi > has.hi) return false;
    }
    return true;
  }

  static void whole_piece(const Storage& piece, int64_t first, std::vector<int64_t>& numbers,
                          std::vector<std::vector<int64_t>>& columns) {
    Coordinates entries = unpack(piece);
    for (size_t d = 0; d < piece.order(); d++) columns.emplace_back(entries.column(d).begin(), entries.column(d).end());
    for (int64_t p = 0; p < piece.nnz(); p++) numbers.push_back(first + p);
  }

  // The number of the first element of each home piece, and how many there are.
  std::vector<int64_t> first_numbers(const Home& home) {
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
  Space held_positions(const Home& home, int64_t q) const {
    if (home.owns_all(q)) return Space::interval(0, home.piece(q).nnz());
    std::vector<Range> runs;
    for_each_position(home.piece(q).pattern(), [&](std::span<const int64_t> at, int64_t position) {
      if (!home.holds(q, at, position)) return;
      if (!runs.empty() && runs.back().hi == position) runs.back().hi++;
      else runs.push_back({position, position + 1});
    });
    return Space::from_intervals(std::move(runs));
  }

  // Who holds pieces learns what the colours of other ranks gather.
  void send_gathered_sets(const Home& home, const FetchRequest& request, std::vector<Need>& needs) {
    std::vector<size_t> gathered;
    for (size_t d = 0; d < request.access.projections.size(); d++)
      if (std::holds_alternative<plan::Gather>(request.access.projections[d])) gathered.push_back(d);
    if (gathered.empty()) return;
    std::vector<runtime::Writer> to(size_t(transport.size()));
    for (int rank = 0; rank < transport.size(); rank++) {
      if (rank == transport.rank()) continue;
      Range there = home_ranks.colours_of(rank);
      for (size_t d : gathered) {
        std::vector<Space> sets;
        for (int64_t q = there.lo; q < there.hi; q++) sets.push_back(home.shares().of[size_t(q)].coordinates[d]);
        Space holds = runtime::unite(1, sets);
        for (int64_t c = colours.lo; c < colours.hi; c++) {
          Space part = needs[size_t(c)].coordinates[d] & holds;
          if (part.empty()) continue;
          runtime::Writer& w = to[size_t(rank)];
          w.put(c);
          w.put(d);
          w.put(part.rect_count());
          w.put_all(part.sides());
        }
      }
    }
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
  Space place_numbers(Piece& p, std::span<const int64_t> numbers, Instances& own) {
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

  // ---- moving ----

  void connect(const Home& home, const Partition& held, const Partition& needed, Instances from, Instances own) {
    std::vector<runtime::Match> matches = runtime::match(transport, held, needed, runtime::Sources::AnyLocal);
    users = own;
    sources = from;
    remember(home);
    exchange.emplace(transport, matches, home_ranks, task_ranks, std::move(from), std::move(own),
                     runtime::ExchangeOptions{.region = name, .traffic = traffic});
  }

  void remember(const Home& home) {
    bound.clear();
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++) bound.push_back(home.piece(q).value_bytes());
  }

  void find_pieces(const Home& home) {
    for (int64_t c = colours.lo; c < colours.hi; c++)
      if (Piece& p = piece(c); p.home) p.storage = &home.piece(*p.home);
      else p.storage = &*p.own;
  }

  void start(const Home& home) {
    find_pieces(home);
    if (home.version() == brought) return;
    brought = home.version();
    std::vector<const std::byte*> before = std::move(bound);
    remember(home);
    if (before != bound) exchange->rebind(moved_to(*sources, home), *users);
    exchange->start();
    under_way = true;
  }

  void finish() {
    if (!under_way) return;
    exchange->finish();
    under_way = false;
    for (Piece& p : pieces) {
      if (!p.staged) continue;
      size_t size = size_of(p.own->type());
      const std::byte* from = p.staged->data();
      std::byte* into = p.own->value_bytes();
      for (size_t k = 0; k < p.order.size(); k++)
        if (p.order[k] >= 0) std::memcpy(into + k * size, from + size_t(p.order[k]) * size, size);
    }
  }
};

Fetch::Fetch(Transport& transport, const Home& home, FetchRequest request)
    : state_(std::make_unique<State>(transport, home, request)) {}
Fetch::~Fetch() = default;
Fetch::Fetch(Fetch&&) noexcept = default;

void Fetch::start(const Home& home) { state_->start(home); }
bool Fetch::is_there() const { return !state_->under_way; }
bool Fetch::poll() { return !state_->under_way || state_->exchange->poll(); }
void Fetch::finish() { state_->finish(); }
const Storage& Fetch::operator[](int64_t colour) const { return *state_->piece(colour).storage; }
bool Fetch::is_home(int64_t colour) const { return state_->piece(colour).home.has_value(); }
int64_t Fetch::base(int64_t colour) const { return state_->piece(colour).base; }
bool Fetch::local_values_come_first() const {
  return std::none_of(state_->pieces.begin(), state_->pieces.end(), [](const State::Piece& p) { return !!p.staged; });
}
int64_t Fetch::bytes_received() const { return state_->exchange ? state_->exchange->bytes_received() : 0; }

}  // namespace spdistal
