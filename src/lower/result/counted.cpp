// Counts what there will be, makes room, fills: each phase walks the same loops, in shares of the outermost one.
#include <fmt/format.h>

#include "lower/result/shares.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

namespace {

Expr count_of(const Expr& share, size_t cursor, size_t cursors) { return share * int64_t(cursors) + int64_t(cursor); }

void walk_phase(Context& c, const Scope& s, const Rooms& rooms, const Expr& shares, const Var& counts, size_t cursors) {
  walk_shares(c, s, rooms, shares, [&](const Scope& inside, const Expr& t, const Inside& walk) {
    bool fills = inside.assembling.phase == Phase::Fill;
    Scope here = inside;
    for (size_t k = 0; k < cursors; k++) {
      Expr begin = fills ? ir::load(counts, count_of(t, k, cursors)) : ir::int64(0);
      here.assembling.cursors.push_back(c.f.variable(fmt::format("at{}", k + 1), begin));
    }
    walk(here);
    for (size_t k = 0; k < cursors && !fills; k++)
      c.f.store(counts, count_of(t, k, cursors), here.assembling.cursors[k]);
  });
}

// Counts of shares become where each begins; gives how many there are of all.
Expr add_up(Context& c, const Var& counts, const Expr& shares, size_t cursor, size_t cursors) {
  Var total = c.f.variable(fmt::format("total{}", cursor + 1), ir::int64(0));
  c.f.loop("t", ir::int64(0), shares, [&](const Var& t) {
    Expr at = count_of(t, cursor, cursors);
    Var here = c.f.constant("here", ir::load(counts, at));
    c.f.store(counts, at, total);
    c.f.increase(total, here);
  });
  return total;
}

}  // namespace

std::vector<Expr> count_and_fill(Context& c, const Scope& s, const Rooms& rooms, const Expr& shares,
                                 const Counted& counted) {
  size_t cursors = counted.cursors;
  Var counts = c.f.allocate("counts", ScalarType::Int64, shares * int64_t(cursors), ir::Fill::Uninitialised);
  Scope phase = s;
  c.f.comment("Count what there will be.");
  phase.assembling.phase = Phase::Count;
  walk_phase(c, phase, rooms, shares, counts, cursors);
  c.f.comment("Make room.");
  std::vector<Expr> totals;
  for (size_t k = 0; k < cursors; k++) totals.push_back(add_up(c, counts, shares, k, cursors));
  counted.make_room(totals);
  c.f.comment("Fill it.");
  phase.assembling.phase = Phase::Fill;
  walk_phase(c, phase, rooms, shares, counts, cursors);
  return totals;
}

}  // namespace spdistal::lower
