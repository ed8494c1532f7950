#include "driver/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/require.hpp"
#include "driver/fetch.hpp"
#include "driver/leaf.hpp"
#include "notation/bounds.hpp"
#include "runtime/partition/match.hpp"
#include "runtime/region/contribution.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;
using runtime::ColourGrid;
using runtime::Instances;
using runtime::Layout;
using runtime::Partition;
using runtime::Space;
using runtime::Transport;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<int64_t> known_dims(const TensorVar& tensor) {
  std::vector<int64_t> dims;
  for (const Extent& extent : tensor.dims()) dims.push_back(extent.value().value());
  return dims;
}

Space interval(const Range& r) { return r.size() <= 0 ? Space(1) : Space::interval(r.lo, r.hi); }
Range hull(const Space& set) { return set.empty() ? Range{0, 0} : set.bounding()[0]; }

}  // namespace

struct Execution::State {
  Session& session;
  Transport& transport;
  Printer names;
  lower::Distributed program;
  Shares result_shares;
  std::vector<int64_t> result_dims;

  // Bound to the data:
  std::map<TensorVar, uint64_t> patterns;  // that this is bound to
  std::optional<Bounds> bounds;
  std::optional<ColourGrid> grid;
  std::vector<size_t> distributed, steps;  // which of the loops
  Range colours;                           // of this rank
  bool writes = false;                     // no two colours compute the same elements
  bool everywhere = false;                 // every rank has all operands and computes all of the result for itself
  struct Ordered {
    std::optional<Home> home;
    uint64_t version = 0;  // of the contents that it copies
  };
  std::map<size_t, Ordered> ordered;
  std::vector<std::optional<Fetch>> fetches;  // by access; of those that steps cut, of the step at hand
  std::map<std::pair<size_t, size_t>, std::vector<Space>>
      occurring_;  // by access and level: of the colours of this rank
  runtime::Traffic traffic;
  std::map<std::pair<size_t, int64_t>, int64_t> largest;  // by access and colour: bytes of the pieces of steps
  std::vector<double> seconds;                            // of the colours of this rank
  double exchange_seconds = 0;

  // Kernels, by the widths of the pieces they are for, and whether they start from what is there.
  struct Compiled {
    Leaf leaf;
    codegen::Kernel kernel;
  };
  std::map<std::string, std::unique_ptr<Compiled>> compiled;

  // The result: one piece for each colour of this rank.
  struct Target {
    std::vector<Space> touched;  // coordinates by dimension
    std::vector<Range> ranges;
    std::optional<int64_t> home;  // computed in this home piece itself
    std::optional<Storage> own;
    bool idle = false;
  };
  std::vector<Target> targets;
  std::optional<runtime::Exchange> homecoming;
  std::optional<Instances> target_instances;
  std::vector<const std::byte*> homecoming_bound;

  State(Session& s, const ConcreteStatement& statement, Shares shares)
      : session(s),
        transport(s.transport()),
        program(lower::distribute(statement, names)),
        result_shares(std::move(shares)),
        result_dims(known_dims(statement.result)) {
    for (size_t k = 0; k < program.loops.size(); k++)
      (program.loops[k].tags.place == Place::Distributed ? distributed : steps).push_back(k);
  }

  const TensorVar& result_var() const { return program.leaf.result; }
  const plan::Access& plan_of(size_t k) const { return program.plan.accesses[k]; }
  size_t accesses() const { return program.accesses.size(); }
  bool by_steps(size_t k) const {
    return std::any_of(steps.begin(), steps.end(), [&](size_t s) { return s < plan_of(k).depth; });
  }
  Target& target(int64_t colour) { return targets[size_t(colour - colours.lo)]; }

  // ---- binding ----

