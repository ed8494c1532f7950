#include "execute/tasks.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "format/questions.hpp"
#include "level/kernel.hpp"
#include "level/level.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

using namespace notation;
using runtime::ColourGrid;
using runtime::Space;

Space interval(const Range& range) { return range.size() <= 0 ? Space(1) : Space::interval(range.lo, range.hi); }

size_t number_of(const plan::Plan& plan, const notation::Access& access) {
  for (size_t k = 1; k < plan.accesses.size(); k++) {
    const notation::Access& a = plan.accesses[k].access;
    if (a.tensor == access.tensor && a.indices == access.indices) return k;
  }
  require(false, "a kernel reads what the plan fetches");
  return 0;
}

namespace {

Range hull(const Space& set) { return set.empty() ? Range{0, 0} : set.bounding()[0]; }

// The most positions that a level of a piece has below a position of the level above `first`.
int64_t longest_row(const Pattern& pattern, size_t first, size_t last) {
  int64_t most = 0;
  for (int64_t p = 0; p < pattern.level(first - 1).positions; p++) {
    Range below{p, p + 1};
    for (size_t k = first; k <= last && below.size() > 0; k++) {
      auto children = functions_of(pattern.format().levels()[k]).children;
      below = {children(pattern.level(k), below.lo).lo, children(pattern.level(k), below.hi - 1).hi};
    }
    most = std::max(most, below.size());
  }
  return most;
}

// Collective. Of a whole tensor: not more than this, and no more than there are where pieces have whole rows.
int64_t longest_row(runtime::Transport& transport, const Home& home, size_t first, size_t last) {
  int64_t most = home.positions(last);
  // Positions with equal coordinates are one row.
  if (continues_tuples(home.format(), first)) return most;
  bool whole = true;
  for (const Share& share : home.shares().of) {
    if (holds_nothing(share, home.dims())) continue;
    whole &= share.fused.empty() && share.positions.empty();
    for (size_t k = first; k < home.order(); k++) {
      size_t d = size_t(home.format().mode_order()[k]);
      whole &= share.coordinates[d].size() == home.dims()[d];
    }
  }
  int64_t here = 0;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) {
    int64_t row = longest_row(home.piece(q).pattern(), first, last);
    here = whole ? std::max(here, row) : here + row;
  }
  using runtime::ReduceOp;
  return std::min(most, transport.allreduce(here, whole ? ReduceOp::Max : ReduceOp::Sum));
}

}  // namespace

// A kernel tells which dense levels it walks all of. Blocks of a result that one colour writes are places for all of their
// elements: then they may be those of its home.
LocatedDims find_located(const plan::Plan& plan, const lower::Lowered& kernel) {
  LocatedDims out;
  for (size_t k = 0; k < plan.accesses.size(); k++) {
    const notation::Access& a = plan.accesses[k].access;
    out.emplace_back();
    for (size_t d = 0; d < a.indices.size(); d++) {
      bool swept = std::find(kernel.swept.begin(), kernel.swept.end(), a.indices[d]) != kernel.swept.end();
      // What a sparse tensor stores elsewhere needs a place too, unless only what occurs elsewhere is fetched of it.
      bool fetched = std::holds_alternative<plan::Gather>(plan.accesses[k].projections[d]);
      bool block = k == 0 && plan.accesses[k].privilege == plan::Privilege::Write &&
                   std::holds_alternative<plan::Affine>(plan.accesses[k].projections[d]);
      out.back().push_back(!swept && !block && (fetched || a.tensor.format().is_dense()));
    }
  }
  for (const lower::LevelOfTensor& whole : kernel.whole_levels) {
    size_t k = whole.tensor == 0 ? 0 : number_of(plan, kernel.operands[size_t(whole.tensor) - 1]);
    out[k][plan.accesses[k].dims[whole.level]] = false;
  }
  return out;
}

Space values_of(const plan::Occurring& seen, const Space& coordinates) {
  return seen.offset == 0 && seen.stride == 1 ? coordinates : runtime::shrink(coordinates, seen.offset, seen.stride);
}
Space coordinates_of(const plan::Gather& gather, const Space& values, const Space& within) {
  if (gather.offset == 0 && gather.stride == 1) return values & within;
  return runtime::stretch(values & runtime::shrink(within, gather.offset, gather.stride), gather.offset, gather.stride);
}

