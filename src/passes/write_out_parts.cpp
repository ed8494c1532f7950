// write_out_parts: parts of a function that are defined stand wherever they are performed.
//
//   requires  nothing
//   ensures   there is no Define and no Perform
//
//   define add(x, a[])                   sum[0] += 2
//     a[0] += x
//   perform add(2, sum)            →
//
// Grids are functions of their own: what they perform is theirs.
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

Stmt performed(const Define& defined, const Perform& with) {
  Stmt copy = with_fresh_variables(defined);
  const Define& part = *copy.as<Define>();
  std::map<Symbol, Symbol> places;
  for (size_t k = 0; k < part.places.size(); k++) places.emplace(part.places[k].symbol, with.places[k].symbol);
  std::vector<Stmt> stmts;
  std::map<Symbol, Expr> literals;
  for (size_t k = 0; k < part.values.size(); k++) {
    if (constant(with.values[k])) literals.emplace(part.values[k].symbol, with.values[k]);
    else stmts.push_back(Declare{part.values[k], with.values[k], Mutability::Const});
  }
  stmts.push_back(renamed(substitute(part.body, literals), places));
  return Block{stmts};
}

}  // namespace

Function write_out_parts(const Function& f, const Target&) {
  std::map<Symbol, Define> parts;
  each<Define>(f.body, [&](const Define& n) { parts.emplace(n.name, n); });
  if (parts.empty()) return f;
  Stmt body = rewrite(
      f.body, [](const Define&) -> Stmt { return Block{}; },
      [&](const Perform& n) -> Stmt { return performed(parts.at(n.name), n); });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