  void bind(const Homes& operands) {
    std::map<TensorVar, uint64_t> now_there;
    for (const auto& [tensor, home] : operands) now_there.emplace(tensor, home->pattern_version());
    if (grid && now_there == patterns) return;
    patterns = std::move(now_there);
    bounds.emplace(program.leaf.provenance, [&operands](const Levels& levels) {
      return operands.at(levels.access.tensor)->positions(levels.last);
    });
    // The counts are asked for while binding only.
    std::map<std::pair<TensorVar, size_t>, int64_t> counts;
    for (const auto& [tensor, home] : operands)
      for (size_t level = 0; level < home->order(); level++) counts[{tensor, level}] = home->positions(level);
    bounds.emplace(program.leaf.provenance, [counts](const Levels& levels) {
      return counts.at({levels.access.tensor, levels.last});
    });
    std::vector<int64_t> extents;
    // A loop without values has one colour with nothing to do.
    for (size_t k : distributed) extents.push_back(std::max<int64_t>(1, bounds->size(program.loops[k].var)));
    grid.emplace(extents);
    // Without distributed loops every rank computes all of it, if it has all: otherwise the first one does.
    everywhere = distributed.empty() && everything_is_everywhere(operands);
    if (everywhere) grid.emplace(std::vector<int64_t>{transport.size()});
    colours = runtime::Mapping(grid->count(), transport.size()).colours_of(transport.rank());
    seconds.assign(size_t(colours.size()), 0);
    fetches.clear();
    fetches.resize(accesses());
    compiled.clear();
    targets.clear();
    homecoming.reset();
    occurring_.clear();
    ordered.clear();
    for (size_t k : program.plan.fetch_order)
      if (!by_steps(k)) plan_fetch(k, operands, {});
    if (!by_steps(0)) plan_targets({});
    writes = plan_of(0).privilege == plan::Privilege::Write && colours_are_disjoint();
  }

  // The intervals of the result that colours cover may overlap even where each element is computed by one of them.
  bool colours_are_disjoint() {
    std::vector<Space> boxes;
    for (int64_t c = 0; c < grid->count(); c++) {
      LoopValues values = values_for(0, c, {});
      if (idle(values)) continue;
      std::vector<Space> sides;
      for (size_t d = 0; d < result_dims.size(); d++) sides.push_back(interval(range(0, d, values)));
      boxes.push_back(product_of(result_var().format(), sides));
    }
    return boxes.size() <= 1 || runtime::are_disjoint(boxes);
  }

  bool everything_is_everywhere(const Homes& operands) const {
    auto replicated = [&](const Shares& shares, const std::vector<int64_t>& dims) {
      runtime::Mapping ranks(shares.grid.count(), transport.size());
      std::vector<bool> has(size_t(transport.size()));
      for (int64_t c = 0; c < shares.grid.count(); c++)
        if (shares.of[size_t(c)] == whole_share(dims)) has[size_t(ranks.rank_of(c))] = true;
      return std::all_of(has.begin(), has.end(), [](bool b) { return b; });
    };
    for (const auto& [tensor, home] : operands)
      if (!replicated(home->shares(), home->dims())) return false;
    return replicated(result_shares, result_dims);
  }

  LoopValues values_of(int64_t colour, const std::vector<int64_t>& step) const {
    LoopValues values;
    if (!distributed.empty()) {
      std::vector<int64_t> point = grid->point_of(colour);
      for (size_t k = 0; k < distributed.size(); k++) values.emplace(program.loops[distributed[k]].var, point[k]);
    }
    for (size_t k = 0; k < step.size(); k++) values.emplace(program.loops[steps[k]].var, step[k]);
    return values;
  }
  // Those that an access is fetched inside of.
  LoopValues values_for(size_t k, int64_t colour, const std::vector<int64_t>& step) const {
    LoopValues all = values_of(colour, step), out;
    for (const IndexVar& loop : program.accesses[k].loops)
      if (auto value = all.find(loop); value != all.end()) out.insert(*value);
    return out;
  }
  // Has a colour no iteration at all? Variables that the loops around leave nothing of tell; those of loops inside may
  // well have no values.
  bool idle(const LoopValues& values) const {
    for (const Root& root : program.leaf.provenance.roots) {
      bool cut = std::any_of(values.begin(), values.end(), [&](const auto& value) {
        return depends_on(program.leaf.provenance, root.var, value.first);
      });
      if (cut && bounds->of(root.var, values).size() <= 0) return true;
    }
    for (size_t k = 1; k < accesses(); k++)
      if (const auto& split = program.accesses[k].split)
        if (bounds->of(split->position, values).size() <= 0) return true;
    return false;
  }

