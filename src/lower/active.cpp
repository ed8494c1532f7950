// Where statements and expressions have an effect, as formulas over what is stored.
#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

Formula Lowerer::where_active(const Stmt& stmt, const std::set<int>& atoms) {
  return match(
      stmt, [&](const Forall& n) { return where_active(n.body, atoms); },
      [&](const Where& n) {
        Formula made = where_active(n.producer, atoms);
        each<Assign>(n.producer, [&](const Assign& a) { made_where_.insert_or_assign(a.lhs.tensor, made); });
        return where_active(n.consumer, atoms);
      },
      [&](const Assign& n) { return where_active(n.rhs, atoms); },
      [&](const Sequence& n) {
        Formula any = Formula::never();
        for (const Stmt& part : n.stmts) any = any | where_active(part, atoms);
        return any;
      });
}

Formula Lowerer::where_active(const notation::Expr& expr, const std::set<int>& atoms) {
  auto of = [&](const notation::Expr& e) { return where_active(e, atoms); };
  return match(
      expr,
      [&](const Access& n) {
        if (auto made = made_where_.find(n.tensor); made != made_where_.end()) return made->second;
        if (n.tensor.origin() == Origin::Temporary) {
          int atom = first_workspace_atom + int(std::distance(temporaries_.begin(), temporaries_.find(n.tensor)));
          return atoms.contains(atom) ? Formula::atom(atom) : Formula::always();
        }
        int operand = find_operand(n);
        return atoms.contains(operand) ? Formula::atom(operand) : Formula::always();
      },
      [&](const Literal& n) {
        bool zero = std::visit([](auto v) { return v == decltype(v){}; }, static_cast<const ScalarVariant&>(n.value));
        return zero ? Formula::never() : Formula::always();
      },
      [&](const Argument&) { return Formula::always(); }, [&](const Neg& n) { return of(n.a); },
      [&](const Binary& n) {
        switch (n.op) {
          case notation::BinaryOp::Mul: return of(n.a) & of(n.b);
          case notation::BinaryOp::Div: return of(n.a);
          default: return of(n.a) | of(n.b);
        }
      },
      [&](const Call& n) {
        switch (n.function) {
          case Function::Sqrt:
          case Function::Abs: return of(n.args[0]);
          case Function::Min:
          case Function::Max: return of(n.args[0]) | of(n.args[1]);
          default: return Formula::always();
        }
      },
      [&](const Sum& n) { return of(n.body); });
}

}  // namespace spdistal::lower