Tasks::Tasks(const plan::Plan& plan, const Homes& operands, const Shares& result, runtime::Transport& transport,
             const LocatedDims& located)
    : plan_(plan), transport_(transport), located_(located), bounds_(bounds_of(plan.bounds)), grid_({}) {
  for (const auto& [tensor, home] : operands)
    for (size_t level = 0; level < home->order(); level++) positions_[{tensor, level}] = home->positions(level);
  count_longest_rows(operands);
  cut_by_weight(operands);
  find_blocks_of_rows(operands);
  for (size_t k = 0; k < plan.loops.size(); k++)
    (plan.loops[k].kind == plan::Loop::Kind::Distributed ? distributed_ : sequential_).push_back(k);
  // A loop without values has one turn with nothing to do.
  auto extents = [&](const std::vector<size_t>& loops) {
    std::vector<int64_t> out;
    for (size_t k : loops) out.push_back(std::max<int64_t>(1, bounds_.size(plan.loops[k].var)));
    return out;
  };
  // Without distributed loops every rank computes all of it, if it has all: otherwise the first one does.
  everywhere_ = distributed_.empty() && everything_is_everywhere(operands, result);
  grid_ = everywhere_ ? ColourGrid({transport.size()}) : ColourGrid(extents(distributed_));
  colours_ = runtime::Mapping(grid_.count(), transport.size()).colours_of(transport.rank());
  ColourGrid all(extents(sequential_));
  for (int64_t s = 0; s < all.count(); s++) steps_.push_back(all.point_of(s));
}

// Collective. Of levels whose positions are counted row by row by loops around the leaf.
void Tasks::count_longest_rows(const Homes& operands) {
  const Provenance& provenance = plan_.bounds;
  if (std::none_of(plan_.loops.begin(), plan_.loops.end(),
                   [&](const plan::Loop& loop) { return !provenance.range_depends_on(loop.var).empty(); }))
    return;
  for (const Relation& relation : provenance.relations) {
    auto* stored = relation.replaced[0].value.as<StoredCoordinate>();
    if (!stored || stored->levels.first == 0) continue;
    const auto& [access, first, last, block] = stored->levels;
    auto [row, fresh] = longest_.try_emplace({access.tensor, first, last}, 0);
    if (fresh) row->second = longest_row(transport_, *operands.at(access.tensor), first, last);
  }
}

// Collective.
void Tasks::cut_by_weight(const Homes& operands) {
  for (const Relation& relation : plan_.bounds.relations)
    if (const BlockStart* block = relation.block()) {
      Weighed homes;
      for (const notation::Access& access : block->blocks.operands) homes.push_back(operands.at(access.tensor));
      const auto& [var, weighed, count] = block->blocks;
      cuts_.emplace(var, weighted_cuts(transport_, homes, bounds_.size(var), count.value().value()));
    }
}

Bounds Tasks::bounds_of(const Provenance& provenance) const {
  return Bounds(
      provenance, [this](const Levels& levels) { return positions(levels); },
      [this](const WeightedBlocks& blocks) -> const Cuts& { return cuts(blocks); },
      [this](const Levels& levels, int64_t coordinate) { return positions_before(levels, coordinate); });
}

namespace {

// The last level down to which positions are counted, and how many there are at the end for each of those.
struct CountedPositions {
  size_t level;
  int64_t each;
};
CountedPositions counted_positions(const Levels& levels) {
  const Format& format = levels.access.tensor.format();
  std::vector<int64_t> dims = known_dims(levels.access.tensor);
  CountedPositions out{levels.last, 1};
  for (; counts_places(format.levels()[out.level]); out.level--)
    out.each *= dims[size_t(format.mode_order()[out.level])];
  return out;
}

}  // namespace

// Before coordinates that nobody asked for there are as many as between those that somebody did.
Range Tasks::positions_before(const Levels& levels, int64_t coordinate) const {
  const TensorVar& tensor = levels.access.tensor;
  auto [level, each] = counted_positions(levels);
  int64_t least = 0, most = positions(levels.access, level);
  if (coordinate <= 0) most = 0;
  else if (coordinate >= known_dims(tensor)[size_t(tensor.format().mode_order()[0])]) least = most;
  else if (auto found = before_.find({tensor, level}); found != before_.end()) {
    auto next = found->second.lower_bound(coordinate);
    if (next != found->second.end()) most = next->second;
    if (next != found->second.end() && next->first == coordinate) least = most;
    else if (next != found->second.begin()) least = std::prev(next)->second;
  }
  return {least * each, most * each + 1};
}

