// Level by level, in the order of the loops. Where what operands store bounds what there will be, the result is filled in at
// once, by one thread in its place, by several in parts that are put behind each other; otherwise it is counted first. Where
// its pattern stands, each row's values are written from where the row begins.
#include "lower/result/appended.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lower/bind.hpp"
#include "lower/operation.hpp"
#include "lower/questions.hpp"
#include "lower/result/elements.hpp"
#include "lower/result/shares.hpp"
#include "lower/result/strategy.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// Do the loops visit the result's coordinates in storage order, each once, with sums inside?
bool loops_follow_result(const Context& c) {
  std::vector<IndexVar> wanted = storage_order(c.lhs);
  if (std::set<IndexVar>(wanted.begin(), wanted.end()).size() != wanted.size()) return false;
  size_t next = 0;
  for (const Forall& loop : loops_to_result(c)) {
    IndexVar var = c.provenance.ranges_over(loop.var, c.options.outer);
    if (c.provenance.root(var) == nullptr) return false;
    if (next < wanted.size() && var == wanted[next]) next++;
    else if (next < wanted.size()) return false;
  }
  return next == wanted.size();
}

bool suits(Context& c) { return can_be_made(c) && loops_follow_result(c); }

void fill_counted(Context& c, const Scope& s, const Rooms& rooms, const MadeLevels& made, const ShareCount& shares,
                  const WalkLoops& walk) {
  auto room = [&](const std::vector<Expr>& counts) {
    // The last level has the most positions.
    leave_where_too_many(c, s, made, counts.back());
    make_room(c, s, made, counts);
    if (made.dense > 0) return;
    Var pos = made_weight(c, s, 0);
    c.f.store(pos, 1, ir::cast(pos.type.scalar, counts[0]));
  };
  std::vector<Expr> counts = count_and_fill(c, s, rooms, shares, walk, {made.count, room});
  close_gaps(c, s, made);
  finish_levels(c, s, made, counts);
}

// The arrays of the result that the loops fill.
std::vector<Var> filled_arrays(Context& c, const Scope& s, const MadeLevels& made) {
  std::vector<Var> out;
  for (size_t level = made.dense; level <= made.last(); level++) {
    if (level > 0) out.push_back(made_weight(c, s, level));
    for (const Var& array : made_arrays(c, s, level)) out.push_back(array);
  }
  out.push_back(c.vals_array(0));
  return out;
}

// Into a pattern that stands: rows tell where they begin.
bool can_keep_pattern(const Context& c, const MadeLevels& made) {
  return c.options.pattern == ResultPattern::Stands && made.dense > 0 && made.count == 1 && !is_for_gpu(c);
}

void fill_values(Context& c, const Scope& s, const Rooms& rooms, const ShareCount& shares) {
  c.kernel.keeps_pattern = true;
  walk_shares(c, s, rooms, shares, walk_in_place(c), [&](const Scope& inside, const Expr&, const Inside& loops) {
    Scope here = inside;
    here.assembling.cursors.push_back(c.f.variable("at1", ir::int64(0)));
    loops(here);
  });
}