  // What the loops leave of a dimension of an access.
  Range range(size_t k, size_t d, const LoopValues& values) const {
    const IndexVar& var = program.accesses[k].access.indices[d];
    const plan::Projection& projection = plan_of(k).projections[d];
    bool cut = std::holds_alternative<plan::Affine>(projection) || std::holds_alternative<plan::Gather>(projection);
    return cut ? bounds->of(var, values) : Range{0, bounds->size(var)};
  }

  Need need(size_t k, int64_t colour, const std::vector<int64_t>& step) {
    const lower::PlannedAccess& a = program.accesses[k];
    LoopValues values = values_for(k, colour, step);
    bool none = idle(values);
    Need out;
    for (size_t d = 0; d < a.access.indices.size(); d++) {
      const plan::Projection& projection = plan_of(k).projections[d];
      Space set = none ? Space(1) : interval(range(k, d, values));
      if (auto* gather = std::get_if<plan::Gather>(&projection); gather && colours.contains(colour) && !none)
        if (std::optional<Space> found = evaluate(gather->set, colour)) set = set & *found;
      out.coordinates.push_back(std::move(set));
    }
    if (a.split) out.positions = none ? Range{0, 0} : bounds->of(a.split->position, values);
    return out;
  }

  // None: everything.
  std::optional<Space> evaluate(const plan::Set& set, int64_t colour) {
    return match(
        set, [](const plan::Everything&) -> std::optional<Space> { return {}; },
        [&](const plan::Occurring& n) -> std::optional<Space> {
          auto [found, fresh] = occurring_.try_emplace({n.access, n.level}, std::vector<Space>(size_t(colours.size())));
          if (fresh)
            for (int64_t c = colours.lo; c < colours.hi; c++)
              found->second[size_t(c - colours.lo)] = occurring((*fetches[n.access])[c], n.level);
          return found->second[size_t(colour - colours.lo)];
        },
        [&](const plan::Both& n) -> std::optional<Space> {
          std::optional<Space> a = evaluate(n.a, colour), b = evaluate(n.b, colour);
          if (!a || !b) return a ? a : b;
          return *a & *b;
        },
        [&](const plan::Either& n) -> std::optional<Space> {
          std::optional<Space> a = evaluate(n.a, colour), b = evaluate(n.b, colour);
          if (!a || !b) return {};
          return *a | *b;
        });
  }

  // What the dense levels of a piece must have places for: all that loops may come to, which is what occurs in a split
  // piece where coordinates come from its positions.
  Ranges ranges(size_t k, int64_t colour, const std::vector<int64_t>& step, const Need& need) {
    const lower::PlannedAccess& a = program.accesses[k];
    LoopValues values = values_for(k, colour, step);
    Ranges out;
    for (size_t d = 0; d < a.access.indices.size(); d++) {
      if (need.coordinates[d].empty() && idle(values)) out.push_back(Range{0, 0});
      else if (!a.by_position[d]) out.push_back(range(k, d, values));
      else if (a.split) out.push_back(std::nullopt);
      else out.push_back(hull(*evaluate(*a.by_position[d], colour)));
    }
    return out;
  }

