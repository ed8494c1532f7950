// FoundValues and values in the order of the loops, whatever it is: whoever calls the kernel packs them.
#include <fmt/format.h>

#include "lower/bind.hpp"
#include "lower/operation.hpp"
#include "lower/result/elements.hpp"
#include "lower/result/levels.hpp"
#include "lower/result/shares.hpp"
#include "lower/result/strategy.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

namespace {

// FoundValues, by dimension.
Var list_array(Context& c, const Scope& s, size_t dim) {
  Var list = c.f.array(fmt::format("list{}", dim + 1), int(dim), ScalarType::Int64, ir::Access::Write);
  return s.assembling.arrays ? s.assembling.arrays->stand_in(list) : list;
}

void emit(Context& c) {
  Scope s = outermost(c);
  std::vector<Var> arrays;
  for (size_t d = 0; d < c.lhs.tensor.order(); d++) arrays.push_back(list_array(c, s, d));
  arrays.push_back(c.vals_array(0));
  Rooms rooms = rooms_of_workspaces(c, s);
  ShareCount shares = count_shares(c, s);
  WalkLoops walk = define_walk(c, s, rooms, {.cursors = 1, .arrays = arrays, .counts = true});
  count_and_fill(c, s, rooms, shares, walk, {1, [&](const std::vector<Expr>& counts) {
                                               for (const Var& array : arrays) c.f.resize(array, counts[0]);
                                             }});
}

void add(Context& c, const Scope& s, const ElementValue& value) {
  const Var& cursor = s.assembling.cursors.back();
  when_filling(c, s, [&] {
    for (size_t d = 0; d < c.lhs.tensor.order(); d++)
      c.f.store(list_array(c, s, d), cursor, s.values.at(c.lhs.indices[d]));
    c.f.store(made_vals(c, s), cursor, taken_as(c.result_type(), value()));
  });
  c.f.increase(cursor, 1);
}

}  // namespace

const Strategy listed{
    .name = "listed", .assembly = Assembly::Listed, .suits = [](Context&) { return true; }, .emit = emit, .add = add};

}  // namespace spdistal::lower