// Collective. Where blocks of rows begin and end that loops around the leaf come to, in positions.
void Tasks::find_blocks_of_rows(const Homes& operands) {
  std::map<std::pair<TensorVar, size_t>, std::map<int64_t, int64_t>> asked;
  Bounds asking(
      plan_.bounds, [this](const Levels& levels) { return positions(levels); },
      [this](const WeightedBlocks& blocks) -> const Cuts& { return cuts(blocks); },
      [&](const Levels& levels, int64_t coordinate) {
        asked[{levels.access.tensor, counted_positions(levels).level}].emplace(coordinate, 0);
        return positions_before(levels, coordinate);
      });
  for (const Relation& relation : plan_.bounds.relations) {
    auto* stored = relation.replaced[0].value.as<StoredCoordinate>();
    if (!stored || !stored->levels.block) continue;
    for (size_t depth = 0; depth <= plan_.loops.size(); depth++) {
      std::vector<int64_t> extents;
      for (size_t k = 0; k < depth; k++) extents.push_back(std::max<int64_t>(1, bounds_.size(plan_.loops[k].var)));
      ColourGrid all(extents);
      for (int64_t turn = 0; turn < all.count(); turn++) {
        std::vector<int64_t> point = all.point_of(turn);
        LoopValues values;
        for (size_t k = 0; k < depth; k++) values.emplace(plan_.loops[k].var, point[k]);
        asking.of(relation.made[0].var, values);
      }
    }
  }
  for (auto& [of, before] : asked) {
    auto [tensor, level] = of;
    std::vector<int64_t> coordinates;
    for (const auto& [coordinate, positions] : before) coordinates.push_back(coordinate);
    const Home& home = *operands.at(tensor);
    std::optional<Home> ordered;
    if (!home.ordered()) {
      runtime::Sending anew(transport_.sent(), tensor.symbol().name(), runtime::Cargo::Redistribution);
      ordered = in_order_of_positions(transport_, home, level);
    }
    std::vector<int64_t> found = spdistal::positions_before(transport_, ordered ? *ordered : home, level, coordinates);
    for (size_t k = 0; k < found.size(); k++) before[coordinates[k]] = found[k];
  }
  before_ = std::move(asked);
}

int64_t Tasks::positions(const Levels& levels) const {
  int64_t all = positions(levels.access, levels.last);
  if (levels.first == 0) return all;
  auto row = longest_.find({levels.access.tensor, levels.first, levels.last});
  return row == longest_.end() ? all : row->second;
}

bool Tasks::everything_is_everywhere(const Homes& operands, const Shares& result) const {
  auto everywhere = [&](const Shares& shares, const std::vector<int64_t>& dims) {
    runtime::Mapping ranks(shares.grid.count(), transport_.size());
    std::vector<bool> has(size_t(transport_.size()));
    for (int64_t c = 0; c < shares.grid.count(); c++)
      if (shares.of[size_t(c)] == whole_share(dims)) has[size_t(ranks.rank_of(c))] = true;
    return std::all_of(has.begin(), has.end(), [](bool b) { return b; });
  };
  return everywhere(result, known_dims(plan_.leaf.result)) &&
         std::all_of(operands.begin(), operands.end(),
                     [&](const auto& operand) { return everywhere(operand.second->shares(), operand.second->dims()); });
}

size_t Tasks::loops_of_steps(size_t access) const {
  size_t loops = plan_.accesses[access].loops.size();
  return size_t(std::ranges::count_if(sequential_, [&](size_t loop) { return loop < loops; }));
}

StepValues Tasks::step_of(size_t access, const StepValues& step) const {
  return {step.begin(), step.begin() + long(loops_of_steps(access))};
}

LoopValues Tasks::values(int64_t colour, const StepValues& step) const {
  LoopValues out;
  std::vector<int64_t> point = distributed_.empty() ? std::vector<int64_t>() : grid_.point_of(colour);
  for (size_t k = 0; k < distributed_.size(); k++) out.emplace(plan_.loops[distributed_[k]].var, point[k]);
  for (size_t k = 0; k < step.size(); k++) out.emplace(plan_.loops[sequential_[k]].var, step[k]);
  return out;
}

// Those of the loops that an access is fetched inside of.
LoopValues Tasks::values_for(size_t access, int64_t colour, const StepValues& step) const {
  LoopValues all = values(colour, step), out;
  for (const IndexVar& loop : plan_.accesses[access].loops)
    if (auto value = all.find(loop); value != all.end()) out.insert(*value);
  return out;
}

