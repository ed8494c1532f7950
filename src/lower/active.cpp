#include "lower/active.hpp"

#include "notation/presence.hpp"

namespace spdistal::lower {

using namespace notation;

namespace {

// Formulas as an algebra of sets.
struct Activity {
  const Context& c;
  const Scope& s;
  const std::set<int>& atoms;
  MadeWhere made = {};

  Formula never() const { return Formula::never(); }
  Formula always() const { return Formula::always(); }
  Formula both(const Formula& a, const Formula& b) const { return a & b; }
  Formula either(const Formula& a, const Formula& b) const { return a | b; }
  Formula access(const Access& n) const {
    if (auto where = made.find(n.tensor); where != made.end()) return where->second;
    if (n.tensor.origin() != Origin::Temporary) return of_atom(c.find_operand(n));
    auto place = std::distance(s.temporaries.begin(), s.temporaries.find(n.tensor));
    return of_atom(first_workspace_atom + int(place));
  }
  Formula of_atom(int atom) const { return atoms.contains(atom) ? Formula::atom(atom) : Formula::always(); }

  Formula of(const Stmt& stmt) {
    return match(
        stmt, [&](const Forall& n) { return of(n.body); },
        [&](const Where& n) {
          Formula where = of(n.producer);
          each<Assign>(n.producer, [&](const Assign& a) { made.insert_or_assign(a.lhs.tensor, where); });
          return of(n.consumer);
        },
        [&](const Assign& n) { return PresenceOf(*this).other_than(n.rhs, neutral_of(n)); },
        [&](const Sequence& n) {
          Formula any = Formula::never();
          for (const Stmt& part : n.stmts) any = any | of(part);
          return any;
        });
  }
};

}  // namespace

Formula where_active(const Context& c, const Scope& s, const Stmt& stmt, const std::set<int>& atoms) {
  return Activity{c, s, atoms}.of(stmt);
}

Formula where_active(const Context& c, const Scope& s, const Assign& assign, const std::set<int>& atoms,
                     const MadeWhere& made) {
  return Activity{c, s, atoms, made}.of(Stmt(assign));
}

}  // namespace spdistal::lower
