#include "lower/questions.hpp"

#include <algorithm>

namespace spdistal::lower {

using namespace notation;

namespace {

void add_loops_to_result(const Stmt& stmt, std::vector<Forall>& path) {
  match(
      stmt,
      [&](const Forall& n) {
        path.push_back(n);
        add_loops_to_result(n.body, path);
      },
      [&](const Where& n) { add_loops_to_result(n.consumer, path); }, [&](const Assign&) {},
      [&](const Sequence& n) {
        for (const Stmt& part : n.stmts) add_loops_to_result(part, path);
      });
}

}  // namespace

int assignments_of_result(const Context& c, const Stmt& stmt) {
  int count = 0;
  each<Assign>(stmt, [&](const Assign& a) { count += a.lhs.tensor == c.lhs.tensor; });
  return count;
}

bool is_for_gpu(const Context& c) {
  bool found = false;
  each<Forall>(c.statement.body,
               [&](const Forall& loop) { found |= loop.tags.parallel && loop.tags.parallel->unit >= Unit::GPUBlock; });
  return found;
}

bool holds_result(const Context& c, const Stmt& stmt) { return assignments_of_result(c, stmt) > 0; }

bool indexes_result(const Context& c, const IndexVar& var) {
  return std::find(c.lhs.indices.begin(), c.lhs.indices.end(), var) != c.lhs.indices.end();
}

bool is_reduction(const Context& c, const IndexVar& var) {
  std::vector<IndexVar> roots = c.provenance.roots_of(var);
  return std::none_of(roots.begin(), roots.end(), [&](const IndexVar& root) { return indexes_result(c, root); });
}

bool revisits(const Context& c, const IndexVar& var) {
  std::vector<IndexVar> roots = c.provenance.roots_of(var);
  return std::any_of(roots.begin(), roots.end(), [&](const IndexVar& root) { return !indexes_result(c, root); });
}

bool assigned_once(const Context& c) { return assignments_of_result(c, c.statement.body) == 1; }

std::vector<Forall> loops_to_result(const Context& c) {
  std::vector<Forall> path;
  add_loops_to_result(c.statement.body, path);
  return path;
}

bool depends_on_outer(const Context& c, const IndexVar& var) {
  return std::any_of(c.options.outer.begin(), c.options.outer.end(),
                     [&](const IndexVar& outer) { return c.provenance.depends(var, outer); });
}

bool outer_may_lie_beyond(const Context& c) {
  // At a position there may be nothing.
  auto skips = [](const Replaced& r) { return r.guard == Guard::Checked || r.value.is<StoredCoordinate>(); };
  for (const Relation& relation : c.provenance.relations)
    for (const Replaced& r : relation.replaced)
      if (skips(r) && c.provenance.determined(r.var, c.options.outer)) return true;
  return std::any_of(c.options.outer.begin(), c.options.outer.end(),
                     [&](const IndexVar& var) { return size_varies(c, var); });
}

bool size_varies(const Context& c, const IndexVar& var) { return !c.provenance.range_depends_on(var).empty(); }

bool visits_whole_range(const Context& c, const IndexVar& var) {
  const Root* root = c.provenance.root(var);
  if (!root || root->fixed || var.window() || depends_on_outer(c, var)) return false;
  for (const Relation& relation : c.provenance.relations)
    if (auto* stored = relation.replaced[0].value.as<StoredCoordinate>())
      for (size_t level = stored->levels.first; level <= stored->levels.last; level++)
        if (stored->levels.var(level) == var) return false;
  bool whole = true;
  auto look = [&](const Access& access) {
    std::vector<IndexVar> vars = storage_order(access);
    for (size_t level = 0; level < vars.size(); level++)
      if (variable_of(vars[level]) == var)
        whole &= stores_all(kernel_functions(access.tensor.format().levels()[level]));
  };
  each<Assign>(c.statement.body, [&](const Assign& assign) {
    if (assign.lhs.tensor != c.lhs.tensor) look(assign.lhs);
    each<Access>(assign.rhs, look);
  });
  return whole;
}

}  // namespace spdistal::lower
