#include "lower/result/levels.hpp"

#include <set>

#include "lower/questions.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// Do loops come to the coordinates of levels that keep them in order in that order, whatever they walk?
bool comes_in_order(const Context& c) {
  std::vector<IndexVar> ours = storage_order(c.lhs);
  std::set<IndexVar> made;
  for (size_t level = 0; level < ours.size(); level++)
    if (c.functions(0, level).append && c.functions(0, level).seek) made.insert(ours[level]);
  for (int tensor = 1; tensor <= c.operands(); tensor++) {
    std::vector<IndexVar> theirs = storage_order(c.access(tensor));
    for (size_t level = 0; level < theirs.size(); level++) {
      const KernelFunctions& walked = c.functions(tensor, level);
      std::optional<IndexVar> var = variable_of(theirs[level]);
      if (var && made.contains(*var) && !stores_all(walked) && !walked.seek) return false;
    }
  }
  return true;
}

}  // namespace

MadeLevels made_levels(Context& c) {
  const Format& format = c.lhs.tensor.format();
  MadeLevels made{.dense = leading_dense_levels(format)};
  made.count = format.order() - made.dense;
  for (size_t level = 0; level < made.dense; level++) made.gaps |= !c.is_whole(0, level);
  // Where loops around come to nothing, no place is.
  made.gaps |= made.dense > 0 && outer_may_lie_beyond(c);
  return made;
}

bool can_be_made(const Context& c) {
  const Format& format = c.lhs.tensor.format();
  for (size_t level = leading_dense_levels(format); level < format.order(); level++)
    if (!c.functions(0, level).append) return false;
  return comes_in_order(c);
}

KernelLevel made_level(Context& c, const Scope& s, size_t level) {
  KernelParams& params = s.assembling.arrays ? static_cast<KernelParams&>(*s.assembling.arrays) : c;
  return {params, 0, level, c.level_name(0, level)};
}

Var made_weight(Context& c, const Scope& s, size_t level) {
  return c.functions(0, level).weight(made_level(c, s, level));
}

std::vector<Var> made_arrays(Context& c, const Scope& s, size_t level) {
  return c.functions(0, level).appended(made_level(c, s, level));
}

Var made_vals(Context& c, const Scope& s) {
  return s.assembling.arrays ? s.assembling.arrays->stand_in(c.vals_array(0)) : c.vals_array(0);
}

Expr places_of(Context& c, const MadeLevels& made) {
  Expr places = ir::int64(1);
  for (size_t level = 0; level < made.dense; level++) places = places * c.dense_size(0, level);
  return places;
}

void make_room(Context& c, const Scope& s, const MadeLevels& made, const std::vector<Expr>& counts) {
  Expr parents = places_of(c, made);
  for (size_t k = 0; k < made.count; k++) {
    Var pos = made_weight(c, s, made.dense + k);
    c.f.resize(pos, parents + 1);
    if (k == 0 && made.gaps) c.f.loop("p", ir::int64(0), parents + 1, [&](const Var& p) { c.f.store(pos, p, 0); });
    else c.f.store(pos, 0, 0);
    for (const Var& array : made_arrays(c, s, made.dense + k)) c.f.resize(array, counts[k]);
    parents = counts[k];
  }
  c.f.resize(c.vals_array(0), counts.back());
}

void close_gaps(Context& c, const Scope& s, const MadeLevels& made) {
  if (!made.gaps) return;
  Var pos = made_weight(c, s, made.dense);
  c.f.loop("p", ir::int64(0), places_of(c, made),
           [&](const Var& p) { c.f.store(pos, Expr(p) + 1, ir::max(ir::load(pos, p), ir::load(pos, Expr(p) + 1))); });
}

void finish_levels(Context& c, const Scope& s, const MadeLevels& made, const std::vector<Expr>& counts) {
  Expr parents = places_of(c, made);
  for (size_t k = 0; k < made.count; k++) {
    size_t level = made.dense + k;
    if (c.functions(0, level).finish) c.functions(0, level).finish(made_level(c, s, level), parents, counts[k]);
    parents = counts[k];
  }
}

bool has_narrow_positions(Context& c, const Scope& s, const MadeLevels& made) {
  return made_weight(c, s, made.dense).type.scalar == ScalarType::Int32;
}

void leave_where_too_many(Context& c, const Scope& s, const MadeLevels& made, const Expr& total) {
  if (!has_narrow_positions(c, s, made)) return;
  c.f.when(total > c.options.largest_position, [&] {
    c.f.comment("Too many for positions of 32 bits: a kernel with wider ones is run instead.");
    c.f.leave(1);
  });
}

}  // namespace spdistal::lower