// Is it, or is it found from, a variable without values?
bool Tasks::has_no_values(const IndexVar& var) const {
  if (bounds_.size(var) <= 0) return true;
  const Relation* relation = plan_.bounds.replaced_by(var);
  std::vector<IndexVar> parts = relation ? relation->needs() : std::vector<IndexVar>{};
  return std::any_of(parts.begin(), parts.end(), [&](const IndexVar& part) { return has_no_values(part); });
}

// Loops without values tell, and variables of which the loops around leave nothing; not variables without values, which
// may be those of loops inside that only some terms have.
bool Tasks::is_idle(const LoopValues& values) const {
  const Provenance& provenance = plan_.bounds;
  auto beyond = [&](const auto& value) { return value.second >= bounds_.size(value.first); };
  if (std::any_of(values.begin(), values.end(), beyond)) return true;
  auto left_out = [&](const IndexVar& var) { return !has_no_values(var) && bounds_.of(var, values).size() <= 0; };
  for (const Root& root : provenance.roots) {
    bool cut = std::any_of(values.begin(), values.end(),
                           [&](const auto& value) { return provenance.bounded_by(root.var, value.first); });
    if (cut && left_out(root.var)) return true;
  }
  return std::any_of(plan_.accesses.begin(), plan_.accesses.end(),
                     [&](const plan::AccessPlan& a) { return a.split && left_out(a.split->position); });
}

// What the loops leave of a dimension of an access.
Range Tasks::range(size_t access, size_t dim, const LoopValues& values) const {
  const IndexVar& var = plan_.accesses[access].access.indices[dim];
  const plan::Projection& projection = plan_.accesses[access].projections[dim];
  bool cut = std::holds_alternative<plan::Affine>(projection) || std::holds_alternative<plan::Gather>(projection);
  return cut ? bounds_.of(var, values) : Range{0, known_dims(plan_.accesses[access].access.tensor)[dim]};
}

Need Tasks::need(size_t access, int64_t colour, const StepValues& step, const Pieces& pieces) {
  const plan::AccessPlan& a = plan_.accesses[access];
  LoopValues values = values_for(access, colour, step);
  bool none = is_idle(values) || is_emptied(plan::Op::Entry);
  Need out;
  for (size_t d = 0; d < a.access.indices.size(); d++) {
    Space set = none ? Space(1) : interval(range(access, d, values));
    auto* gather = std::get_if<plan::Gather>(&plan_.accesses[access].projections[d]);
    if (gather && colours_.contains(colour) && !none) {
      if (std::optional<Space> found = evaluate(gather->set, colour, pieces))
        set = coordinates_of(*gather, *found, set);
      // The factors around an access may leave more than the loops come to: the piece has no places for that.
      if (std::optional<Range> reached = reach(access, d, colour, pieces)) set = set & interval(*reached);
    }
    out.coordinates.push_back(std::move(set));
  }
  if (a.split) out.positions = none ? Range{0, 0} : positions_of(*a.split, values);
  return out;
}

bool Tasks::stands_alone(size_t access) const {
  const std::vector<plan::Projection>& projections = plan_.accesses[access].projections;
  bool by_loops =
      std::ranges::all_of(projections, [](const auto& p) { return std::holds_alternative<plan::Affine>(p); });
  return by_loops && !plan_.accesses[access].split &&
         std::ranges::find(located_[access], true) == located_[access].end();
}

// Those of the level that is dealt out.
Range Tasks::positions_of(const plan::PositionSplit& split, const LoopValues& values) const {
  Range out = bounds_.of(split.position, values);
  for (size_t level = split.levels.last; level > split.level && out.size() > 0; level--) {
    int64_t below = std::max<int64_t>(1, bounds_.size(split.levels.var(level)));
    out = {out.lo / below, block_size(out.hi, below)};
  }
  return out;
}

Range Tasks::split_positions(size_t access, int64_t colour) const {
  return positions_of(*plan_.accesses[access].split, values_for(access, colour, {}));
}

// None: everything.
std::optional<Space> Tasks::evaluate(const plan::Set& set, int64_t colour, const Pieces& pieces) {
  return match(
      set, [](const plan::Everything&) -> std::optional<Space> { return {}; },
      [&](const plan::Occurring& n) -> std::optional<Space> {
        auto [found, fresh] = occurring_.try_emplace({n.access, n.level});
        if (fresh)
          for (int64_t c = colours_.lo; c < colours_.hi; c++)
            found->second.push_back(occurring((*pieces[n.access])[c], n.level));
        return values_of(n, found->second[size_t(colour - colours_.lo)]);
      },
      [&](const plan::Both& n) -> std::optional<Space> {
        std::optional<Space> a = evaluate(n.a, colour, pieces), b = evaluate(n.b, colour, pieces);
        if (!a || !b) return a ? a : b;
        return *a & *b;
      },
      [&](const plan::Either& n) -> std::optional<Space> {
        std::optional<Space> a = evaluate(n.a, colour, pieces), b = evaluate(n.b, colour, pieces);
        if (!a || !b) return {};
        return *a | *b;
      });
}

