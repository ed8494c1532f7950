// What was touched of a workspace, in order.
#include "lower/bind.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/temporaries.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

void emit(Context& c, const Scope& s, const ForallLoop& loop, const ListPattern& pattern) {
  const Temporary& temporary = s.temporaries.at(pattern.workspace);
  std::string name = c.name(pattern.workspace);
  bool fills = s.assembling.phase == Phase::Fill;
  if (fills) c.f.sort(*temporary.list, 0, *temporary.count);
  c.f.loop("p_" + name, ir::int64(0), *temporary.count, [&](const Var& p) {
    Var i = c.f.constant(c.name(loop.var), ir::cast(ScalarType::Int64, ir::load(*temporary.list, p)));
    Scope here = s;
    if (fills && temporary.hash) here.temporaries.at(pattern.workspace).slot = find_slot(c, temporary, name, i);
    bind_values(c, here, loop.body(), loop.at(i), [&](const Scope& inside) { visit(c, inside, loop.body()); });
    if (temporary.cleaned_by == loop.forall.var) c.f.store(*temporary.marks, i, ir::literal(ir::Scalar::of(false)));
  });
}

}  // namespace spdistal::lower
