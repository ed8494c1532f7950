#include "lower/result/shares.hpp"

#include "lower/bind.hpp"
#include "lower/divide/divide.hpp"
#include "lower/questions.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

namespace {

// A loop that cannot be divided is run whole by the first share.
void walk_share(Context& c, const Scope& s) {
  const Stmt& body = c.statement.body;
  if (body.is<Forall>()) return visit(c, s, body);
  Scope alone = s;
  alone.share.reset();
  c.f.when(ir::equal(s.share->number, 0), [&] { visit(c, alone, body); });
}

}  // namespace

bool walks_in_shares(const Context& c) {
  const Forall* outer = c.statement.body.as<Forall>();
  bool elements_apart = c.kernel.assembly == Assembly::Listed || (outer && !is_reduction(c, outer->var));
  return outer && elements_apart && may_run_in_parallel(c, *outer);
}

void walk_shares(Context& c, const Scope& s, const Rooms& rooms, const Expr& shares, const AroundShare& around) {
  Scope inside = s;
  inside.threads = Parallelism::Taken;  // shares are all the parallelism there is
  auto walk = [&](const Expr& t) {
    around(inside, t, [&](const Scope& here) {
      Scope with = here;
      with.share = WalkedShare{t, shares};
      inside_outer_loops(c, with, [&](const Scope& in) { walk_share(c, in); });
    });
  };
  each_share(c, shares, walk, [&] { inside = with_workspaces(c, inside, rooms); });
}

}  // namespace spdistal::lower
