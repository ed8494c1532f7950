// FoundValues and values in the order of the loops, whatever it is: whoever calls the kernel packs them.
#include <fmt/format.h>

#include "lower/bind.hpp"
#include "lower/result/shares.hpp"
#include "lower/result/strategy.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

namespace {

// FoundValues, by dimension.
Var list_array(Context& c, size_t dim) {
  return c.f.array(fmt::format("list{}", dim + 1), int(dim), ScalarType::Int64, ir::Access::Write);
}

void emit(Context& c) {
  size_t order = c.lhs.tensor.order();
  Scope s = outermost(c);
  for (size_t d = 0; d < order; d++) list_array(c, d);
  Rooms rooms = rooms_of_workspaces(c, s);
  Expr shares = walks_in_shares(c) ? Expr(c.f.shares()) : ir::int64(1);
  count_and_fill(c, s, rooms, shares, {1, [&](const std::vector<Expr>& counts) {
                                         for (size_t d = 0; d < order; d++) c.f.resize(list_array(c, d), counts[0]);
                                         c.f.resize(c.vals_array(0), counts[0]);
                                       }});
}

void add(Context& c, const Scope& s, const std::optional<Expr>& value) {
  const Var& cursor = s.assembling.cursors.back();
  if (s.assembling.phase == Phase::Fill) {
    for (size_t d = 0; d < c.lhs.tensor.order(); d++)
      c.f.store(list_array(c, d), cursor, s.values.at(c.lhs.indices[d]));
    c.f.store(c.vals_array(0), cursor, ir::cast(c.result_type(), *value));
  }
  c.f.increase(cursor, 1);
}

}  // namespace

const Strategy listed{
    .name = "listed", .assembly = Assembly::Listed, .suits = [](Context&) { return true; }, .emit = emit, .add = add};

}  // namespace spdistal::lower
