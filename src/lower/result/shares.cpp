#include "lower/result/shares.hpp"

#include "lower/divide/divide.hpp"
#include "lower/questions.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

bool walks_in_shares(const Context& c) {
  const Forall* outer = c.statement.body.as<Forall>();
  bool elements_apart = c.kernel.assembly == Assembly::Listed || (outer && !is_reduction(c, outer->var));
  return outer && elements_apart && may_run_in_parallel(c, *outer);
}

void walk_shares(Context& c, const Scope& s, const Rooms& rooms, const Expr& shares, const WalkLoops& walk,
                 const AroundShare& around) {
  Scope inside = s;
  inside.threads = Parallelism::Taken;  // shares are all the parallelism there is
  auto share = [&](const Expr& t) {
    around(inside, t, [&](const Scope& here) {
      Scope with = here;
      with.share = WalkedShare{t, shares};
      walk(with);
    });
  };
  each_share(c, shares, share, [&] { inside = with_workspaces(c, inside, rooms); });
}

}  // namespace spdistal::lower
