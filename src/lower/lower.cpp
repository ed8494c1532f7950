// What kind of result a statement has, and the frame of its kernel.
#include "lower/lower.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

Access find_lhs(const ConcreteStatement& statement) {
  std::optional<Access> lhs;
  each<Assign>(statement.body, [&](const Assign& a) {
    if (a.lhs.tensor == statement.result) lhs = a.lhs;
  });
  require(lhs.has_value(), "a statement writes its result");
  return *lhs;
}

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

Lowerer::Lowerer(const ConcreteStatement& statement, const Options& options)
    : statement_(statement),
      provenance_(statement.provenance),
      options_(options),
      start_(options.start.value_or(statement.start)),
      lhs_(find_lhs(statement)),
      kernel_{{"kernel", {}, ir::block({})},
              statement.result,
              Assembly::Dense,
              0,
              0,
              operands_of(statement),
              false,
              {},
              {},
              {}} {
  print_(statement);
  states_.resize(kernel_.operands.size());
}

std::vector<Access> operands_of(const ConcreteStatement& statement) {
  std::vector<Access> out;
  auto add = [&](const Access& access) {
    if (access.tensor.origin() == Origin::Temporary) return;
    for (const Access& known : out)
      if (structurally_equal(known, access)) return;
    out.push_back(access);
  };
  each<Assign>(statement.body, [&](const Assign& assign) { each<Access>(assign.rhs, add); });
  // A loop may walk the positions of a tensor whose values go through a workspace.
  for (const Relation& relation : statement.provenance.relations)
    for (const Replaced& r : relation.replaced)
      if (auto* stored = r.value.as<StoredCoordinate>()) add(stored->levels.access);
  return out;
}

std::vector<Forall> Lowerer::loops_to_result() const {
  std::vector<Forall> path;
  add_loops_to_result(statement_.body, path);
  return path;
}

// Do the loops visit the result's coordinates in storage order, each once, with sums inside?
bool Lowerer::loops_follow_result() const {
  std::vector<IndexVar> wanted = storage_order(lhs_);
  if (std::set<IndexVar>(wanted.begin(), wanted.end()).size() != wanted.size()) return false;
  size_t next = 0;
  for (const Forall& loop : loops_to_result()) {
    IndexVar var = provenance_.ranges_over(loop.var, options_.outer);
    if (provenance_.root(var) == nullptr) return false;
    if (next < wanted.size() && var == wanted[next]) next++;
    else if (next < wanted.size()) return false;
  }
  return next == wanted.size();
}

// Do loops come to the coordinates of levels that keep them in order in that order, whatever they walk?
bool Lowerer::comes_in_order() const {
  std::vector<IndexVar> ours = storage_order(lhs_);
  std::set<IndexVar> made;
  for (size_t level = 0; level < ours.size(); level++)
    if (functions(0, level).append && functions(0, level).seek) made.insert(ours[level]);
  for (int k = 0; k < int(states_.size()); k++) {
    std::vector<IndexVar> theirs = storage_order(kernel_.operands[size_t(k)]);
    for (size_t level = 0; level < theirs.size(); level++)
      if (made.contains(theirs[level]) && !stores_all(functions(k + 1, level)) && !functions(k + 1, level).seek)
        return false;
  }
  return true;
}

void Lowerer::choose_assembly() {
  const Format& format = lhs_.tensor.format();
  if (format.is_dense()) return;
  // Shared: the right side is there exactly where one operand is, which stores the same levels.
  std::set<int> sparse;
  for (int k = 0; k < int(states_.size()); k++)
    if (!kernel_.operands[size_t(k)].tensor.format().is_dense()) sparse.insert(k);
  made_where_.clear();
  Formula where = where_active(statement_.body, sparse);
  made_where_.clear();
  if (where.alternatives().size() == 1 && where.alternatives()[0].size() == 1) {
    int k = *where.alternatives()[0].begin();
    const Access& access = kernel_.operands[size_t(k)];
    std::vector<IndexVar> theirs = storage_order(access), ours = storage_order(lhs_);
    const std::vector<LevelFormat>& levels = access.tensor.format().levels();
    bool distinct = std::set<IndexVar>(theirs.begin(), theirs.end()).size() == theirs.size();
    bool same = distinct && ours.size() <= theirs.size() && std::equal(ours.begin(), ours.end(), theirs.begin()) &&
                std::equal(format.levels().begin(), format.levels().end(), levels.begin());
    // A last level that repeats coordinates is not a pattern of its own.
    bool cut = ours.size() < theirs.size() && begins_tuples(access.tensor.format(), ours.size() - 1);
    // Below a dense level there may be nothing, which a pattern of fewer levels would count as stored.
    bool filled = ours.size() >= theirs.size() || !stores_all(kernel_functions(levels[ours.size()]));
    if (same && !cut && filled) {
      kernel_.assembly = Assembly::Shared;
      kernel_.shared_tensor = k + 1;
      kernel_.shared_level = ours.size() - 1;
      return;
    }
  }
  // Appended: dense levels, then those that are made position by position.
  bool simple = true;
  for (size_t level = leading_dense_levels(format); level < format.order(); level++)
    simple &= functions(0, level).append != nullptr;
  simple &= comes_in_order();
  kernel_.assembly = simple && loops_follow_result() ? Assembly::Appended
                     : simple && can_scatter()       ? Assembly::Scattered
                                                     : Assembly::Listed;
}

Kernel Lowerer::run() {
  choose_assembly();
  if (kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared)
    inside_outer_loops([&] {
      vals_array(0);
      visit_in_place();
    });
  else assemble();
  kernel_.function = f_.build();
  return std::move(kernel_);
}

// Writes elements that have their place. A piece of the result may have more of them than the loops come to.
void Lowerer::visit_in_place() {
  if (!on_pieces() || start_ == Start::Old) return visit(statement_.body);
  if (kernel_.assembly == Assembly::Shared) {
    kernel_.zero_first = true;
    return visit(statement_.body);
  }
  std::optional<Expr> covers = outer_may_lie_beyond() ? std::nullopt : covers_result();
  covering_ = covers.has_value();
  ir::Stmt body = f_.collect([&] { visit(statement_.body); });
  bool always = covers && ir::constant(*covers);
  if (covers && !always && !kernel_.zero_first) f_.when(!*covers, [&] { zero_all(); });
  f_.add(body);
}

Kernel lower(const ConcreteStatement& statement, const Options& options) { return Lowerer(statement, options).run(); }

}  // namespace spdistal::lower
