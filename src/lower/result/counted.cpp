// Counts what there will be, makes room, fills: each phase walks the same loops, in shares of the outermost one.
#include <fmt/format.h>

#include "lower/result/shares.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

namespace {

Expr count_of(const Expr& share, size_t cursor, size_t cursors) { return share * int64_t(cursors) + int64_t(cursor); }

Expr truth(bool value) { return ir::literal(ir::Scalar::of(value)); }

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

std::vector<Expr> count_and_fill(Context& c, const Scope& s, const Rooms& rooms, const ShareCount& shares,
                                 const WalkLoops& walk, const Counted& counted) {
  size_t cursors = counted.cursors;
  Var counts = c.f.allocate("counts", ScalarType::Int64, shares.count * int64_t(cursors), ir::Fill::Uninitialised);
  auto with_cursors = [&](const Scope& inside, const std::function<Expr(size_t k)>& begin) {
    Scope out = inside;
    for (size_t k = 0; k < cursors; k++)
      out.assembling.cursors.push_back(c.f.variable(fmt::format("at{}", k + 1), begin(k)));
    return out;
  };
  Scope phase = s;
  c.f.comment("Count what there will be.");
  phase.assembling.fills = truth(false);
  walk_shares(c, phase, rooms, shares, walk, [&](const Scope& inside, const Expr& t, const Inside& loops) {
    Scope here = with_cursors(inside, [](size_t) { return ir::int64(0); });
    loops(here);
    for (size_t k = 0; k < cursors; k++) c.f.store(counts, count_of(t, k, cursors), here.assembling.cursors[k]);
  });
  c.f.comment("Make room.");
  std::vector<Expr> totals;
  for (size_t k = 0; k < cursors; k++) totals.push_back(add_up(c, counts, shares.count, k, cursors));
  counted.make_room(totals);
  c.f.comment("Fill it.");
  phase.assembling.fills = truth(true);
  walk_shares(c, phase, rooms, shares, walk, [&](const Scope& inside, const Expr& t, const Inside& loops) {
    loops(with_cursors(inside, [&](size_t k) { return ir::load(counts, count_of(t, k, cursors)); }));
  });
  return totals;
}

}  // namespace spdistal::lower
