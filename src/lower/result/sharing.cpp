// The result stores what an operand stores: it shares the pattern of the operand, and the kernel writes values where this
// has them.
#include <algorithm>
#include <set>

#include "lower/active.hpp"
#include "lower/bind.hpp"
#include "lower/result/strategy.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

namespace {

// Does the operand store the levels of the result, each coordinate once?
bool has_pattern_of_result(const Context& c, const Access& access) {
  const Format& format = c.lhs.tensor.format();
  std::vector<IndexVar> theirs = storage_order(access), ours = storage_order(c.lhs);
  const std::vector<LevelFormat>& levels = access.tensor.format().levels();
  // A diagonal and a window are part of what is stored.
  bool distinct = std::set<IndexVar>(theirs.begin(), theirs.end()).size() == theirs.size() &&
                  std::none_of(theirs.begin(), theirs.end(), [](const IndexVar& index) { return index.window(); });
  bool same = distinct && ours.size() <= theirs.size() && std::equal(ours.begin(), ours.end(), theirs.begin()) &&
              std::equal(format.levels().begin(), format.levels().end(), levels.begin());
  if (!same || ours.size() == theirs.size()) return same;
  // A last level that repeats coordinates is not a pattern of its own. Below a dense level there may be nothing, which a
  // pattern of fewer levels would count as stored.
  return !begins_tuples(access.tensor.format(), ours.size() - 1) && !stores_all(kernel_functions(levels[ours.size()]));
}

// The right side is there exactly where one operand is, which stores the same levels.
bool suits(Context& c) {
  std::set<int> sparse;
  for (int k = 0; k < c.operands(); k++)
    if (!c.tensor_var(k + 1).format().is_dense()) sparse.insert(k);
  Formula where = where_active(c, outermost(c), c.statement.body, sparse);
  if (where.alternatives().size() != 1 || where.alternatives()[0].size() != 1) return false;
  int operand = *where.atoms().begin();
  if (!has_pattern_of_result(c, c.access(operand + 1))) return false;
  c.kernel.shared_tensor = operand + 1;
  c.kernel.shared_level = c.lhs.tensor.order() - 1;
  return true;
}

void emit(Context& c) {
  inside_outer_loops(c, outermost(c), [&](const Scope& s) {
    c.vals_array(0);
    // No loop comes to places where nothing is stored.
    bool visits_all = !c.on_pieces() && !leaves_places_empty(c.lhs.tensor.format());
    if (!visits_all && c.start == Start::Zero) c.kernel.fill_first = true;
    visit(c, s, c.statement.body);
  });
}

Expr position(Context& c, const Scope& s) { return s.access(c.kernel.shared_tensor - 1).path[c.kernel.shared_level]; }

std::optional<Expr> present(const Context& c, const Scope& s) { return s.access(c.kernel.shared_tensor - 1).present; }

}  // namespace

const Strategy sharing{.name = "sharing",
                       .assembly = Assembly::Shared,
                       .suits = suits,
                       .emit = emit,
                       .position = position,
                       .present = present};

}  // namespace spdistal::lower
