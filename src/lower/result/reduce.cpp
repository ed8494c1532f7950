// Loops whose turns all come to the same elements.
#include "lower/divide/divide.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/operation.hpp"
#include "lower/result/elements.hpp"
#include "lower/result/strategy.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

Var declare_sum(Context& c) { return c.f.variable(c.operation == AssignOp::Add ? "sum" : "total", c.first_total()); }

// The loop comes to several elements: each of its turns adds to them.
void add_turn_by_turn(Context& c, const Scope& s, const ForallLoop& loop) {
  const Elements& e = s.elements;
  bool begins = has_places(c) && e.covered && !e.zeroed && !e.raced && !e.revisited && c.start == Start::Zero;
  Scope inside = begins ? with_rest_zeroed(c, s) : s;
  inside.elements.revisited = true;
  iterate(c, inside, loop);
}

// Each thread sums up its turns; one that cannot be divided among threads adds to the element turn by turn.
void add_by_threads(Context& c, const Scope& s, ForallLoop loop) {
  const Elements& e = s.elements;
  if (c.start == Start::Zero && !e.revisited)
    where_element_is(c, s,
                     [&] { store(c, c.vals_array(0), strategy_of(c).position(c, s), ir::literal(c.background)); });
  if (c.start == Start::Zero && (!e.covered || e.revisited)) c.kernel.fill_first = true;
  Scope inside = s;
  inside.elements.revisited = inside.elements.zeroed = true;
  loop.sums = Sums::InShares;
  iterate(c, inside, loop);
}

// An entry comes to be where any turn has something to add.
void add_entry(Context& c, const Scope& s, const ForallLoop& loop) {
  Scope inside = s;
  if (may_fill(s)) inside.elements.sum = declare_sum(c);
  Var any = c.f.variable("any", ir::literal(ir::Scalar::of(false)));
  inside.elements.any = any;
  inside.threads = Parallelism::Taken;  // the sum is one thread's
  iterate(c, inside, loop);
  c.f.when(any, [&] { strategy_of(c).add(c, s, [&] { return Expr(*inside.elements.sum); }); });
}

}  // namespace

Expr sum_of(Context& c, const Scope& s, const Inside& inside) {
  Scope with = s;
  Var sum = declare_sum(c);
  with.elements.sum = sum;
  with.threads = Parallelism::Taken;  // the sum is one thread's
  inside(with);
  return sum;
}

void add_sum_of_share(Context& c, const Scope& s, const Inside& walk) {
  Expr total = sum_of(c, s, walk);
  where_element_is(c, s,
                   [&] { store(c, c.vals_array(0), strategy_of(c).position(c, s), total, atomic_mode(c.operation)); });
}

void reduce(Context& c, const Scope& s, const ForallLoop& loop) {
  // Shares of a list may have entries for the same element each.
  bool complete_after = element_known(c, s) && c.kernel.assembly != Assembly::Listed;
  if (!complete_after) return add_turn_by_turn(c, s, loop);
  if (!has_places(c)) return add_entry(c, s, loop);
  if (can_run_in_parallel(c, s, loop.forall)) return add_by_threads(c, s, loop);
  Expr total = sum_of(c, s, [&](const Scope& inside) { iterate(c, inside, loop); });
  bool first = c.start == Start::Zero && !s.elements.revisited;
  where_element_is(c, s, [&] { write_element(c, s, total, first ? AssignOp::Set : c.operation); });
}

}  // namespace spdistal::lower
