#include "lower/workspace.hpp"

#include <algorithm>

#include "format/questions.hpp"
#include "level/kernel.hpp"
#include "notation/arithmetic.hpp"

namespace spdistal::lower {

using namespace notation;

ConcreteStatement insert_workspace(const ConcreteStatement& statement, const std::vector<IndexVar>& known) {
  std::vector<Forall> loops = outer_loops(statement.body);
  const Assign* assign = loops.empty() ? nullptr : loops.back().body.as<Assign>();
  const Format& format = statement.result.format();
  // Only levels whose positions are handed out one after the other want their coordinates in order.
  if (!assign || format.order() == 0 || !kernel_functions(format.levels().back()).weight) return statement;
  std::vector<IndexVar> wanted;
  for (int dim : format.mode_order()) wanted.push_back(assign->lhs.indices[size_t(dim)]);
  size_t outer = wanted.size() - 1;
  const IndexVar& last = wanted.back();
  auto over = [&](const Forall& loop) { return statement.provenance.ranges_over(loop.var, known); };
  auto is_root = [&](const Forall& loop) { return statement.provenance.root(over(loop)) != nullptr; };
  bool in_order = loops.size() > wanted.size() && std::all_of(loops.begin(), loops.end(), is_root) &&
                  std::equal(wanted.begin(), wanted.begin() + long(outer), loops.begin(),
                             [&](const IndexVar& var, const Forall& loop) { return var == over(loop); });
  // The first of the remaining loops sums; the last dimension is visited again in each of its turns.
  bool scatters = in_order && assign->op != AssignOp::Set && over(loops[outer]) != last &&
                  std::count(assign->lhs.indices.begin(), assign->lhs.indices.end(), last) == 1;
  if (!scatters) return statement;

  ConcreteStatement out = statement;
  IndexVar read(last.name().empty() ? "" : last.name() + "w");
  Pieces size = statement.provenance.root(last)->size;
  out.provenance.roots.push_back({read, size});
  ScalarType type = type_of_total(assign->op, type_of(assign->rhs), assign->lhs.tensor.type());
  TensorVar workspace({Symbol("w"),
                       type,
                       {size.extent()},
                       Format({listing_level()}).filled(identity(assign->op, type)),
                       Origin::Temporary});
  Access element = assign->lhs;
  std::replace(element.indices.begin(), element.indices.end(), last, read);
  Stmt producer = Assign{Access{workspace, {last}}, assign->op, assign->rhs};
  for (size_t k = loops.size(); k-- > outer;) producer = Forall{loops[k].var, producer, loops[k].tags};
  Stmt body = Where{Forall{read, Assign{element, AssignOp::Set, Access{workspace, {read}}}}, producer};
  for (size_t k = outer; k-- > 0;) body = Forall{loops[k].var, body, loops[k].tags};
  out.body = body;
  return out;
}

}  // namespace spdistal::lower
