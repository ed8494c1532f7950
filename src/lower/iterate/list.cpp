// What was touched of a workspace, in order.
#include "lower/bind.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/result/elements.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

void emit(Context& c, const Scope& s, const ForallLoop& loop, const ListPattern& pattern) {
  const Temporary& temporary = s.temporaries.at(pattern.workspace);
  std::string name = c.name(pattern.workspace);
  when_filling(c, s, [&] { c.f.sort(*temporary.list, 0, *temporary.count); });
  c.f.loop("p_" + name, ir::int64(0), *temporary.count, [&](const Var& p) {
    Var i = c.f.constant(c.name(loop.var), ir::cast(ScalarType::Int64, ir::load(*temporary.list, p)));
    bind_values(c, s, loop.body(), loop.at(i), [&](const Scope& inside) { visit(c, inside, loop.body()); });
    if (temporary.cleaned_by == loop.forall.var) c.f.store(*temporary.marks, i, ir::literal(ir::Scalar::of(false)));
  });
}

}  // namespace spdistal::lower
