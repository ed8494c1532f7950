#include "lower/visit.hpp"

#include "lower/iterate/pattern.hpp"
#include "lower/questions.hpp"
#include "lower/result/elements.hpp"
#include "lower/temporaries.hpp"

namespace spdistal::lower {

using namespace notation;

namespace {

void visit_loop(Context& c, const Scope& s, const Forall& forall) {
  ForallLoop loop = loop_of(c, s, forall);
  bool holds = holds_result(c, forall.body), inside_sum = s.elements.sum || s.elements.any;
  if (holds && is_reduction(c, forall.var) && !inside_sum) return reduce(c, s, loop);
  Scope here = s;
  here.elements.revisited |= holds && revisits(c, forall.var);
  iterate(c, here, loop);
}

}  // namespace

void visit(Context& c, const Scope& s, const Stmt& stmt) {
  match(
      stmt, [&](const Forall& n) { visit_loop(c, s, n); }, [&](const Where& n) { visit_where(c, s, n); },
      [&](const Assign& n) {
        if (n.lhs.tensor == c.lhs.tensor) write_result(c, s, n);
        else write_temporary(c, s, n);
      },
      [&](const Sequence& n) {
        for (const Stmt& part : n.stmts) visit(c, s, part);
      });
}

}  // namespace spdistal::lower