Ranges Tasks::ranges(size_t access, int64_t colour, const StepValues& step, const Pieces& pieces) {
  const plan::AccessPlan& a = plan_.accesses[access];
  LoopValues values = values_for(access, colour, step);
  bool none = is_idle(values);
  Ranges out;
  for (size_t d = 0; d < a.access.indices.size(); d++) {
    if (none) out.push_back(Range{0, 0});
    else if (!a.by_position[d]) {
      Range all = range(access, d, values);
      std::optional<Range> reached = reach(access, d, colour, pieces);
      out.push_back(reached ? runtime::common(all, *reached) : all);
      if (runtime::is_empty(*out.back())) out.back() = Range{all.lo, all.lo};
    } else if (comes_to_places(*a.by_position[d]) ||
               (a.split && comes_to_places({access, a.access.tensor.format().level_of(d)}))) {
      out.push_back(Range{0, known_dims(a.access.tensor)[d]});
    } else if (a.split) out.push_back(std::nullopt);
    else out.push_back(hull(*evaluate(*a.by_position[d], colour, pieces)));
  }
  return out;
}

// Positions of dense levels below the one that is dealt out stand for all of their coordinates, whatever is stored below them.
bool Tasks::comes_to_places(const plan::Occurring& coordinates) const {
  const plan::PositionSplit& split = *plan_.accesses[coordinates.access].split;
  return coordinates.level > split.level && coordinates.level <= split.levels.last;
}

// Where the leaf comes to a dimension only at coordinates that pieces store at sparse levels: the smallest range around
// them. None where it comes to others, or where a piece is not there yet.
std::optional<Range> Tasks::reach(size_t access, size_t dim, int64_t colour, const Pieces& pieces) {
  if (!located_[access][dim]) return {};
  const IndexVar& var = plan_.accesses[access].access.indices[dim];
  std::optional<Space> all;
  for (size_t k = 1; k < plan_.accesses.size(); k++) {
    const notation::Access& other = plan_.accesses[k].access;
    for (size_t d = 0; d < other.indices.size(); d++) {
      size_t level = other.tensor.format().level_of(d);
      if (!(variable_of(other.indices[d]) == var) || stores_all(other.tensor.format().levels()[level])) continue;
      if (other.indices[d].window()) return {};  // it comes to other coordinates than are stored
      bool later = plan_.accesses[k].loops.size() > plan_.accesses[access].loops.size();
      if (!pieces[k] || later) return {};
      Space here = *evaluate(plan::Occurring{k, level}, colour, pieces);
      all = all ? *all | here : here;
    }
  }
  return all ? std::optional(hull(*all)) : std::nullopt;
}

Space Tasks::stored(size_t access, size_t level, int64_t colour, const Pieces& pieces) {
  const Storage& piece = (*pieces[access])[colour];
  if (!leaves_places_empty(piece.format())) return *evaluate(plan::Occurring{access, level}, colour, pieces);
  return coordinates_at(piece, level, Space::interval(0, piece.pattern().level(level).positions));
}

Share Tasks::share_of_result(int64_t colour) const {
  Share out = whole_share(known_dims(plan_.leaf.result));
  LoopValues values = values_for(0, colour, {});
  for (size_t d = 0; d < out.coordinates.size(); d++)
    out.coordinates[d] = is_idle(values) ? Space(1) : interval(range(0, d, values));
  return out;
}

void Tasks::forget(size_t access) {
  std::erase_if(occurring_, [&](const auto& found) { return found.first.first == access; });
}

bool Tasks::are_disjoint() const {
  const TensorVar& result = plan_.leaf.result;
  std::vector<Space> boxes;
  for (int64_t c = 0; c < grid_.count(); c++) {
    LoopValues values = values_for(0, c, {});
    if (is_idle(values)) continue;
    std::vector<Space> sides;
    for (size_t d = 0; d < result.order(); d++) sides.push_back(interval(range(0, d, values)));
    boxes.push_back(product_of(result.format(), sides));
  }
  return boxes.size() <= 1 || runtime::are_disjoint(boxes);
}

}  // namespace spdistal