  // Where an access is fetched from: the home of its tensor, or, where positions are dealt out that are not consecutive
  // in its pieces, a copy in which they are, kept while the contents stand.
  const Home& source(size_t k, const Homes& operands) {
    const Home& home = *operands.at(program.accesses[k].access.tensor);
    const std::optional<plan::Split>& split = plan_of(k).split;
    if (!split || home.ordered()) return home;
    Ordered& copy = ordered[k];
    if (!copy.home || copy.version != home.version()) {
      Shares shares{ColourGrid({transport.size()}), {}};
      for (int r = 0; r < transport.size(); r++) {
        shares.of.push_back(whole_share(home.dims()));
        shares.of.back().positions.push_back({split->level, r, transport.size()});
      }
      copy.home = redistribute(transport, home, home.format(), std::move(shares));
      copy.version = home.version();
      require(copy.home->ordered(), "blocks of positions are consecutive");
    }
    return *copy.home;
  }

  void plan_fetch(size_t k, const Homes& operands, const std::vector<int64_t>& step) {
    const Home& home = source(k, operands);
    FetchRequest request{plan_of(k), *grid, {}, {}, reads_result() && is_result(k), &traffic};
    for (int64_t c = 0; c < grid->count(); c++) request.needs.push_back(need(k, c, step));
    for (int64_t c = colours.lo; c < colours.hi; c++)
      request.ranges.push_back(ranges(k, c, step, request.needs[size_t(c)]));
    for (auto found = occurring_.begin(); found != occurring_.end();)
      found = found->first.first == k ? occurring_.erase(found) : std::next(found);
    fetches[k].emplace(transport, home, std::move(request));
  }

  bool is_result(size_t k) const { return program.accesses[k].access.tensor == result_var(); }
  bool reads_result() const {
    for (size_t k = 1; k < accesses(); k++)
      if (is_result(k)) return true;
    return false;
  }

