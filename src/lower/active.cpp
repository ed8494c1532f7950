#include "lower/active.hpp"

namespace spdistal::lower {

using namespace notation;

namespace {

struct Activity {
  const Context& c;
  const Scope& s;
  const std::set<int>& atoms;
  MadeWhere made = {};

  Formula of_atom(int atom) const { return atoms.contains(atom) ? Formula::atom(atom) : Formula::always(); }

  Formula of(const Stmt& stmt) {
    return match(
        stmt, [&](const Forall& n) { return of(n.body); },
        [&](const Where& n) {
          Formula where = of(n.producer);
          each<Assign>(n.producer, [&](const Assign& a) { made.insert_or_assign(a.lhs.tensor, where); });
          return of(n.consumer);
        },
        [&](const Assign& n) { return of(n.rhs); },
        [&](const Sequence& n) {
          Formula any = Formula::never();
          for (const Stmt& part : n.stmts) any = any | of(part);
          return any;
        });
  }

  Formula of(const notation::Expr& expr) const {
    return match(
        expr,
        [&](const Access& n) {
          if (auto where = made.find(n.tensor); where != made.end()) return where->second;
          if (n.tensor.origin() != Origin::Temporary) return of_atom(c.find_operand(n));
          auto place = std::distance(s.temporaries.begin(), s.temporaries.find(n.tensor));
          return of_atom(first_workspace_atom + int(place));
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
};

}  // namespace

Formula where_active(const Context& c, const Scope& s, const Stmt& stmt, const std::set<int>& atoms) {
  return Activity{c, s, atoms}.of(stmt);
}

Formula where_active(const Context& c, const Scope& s, const notation::Expr& expr, const std::set<int>& atoms,
                     const MadeWhere& made) {
  return Activity{c, s, atoms, made}.of(expr);
}

}  // namespace spdistal::lower
