#include "lower/result/shares.hpp"

#include "lower/divide/divide.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/questions.hpp"
#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

bool walks_in_shares(const Context& c) {
  const Forall* outer = c.statement.body.as<Forall>();
  bool elements_apart = c.kernel.assembly == Assembly::Listed || (outer && !is_reduction(c, outer->var));
  return outer && elements_apart && may_run_in_parallel(c, *outer);
}

namespace {

// Do coordinates that are given lead below the first level of an operand before any loop begins? What a loop walks is not known
// without them.
bool begins_inside(const Context& c) {
  for (int k = 0; k < c.operands(); k++)
    for (const IndexVar& index : c.access(k + 1).indices)
      if (!variable_of(index)) return true;
  return false;
}

}  // namespace

ShareCount count_shares(Context& c, const Scope& s) {
  const Forall* outer = c.statement.body.as<Forall>();
  if (!walks_in_shares(c)) return {ir::int64(1)};
  const Root* root = c.provenance.root(outer->var);
  bool plain = is_for_gpu(c) && root && !root->fixed && c.options.outer.empty() && !begins_inside(c) &&
               std::holds_alternative<RangePattern>(choose_pattern(c, s, *outer, outer->var));
  if (plain && !c.on_pieces()) return {size(c, s, outer->var), Grain::Turn};
  // A piece has the turns that the result has places for.
  bool placed =
      plain && c.lhs.tensor.order() > 0 && storage_order(c.lhs)[0] == outer->var && stores_all(c.functions(0, 0));
  return placed ? ShareCount{c.dense_size(0, 0), Grain::Turn} : ShareCount{c.f.shares()};
}

void walk_shares(Context& c, const Scope& s, const Rooms& rooms, const ShareCount& shares, const WalkLoops& walk,
                 const AroundShare& around) {
  Scope inside = s;
  inside.threads = Parallelism::Taken;  // shares are all the parallelism there is
  auto share = [&](const Expr& t) {
    around(inside, t, [&](const Scope& here) {
      Scope with = here;
      with.share = WalkedShare{t, shares.count, shares.grain};
      walk(with);
    });
  };
  each_share(c, shares.count, share, [&] { inside = with_workspaces(c, inside, rooms); });
}

}  // namespace spdistal::lower