  void plan_targets(const std::vector<int64_t>& step) {
    targets.clear();
    targets.resize(size_t(colours.size()));
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      Need n = need(0, c, step);
      Target& t = target(c);
      t.idle = idle(values_for(0, c, step));
      t.touched = n.coordinates;
      for (const std::optional<Range>& r : ranges(0, c, step, n)) t.ranges.push_back(r.value());
    }
  }

  // ---- leaves ----

  Compiled& leaf_for(int64_t colour, std::optional<Start> start) {
    std::string key = start ? (*start == Start::Old ? "+" : "=") : "";
    for (size_t k = 1; k < accesses(); k++)
      for (const LevelArrays& level : (*fetches[k])[colour].pattern().levels())
        key += fmt::format("{}{}", int(level.pos.width()), int(level.crd.width()));
    std::unique_ptr<Compiled>& found = compiled[key];
    if (!found) {
      std::vector<IndexVar> outer;
      for (const Forall& loop : program.loops) outer.push_back(loop.var);
      Leaf leaf(
          program.leaf,
          [&](const Access& access) { return widths_of((*fetches[number_of(access)])[colour].pattern()); },
          LeafOptions{.outer = outer, .operands = lower::Operands::Pieces, .start = start});
      codegen::Kernel kernel = session.jit.load(leaf.function());
      found = std::make_unique<Compiled>(Compiled{std::move(leaf), std::move(kernel)});
    }
    return *found;
  }

  size_t number_of(const Access& access) const {
    for (size_t k = 1; k < accesses(); k++) {
      const Access& a = program.accesses[k].access;
      if (a.tensor == access.tensor && a.indices == access.indices) return k;
    }
    require(false, "a kernel reads what the plan fetches");
    return 0;
  }

  LeafInputs inputs_for(const Leaf& leaf, int64_t colour, const std::vector<int64_t>& step) {
    std::vector<const Storage*> pieces;
    for (const Access& access : leaf.kernel().operands) pieces.push_back(&(*fetches[number_of(access)])[colour]);
    LoopValues values = values_of(colour, step);
    return LeafInputs(leaf, pieces, [this, &leaf, colour, values](const lower::RunTimeNumber& number) -> int64_t {
      if (auto* extent = std::get_if<Extent>(&number)) return extent->value().value();
      if (auto* outer = std::get_if<lower::OuterValue>(&number)) {
        auto value = values.find(outer->var);
        return value == values.end() ? 0 : value->second;
      }
      if (auto* count = std::get_if<lower::PositionCount>(&number)) {
        const Access& access = leaf.kernel().operands[size_t(count->operand)];
        return counts_of(access, count->level);
      }
      const lower::PositionBase& base = std::get<lower::PositionBase>(number);
      size_t k = number_of(leaf.kernel().operands[size_t(base.operand)]);
      return program.accesses[k].split ? fetches[k]->base(colour) : 0;
    });
  }

  int64_t counts_of(const Access& access, size_t level) const {
    // Sizes of position loops count what the whole tensor stores.
    Levels levels{access, 0, level};
    return counts_(levels);
  }
  std::function<int64_t(const Levels&)> counts_;

  // f(step values) for every step, in order.
  template <class F>
  void for_each_step(F&& f) {
    std::vector<int64_t> extents;
    for (size_t k : steps) extents.push_back(std::max<int64_t>(1, bounds->size(program.loops[k].var)));
    ColourGrid all(extents);
    for (int64_t s = 0; s < all.count(); s++) f(all.point_of(s), s);
  }

  // ---- computing ----

  void compute(const Homes& operands, std::optional<Home>& result) {
    counts_ = [&operands](const Levels& levels) { return operands.at(levels.access.tensor)->positions(levels.last); };
    traffic.clear();
    largest.clear();
    std::fill(seconds.begin(), seconds.end(), 0);
    exchange_seconds = 0;
    double begin = now();
    for (size_t k : program.plan.fetch_order)
      if (!by_steps(k)) fetches[k]->start(source(k, operands));
    for (size_t k : program.plan.fetch_order)
      if (!by_steps(k)) fetches[k]->finish();
    exchange_seconds += now() - begin;
    if (result_var().format().is_dense()) compute_dense(operands, result);
    else compute_sparse(operands, result);
  }

  void fetch_step(const Homes& operands, const std::vector<int64_t>& step) {
    double begin = now();
    for (size_t k : program.plan.fetch_order)
      if (by_steps(k)) {
        plan_fetch(k, operands, step);
        fetches[k]->start(source(k, operands));
        fetches[k]->finish();
        for (int64_t c = colours.lo; c < colours.hi; c++)
          largest[{k, c}] = std::max(largest[{k, c}], fetched_bytes(k, c));
      }
    if (by_steps(0)) plan_targets(step);
    exchange_seconds += now() - begin;
  }

  // Of the piece at hand, 0 where it is one of a home.
  int64_t fetched_bytes(size_t k, int64_t colour) const {
    return !fetches[k] || fetches[k]->is_home(colour) ? 0 : (*fetches[k])[colour].bytes();
  }

  template <class F>
  void timed(int64_t colour, F&& f) {
    double begin = now();
    f();
    seconds[size_t(colour - colours.lo)] += now() - begin;
  }

  void compute_dense(const Homes& operands, std::optional<Home>& result) {
    bool fresh = !result;
    if (!result)
      result.emplace(
          pack(transport, Coordinates(result_dims, result_var().type()), result_var().format(), result_shares));
    bool adds = program.leaf.start == Start::Old;
    // In place: colours share nothing, nobody else holds copies, and nothing of the old result is read.
    bool in_place = writes && !everywhere && !by_steps(0) && !reads_result() && same_pieces(*result) && !adds;
    bool started = false;
    auto zero_home_once = [&] {
      if (started) return;
      started = true;
      if (adds || in_place || fresh) return;
      for (int64_t q = result->colours().lo; q < result->colours().hi; q++)
        std::memset(result->piece(q).value_bytes(), 0, size_t(result->piece(q).nnz()) * size_of(result->type()));
    };
    std::optional<Home> old;  // what later steps read while earlier ones write
    Homes sources = operands;
    if (by_steps(0) && reads_result()) {
      old.emplace(result->clone(transport));
      sources[result_var()] = &*old;
    }
    for_each_step([&](const std::vector<int64_t>& step, int64_t number) {
      fetch_step(sources, step);
      bool first = number == 0 || by_steps(0);
      runtime::together(transport, [&] {
        for (int64_t c = colours.lo; c < colours.hi; c++) launch_dense(c, step, first, in_place ? &*result : nullptr);
      });
      if (!by_steps(0)) return;
      zero_home_once();
      if (everywhere) keep_here(*result);
      else bring_home(*result, runtime::Arrival::Add);
    });
    if (everywhere) {
      zero_home_once();
      keep_here(*result);
    } else if (!by_steps(0) && !in_place) {
      zero_home_once();
      bring_home(*result, writes && !adds ? runtime::Arrival::Assign : runtime::Arrival::Add);
    }
    result->changed();
  }

  // Is every colour's piece of the result a home piece of this rank, all of it and nobody else's?
  bool same_pieces(const Home& home) {
    bool same = home.shares().grid.count() == grid->count();
    for (int64_t c = colours.lo; c < colours.hi && same; c++) {
      const Share& share = home.shares().of[size_t(c)];
      const Target& t = target(c);
      same = share.fused.empty() && share.positions.empty() && !t.idle && home.owns_all(c);
      for (size_t d = 0; d < t.ranges.size() && same; d++)
        same = share.coordinates[d] == interval(t.ranges[d]) && share.coordinates[d] == t.touched[d];
      if (t.idle)
        same = share.coordinates.size() > 0 && std::any_of(share.coordinates.begin(), share.coordinates.end(),
                                                           [](const Space& s) { return s.empty(); });
    }
    return transport.allreduce(int64_t(same), runtime::ReduceOp::Min) != 0;
  }

  void launch_dense(int64_t c, const std::vector<int64_t>& step, bool first, Home* in_place) {
    Target& t = target(c);
    Storage* into = nullptr;
    if (in_place) into = &in_place->piece(c);
    else {
      if (!t.own)
        t.own.emplace(dense_pattern(result_var().format(), result_dims, t.ranges, result_var().type()),
                      result_var().type());
      into = &*t.own;
    }
    if (t.idle || idle(values_of(c, step))) {
      if (first) std::memset(into->value_bytes(), 0, size_t(into->nnz()) * size_of(into->type()));
      return;
    }
    Compiled& code = leaf_for(c, first ? Start::Zero : Start::Old);
    LeafInputs inputs = inputs_for(code.leaf, c, step);
    View view(*into);
    timed(c,
          [&] { code.leaf.compute_into(view, inputs, session.context, [&](spd_call& call) { code.kernel(call); }); });
  }

  // From where results were computed to where they live.
  void bring_home(Home& home, runtime::Arrival arrival) {
    double begin = now();
    std::vector<const std::byte*> memory;
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++) memory.push_back(home.piece(q).value_bytes());
    if (!homecoming || by_steps(0)) {
      Space universe = universe_of(home.format(), home.dims());
      Partition held = held_by(home, universe);
      std::vector<Space> computed;
      Instances own(colours);
      for (int64_t c = colours.lo; c < colours.hi; c++) {
        Target& t = target(c);
        std::vector<Range> sides;
        for (int dim : home.format().mode_order()) sides.push_back(t.ranges[size_t(dim)]);
        Space box{runtime::Rect(sides)};
        computed.push_back(t.idle ? Space(int(home.order())) : product_of(home.format(), t.touched) & box);
        own.add(instance_of(*t.own, Layout::box(box)));
      }
      Partition needed(*grid, universe, colours, std::move(computed));
      runtime::Sources who = arrival == runtime::Arrival::Add ? runtime::Sources::Owners : runtime::Sources::Everyone;
      target_instances = own;
      homecoming.emplace(transport, runtime::match(transport, held, needed, who),
                         runtime::Mapping(held.colours(), transport.size()),
                         runtime::Mapping(grid->count(), transport.size()), home_instances(home), own,
                         runtime::ExchangeOptions{.region = home_region(),
                                                  .traffic = &traffic,
                                                  .direction = runtime::Direction::ToSources,
                                                  .arrival = arrival});
      homecoming_bound = memory;
    } else if (memory != homecoming_bound) {
      homecoming->rebind(home_instances(home), *target_instances);
      homecoming_bound = memory;
    }
    homecoming->run();
    if (arrival == runtime::Arrival::Add && has_replicas(home)) {
      Space universe = universe_of(home.format(), home.dims());
      runtime::Region region(home_region(), home.type(), held_by(home, universe), home_instances(home));
      runtime::replica_refresh(transport, region, &traffic).run();
    }
    exchange_seconds += now() - begin;
  }

  // Adds what this rank computed to its own pieces.
  void keep_here(Home& home) {
    if (colours.size() == 0) return;
    Space universe = universe_of(home.format(), home.dims());
    Partition held = held_by(home, universe);
    Instances pieces = home_instances(home);
    std::vector<Range> sides;
    for (int dim : home.format().mode_order()) sides.push_back(target(colours.lo).ranges[size_t(dim)]);
    Space box{runtime::Rect(sides)};
    Layout layout = Layout::box(box);
    std::vector<std::byte> values;
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
      Space part = held[q] & box;
      if (part.empty()) continue;
      runtime::Selection from(layout, part, home.type()), to(pieces[q].layout(), part, home.type());
      values.resize(size_t(from.bytes()));
      from.gather(target(colours.lo).own->value_bytes(), values.data());
      to.add(values.data(), pieces[q].data());
    }
  }

  static bool has_replicas(const Home& home) {
    const std::vector<Share>& shares = home.shares().of;
    for (size_t a = 0; a < shares.size(); a++)
      for (size_t b = 0; b < a; b++)
        if (shares[a] == shares[b]) return true;
    return false;
  }

  // ---- sparse results ----

  void compute_sparse(const Homes& operands, std::optional<Home>& result) {
    Coordinates all(result_dims, result_var().type());
    std::vector<Storage> pieces;
    bool adopt = steps.empty() && writes && !everywhere && matches_home();
    for_each_step([&](const std::vector<int64_t>& step, int64_t) {
      fetch_step(operands, step);
      runtime::together(transport, [&] {
        for (int64_t c = colours.lo; c < colours.hi; c++) {
          Target& t = target(c);
          if (idle(values_of(c, step))) {
            if (adopt)
              pieces.push_back(pack(Coordinates(result_dims, result_var().type()), result_var().format(), t.ranges));
            continue;
          }
          Compiled& code = leaf_for(c, std::nullopt);
          LeafInputs inputs = inputs_for(code.leaf, c, step);
          timed(c, [&] {
            Storage piece =
                code.leaf.compute(inputs, t.ranges, session.context, [&](spd_call& call) { code.kernel(call); });
            if (adopt) pieces.push_back(std::move(piece));
            else all.append(unpack(piece));
          });
        }
      });
    });
    double begin = now();
    if (everywhere) result.emplace(scatter(transport, pack(std::move(all), result_var().format()), result_shares));
    else if (adopt)
      result.emplace(transport, result_var().format(), result_dims, result_var().type(), result_shares,
                     std::move(pieces));
    else result.emplace(pack(transport, std::move(all), result_var().format(), result_shares));
    exchange_seconds += now() - begin;
  }

  // Are the pieces that colours compute just those of the result's home?
  bool matches_home() {
    bool same = result_shares.grid.count() == grid->count();
    for (int64_t c = colours.lo; c < colours.hi && same; c++) {
      const Share& share = result_shares.of[size_t(c)];
      same = share.fused.empty() && share.positions.empty();
      for (size_t d = 0; d < share.coordinates.size() && same; d++)
        same = share.coordinates[d] == interval(target(c).ranges[d]);
    }
    return transport.allreduce(int64_t(same), runtime::ReduceOp::Min) != 0;
  }

  // ---- looking ----

  Report report() const {
    // What arrived at pieces of this rank is counted here.
    struct Arrived {
      int64_t from, to;
      int64_t access;
      runtime::Count count;
    };
    std::vector<Arrived> arrived;
    runtime::Mapping task_ranks(grid->count(), transport.size());
    runtime::Mapping home_ranks(result_shares.grid.count(), transport.size());
    for (size_t k = 0; k < accesses(); k++) {
      auto pairs = traffic.regions().find(k == 0 ? home_region() : plan_of(k).text);
      if (pairs == traffic.regions().end()) continue;
      for (const auto& [pair, count] : pairs->second)
        if ((k == 0 ? home_ranks : task_ranks).rank_of(pair.second) == transport.rank())
          arrived.push_back({pair.first, pair.second, int64_t(k), count});
    }
    runtime::Writer w;
    w.put(exchange_seconds);
    w.put(colours.size());
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      int64_t stored = 0;
      for (size_t k = 1; k < accesses(); k++)
        if (!program.accesses[k].access.tensor.format().is_dense() && fetches[k]) stored += (*fetches[k])[c].nnz();
      w.put(stored);
      w.put(seconds[size_t(c - colours.lo)]);
      for (size_t k = 1; k < accesses(); k++) {
        auto found = largest.find({k, c});
        w.put(found == largest.end() ? fetched_bytes(k, c) : found->second);
      }
    }
    w.put_all(std::span<const Arrived>(arrived));
    Report out;
    for (size_t k = 0; k < accesses(); k++) out.accesses.push_back(plan_of(k).text);
    out.pieces.resize(size_t(std::max(grid->count(), result_shares.grid.count())));
    int64_t next = 0;
    for (const runtime::Bytes& bytes : runtime::share(transport, w.take())) {
      runtime::Reader r(bytes);
      out.exchange_seconds = std::max(out.exchange_seconds, r.take<double>());
      for (int64_t n = r.take<int64_t>(); n > 0; n--) {
        PieceReport& p = out.pieces[size_t(next++)];
        p.non_zeros = r.take<int64_t>();
        p.seconds = r.take<double>();
        for (size_t k = 1; k < accesses(); k++)
          if (int64_t bytes_held = r.take<int64_t>()) p.moved[plan_of(k).text].piece = bytes_held;
      }
      while (!r.at_end()) {
        Arrived a = r.take<Arrived>();
        const std::string& access = plan_of(size_t(a.access)).text;
        int64_t all = a.count.bytes + a.count.copied;
        PieceReport::Moved& m = out.pieces[size_t(a.to)].moved[access];
        (a.from == a.to ? m.copied : m.received) += all;
        m.between_ranks += a.count.bytes;
        m.reduced += a.count.added;
        out.messages += a.count.messages;
        if (size_t(a.from) < out.pieces.size() && a.from != a.to) out.pieces[size_t(a.from)].moved[access].sent += all;
      }
    }
    return out;
  }

  // The name under which what goes home is counted, apart from what is fetched of the same tensor.
  std::string home_region() const { return plan_of(0).text + " home"; }
};

Execution::Execution(Session& session, const ConcreteStatement& statement, Shares shares)
    : state_(std::make_unique<State>(session, statement, std::move(shares))) {}
Execution::~Execution() = default;

void Execution::bind(const Homes& operands) { state_->bind(operands); }
void Execution::compute(const Homes& operands, std::optional<Home>& result) {
  state_->bind(operands);
  state_->compute(operands, result);
}
const plan::Plan& Execution::plan() const { return state_->program.plan; }
std::string Execution::kernel() const {
  return state_->compiled.empty() ? "" : state_->compiled.begin()->second->kernel.text();
}
Report Execution::report() const { return state_->report(); }

}  // namespace spdistal