void emit(Context& c) {
  Scope s = outermost(c);
  MadeLevels made = made_levels(c);
  bool in_shares = walks_in_shares(c);
  Rooms rooms = rooms_of_workspaces(c, s);
  if (can_keep_pattern(c, made)) return fill_values(c, s, rooms, count_shares(c, s));
  std::optional<std::vector<int>> bounding = bounding_tensors(c, made);
  auto defined = [&](const WalkPlaces& with) { return define_walk(c, s, rooms, with); };
  WalkPlaces places{.cursors = made.count, .arrays = filled_arrays(c, s, made), .counts = true};
  ShareCount shares = count_shares(c, s);
  // Threads of a GPU have no memory to fill parts in.
  if (!bounding || is_for_gpu(c)) return fill_counted(c, s, rooms, made, shares, defined(places));

  std::vector<Expr> most;
  for (const Expr& bound : bounds_of_levels(c, made, *bounding, [&](int tensor) {
         return Segment{ir::int64(0), made.dense == 1 ? c.dense_size(tensor, 0) : ir::int64(1)};
       }))
    most.push_back(c.f.constant(fmt::format("most{}", most.size() + 1), bound));
  std::optional<Expr> fits, alone;  // in the positions, whatever comes; one thread
  if (has_narrow_positions(c, s, made)) fits = most.back() <= c.options.largest_position;
  if (in_shares) alone = ir::equal(shares.count, 1);
  bool has_rows = made.dense == 1;
  places.counts = fits || (alone && !has_rows);
  places.parts = alone && has_rows;
  bool several = places.counts || places.parts;
  WalkLoops walk = several ? defined(places) : walk_in_place(c);
  auto when = [&](const std::optional<Expr>& condition, const auto& then, const auto& otherwise) {
    if (condition) c.f.when(*condition, then, otherwise);
    else then();
  };
  auto counted = [&] { fill_counted(c, s, rooms, made, shares, walk); };
  auto at_once = [&] { fill_at_once(c, s, rooms, made, most, walk); };
  auto in_parts = [&] { fill_in_parts(c, s, rooms, made, most, *bounding, walk); };
  if (has_rows)
    when(
        fits, [&] { when(alone, at_once, in_parts); }, counted);
  else when(fits && alone ? std::optional(*alone && *fits) : fits ? fits : alone, at_once, counted);
}

// Adds an entry at the cursor of the last level.
void add(Context& c, const Scope& s, const ElementValue& value) {
  const Var& cursor = s.assembling.cursors.back();
  when_filling(c, s, [&] {
    size_t last = c.lhs.tensor.order() - 1;
    if (!c.kernel.keeps_pattern)
      c.functions(0, last).append(made_level(c, s, last), cursor, s.values.at(storage_order(c.lhs)[last]));
    c.f.store(made_vals(c, s), cursor, taken_as(c.result_type(), value()));
  });
  c.f.increase(cursor, 1);
}

// Notes that what came to be below a position ends here. A part does not know where it begins: it says how much there is.
void close(Context& c, const Scope& s, size_t level, const Expr& position, const Expr& before, const Expr& below) {
  when_filling(c, s, [&] {
    Var pos = made_weight(c, s, level + 1);
    const Expr& in_part = s.assembling.in_part;
    c.f.store(pos, ir::select(in_part, position, position + 1),
              ir::cast(pos.type.scalar, ir::select(in_part, below - before, below)));
  });
}

Expr place_in_dense_levels(Context& c, const Scope& s, size_t level) {
  std::vector<IndexVar> vars = storage_order(c.lhs);
  Expr position = ir::int64(0);
  for (size_t k = 0; k <= level; k++) position = c.position_of(0, k, position, s.values.at(vars[k]));
  return position;
}

// Runs the inside of one coordinate of a level, then notes what came to be below it.
void within(Context& c, const Scope& s, const IndexVar& var, const Inside& fill) {
  std::vector<IndexVar> vars = storage_order(c.lhs);
  size_t level = size_t(std::find(vars.begin(), vars.end(), var) - vars.begin());
  size_t dense = leading_dense_levels(c.lhs.tensor.format());  // the cursors are those of the levels after them
  bool looking = s.assembling.cursors.empty();                 // for what of the loops is walked
  if (looking || level + 1 == vars.size() || level + 1 < dense) return fill(s);
  if (c.kernel.keeps_pattern) {
    Expr row = place_in_dense_levels(c, s, level);
    c.f.assign(s.assembling.cursors[0], ir::cast(ScalarType::Int64, ir::load(made_weight(c, s, level + 1), row)));
    return fill(s);
  }
  Expr below = s.assembling.cursors[level + 1 - dense];
  Var before = c.f.constant(c.name(var) + "_start", below);
  fill(s);
  if (level < dense) return close(c, s, level, place_in_dense_levels(c, s, level), before, below);
  c.f.when(below > before, [&] {
    const Var& cursor = s.assembling.cursors[level - dense];
    when_filling(c, s, [&] { c.functions(0, level).append(made_level(c, s, level), cursor, s.values.at(var)); });
    close(c, s, level, cursor, before, below);
    c.f.increase(cursor, 1);
  });
}

}  // namespace

const Strategy appended{
    .name = "appended", .assembly = Assembly::Appended, .suits = suits, .emit = emit, .add = add, .within = within};

}  // namespace spdistal::lower
