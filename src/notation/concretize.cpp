#include "notation/concretize.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "notation/arithmetic.hpp"
#include "notation/check.hpp"

namespace spdistal::notation {
namespace {

// The variables of an access in storage order, each once. A coordinate that is given asks for no loop.
std::vector<IndexVar> storage_order(const Access& access) {
  std::vector<IndexVar> out;
  for (int dim : access.tensor.format().mode_order()) {
    std::optional<IndexVar> var = variable_of(access.indices[size_t(dim)]);
    if (var && std::find(out.begin(), out.end(), *var) == out.end()) out.push_back(*var);
  }
  return out;
}

// Which loops stand outside of which others.
class Nesting {
 public:
  /// Variables of dense tensors only do not stand between the levels of sparse ones, whose variables are given.
  explicit Nesting(const std::set<IndexVar>& in_sparse) : in_sparse_(in_sparse) {}

  /// Follows the levels of a tensor as far as those before it allow. Gives whether they all do.
  bool follow(const Access& access) {
    std::vector<IndexVar> vars = storage_order(access);
    bool all = true;
    for (size_t k = 0; k + 1 < vars.size(); k++) {
      if (in_sparse_.contains(vars[k + 1]) && !in_sparse_.contains(vars[k])) continue;
      bool free = !reaches(vars[k + 1], vars[k]);
      if (free) inside_[vars[k]].insert(vars[k + 1]);
      all &= free;
    }
    return all;
  }

  std::vector<IndexVar> order(std::vector<IndexVar> waiting) const {
    std::vector<IndexVar> out;
    while (!waiting.empty()) {
      auto first = std::find_if(waiting.begin(), waiting.end(), [&](const IndexVar& var) {
        return std::none_of(waiting.begin(), waiting.end(),
                            [&](const IndexVar& other) { return other != var && reaches(other, var); });
      });
      out.push_back(*first);
      waiting.erase(first);
    }
    return out;
  }

 private:
  bool reaches(const IndexVar& from, const IndexVar& to) const {
    if (from == to) return true;
    auto next = inside_.find(from);
    return next != inside_.end() &&
           std::any_of(next->second.begin(), next->second.end(), [&](const IndexVar& v) { return reaches(v, to); });
  }

  const std::set<IndexVar>& in_sparse_;
  std::map<IndexVar, std::set<IndexVar>> inside_;
};

// Are all loops over the result's variables outside of those that reduce?
bool sums_inside(const std::vector<IndexVar>& loops, const Access& result) {
  auto of_result = [&](const IndexVar& var) { return uses(result, var); };
  return std::is_partitioned(loops.begin(), loops.end(), of_result);
}

bool has_reduction(const Expr& expr) {
  bool found = false;
  each<Reduction>(expr, [&](const Reduction&) { found = true; });
  return found;
}

const Reduction* as_sum(const Expr& expr) {
  const Reduction* reduction = expr.as<Reduction>();
  return reduction && reduction->op == AssignOp::Add ? reduction : nullptr;
}

}  // namespace

Expr hoist_sums(const Expr& expr) {
  return rewrite(
      expr,
      [](const Neg& n) -> Expr {
        if (auto* sum = as_sum(n.a)) return Reduction{AssignOp::Add, sum->var, hoist_sums(Neg{sum->body})};
        return n;
      },
      [](const Binary& n) -> Expr {
        bool product = n.op == BinaryOp::Mul;
        bool quotient = n.op == BinaryOp::Div && !is_integral(type_of(n));
        if (auto* sum = as_sum(n.a); sum && (product || quotient))
          if (!uses(n.b, sum->var) && !has_reduction(n.b))
            return Reduction{AssignOp::Add, sum->var, hoist_sums(Binary{n.op, sum->body, n.b})};
        if (auto* sum = as_sum(n.b); sum && product)
          if (!uses(n.a, sum->var) && !has_reduction(n.a))
            return Reduction{AssignOp::Add, sum->var, hoist_sums(Binary{n.op, n.a, sum->body})};
        return n;
      });
}

namespace {

// Two reductions may use one variable; each loop has its own. Later ones get a new variable of the same name.
class ReductionRenamer {
 public:
  std::vector<std::pair<IndexVar, IndexVar>> renamed;  // new variable, the one it stands for

  Expr operator()(const Expr& expr) {
    if (auto* reduction = expr.as<Reduction>()) {
      Expr body = reduction->body;
      IndexVar var = reduction->var;
      if (!used_.insert(var).second) {
        IndexVar fresh(var.name());
        body = rename(body, {{var, fresh}});
        renamed.emplace_back(fresh, var);
        var = fresh;
        used_.insert(fresh);
      }
      return Reduction{reduction->op, var, (*this)(body)};
    }
    return map_children(expr, *this);
  }

 private:
  std::set<IndexVar> used_;
};

// A window is a variable without a loop, found from that of another.
void add_windows(Provenance& provenance, const Assignment& assignment) {
  auto look = [&](const Access& access) {
    for (size_t d = 0; d < access.indices.size(); d++) {
      const Window* window = access.indices[d].window();
      if (!window || provenance.root(access.indices[d])) continue;
      provenance.roots.push_back({access.indices[d], access.tensor.dims()[d]});
      provenance.relations.push_back(
          {.replaced = {{access.indices[d], coordinate_of(*window), Guard::Unneeded}}, .made = {}});
    }
  };
  look(assignment.lhs);
  each<Access>(assignment.rhs, look);
}

class Concretizer {
 public:
  Concretizer(std::vector<IndexVar> order) : order_(std::move(order)) {}

  // Loops over free, and over the reductions at the root of rhs, around lhs op rhs.
  Stmt nest(const Access& lhs, AssignOp op, Expr rhs, std::vector<IndexVar> free) {
    std::vector<IndexVar> loops = std::move(free);
    while (const Reduction* reduction = reduction_in_place(lhs, op, rhs)) {
      loops.push_back(reduction->var);
      op = reduction->op;
      Expr body = reduction->body;
      rhs = body;
    }
    std::vector<Stmt> producers;
    rhs = extract_value(lhs, op, rhs, producers);
    Stmt out = Assign{lhs, op, rhs};
    for (auto producer = producers.rbegin(); producer != producers.rend(); ++producer) out = Where{out, *producer};
    std::stable_sort(loops.begin(), loops.end(),
                     [&](const IndexVar& a, const IndexVar& b) { return rank(a) < rank(b); });
    for (auto var = loops.rbegin(); var != loops.rend(); ++var) out = Forall{*var, out};
    return out;
  }

 private:
  // The reduction at the root of what is assigned, where its values can meet those of the left side one by one.
  static const Reduction* reduction_in_place(const Access& lhs, AssignOp op, const Expr& rhs) {
    const Reduction* reduction = rhs.as<Reduction>();
    if (!reduction || (op != AssignOp::Set && op != reduction->op)) return nullptr;
    const TensorVar& result = lhs.tensor;
    if (!reduces_in_place(reduction->op, result.type(), type_of(rhs))) return nullptr;
    Scalar begins = convert(identity(reduction->op, type_of(rhs)), result.type());
    // Beside a diagonal elements hold the fill value, whatever a reduction begins with.
    bool begins_anew = op == AssignOp::Set && is_diagonal(lhs) && !same_number(begins, result.fill());
    return begins_anew ? nullptr : reduction;
  }
  // Replaces the outermost reductions inside expr by scalars that producers compute.
  Expr extract(const Expr& expr, std::vector<Stmt>& producers) {
    if (expr.is<Reduction>()) return extracted(expr, type_of(expr), producers);
    return map_children(expr, [&](const Expr& child) { return extract(child, producers); });
  }
  // So does a value that lhs takes by op; what it takes as it is, or on top of what is there, is put together in its type, too.
  Expr extract_value(const Access& lhs, AssignOp op, const Expr& rhs, std::vector<Stmt>& producers) {
    auto total = [&](const Expr& value, AssignOp by) -> std::optional<Expr> {
      const Reduction* reduction = value.as<Reduction>();
      if (!reduction || (by != AssignOp::Set && by != reduction->op)) return {};
      return extracted(value, type_of_total(reduction->op, type_of(reduction->body), lhs.tensor.type()), producers);
    };
    if (std::optional<Expr> value = total(rhs, op)) return *value;
    if (auto* n = rhs.as<Binary>(); n && op == AssignOp::Set && structurally_equal(n->a, Expr(lhs)))
      if (n->op == BinaryOp::Add || n->op == BinaryOp::Mul)
        if (auto value = total(n->b, n->op == BinaryOp::Add ? AssignOp::Add : AssignOp::Mul))
          return Binary{n->op, n->a, *value};
    return extract(rhs, producers);
  }
  // A scalar of a type, and the loops that compute it.
  Expr extracted(const Expr& reduction, ScalarType type, std::vector<Stmt>& producers) {
    AssignOp op = reduction.as<Reduction>()->op;
    TensorVar scalar({Symbol("t"), type, {}, Format().filled(identity(op, type)), Origin::Temporary});
    producers.push_back(nest(Access{scalar, {}}, op, reduction, {}));
    return Access{scalar, {}};
  }
  size_t rank(const IndexVar& var) const {
    return size_t(std::find(order_.begin(), order_.end(), var) - order_.begin());
  }

  std::vector<IndexVar> order_;
};

}  // namespace

std::vector<IndexVar> loop_order(const Assignment& assignment) {
  const Access& result = assignment.lhs;
  bool sparse_result = !result.tensor.format().is_dense();
  std::vector<Access> sparse, dense;
  if (!sparse_result) dense.push_back(result);
  each<Access>(assignment.rhs,
               [&](const Access& access) { (access.tensor.format().is_dense() ? dense : sparse).push_back(access); });
  std::set<IndexVar> in_sparse;
  auto are_in_sparse = [&](const std::vector<IndexVar>& vars) { in_sparse.insert(vars.begin(), vars.end()); };
  if (sparse_result) are_in_sparse(variables(result));
  for (const Access& access : sparse) are_in_sparse(variables(access));

  Nesting by_result(in_sparse), by_operands(in_sparse);
  if (sparse_result) by_result.follow(result);
  bool agree = true;
  for (const Access& access : sparse) by_result.follow(access), agree &= by_operands.follow(access);
  if (sparse_result) by_operands.follow(result);
  for (const Access& access : dense) by_result.follow(access), by_operands.follow(access);
  // Elements that come whole find their places in any order: the result gives way to operands that agree on one.
  std::vector<IndexVar> all = variables(assignment), out = by_operands.order(all);
  return agree && sums_inside(out, result) ? out : by_result.order(all);
}

bool reduces_in_place(AssignOp op, ScalarType result, ScalarType value) {
  switch (op) {
    case AssignOp::Or:
    case AssignOp::And: return result == ScalarType::Bool;
    case AssignOp::Min:
    case AssignOp::Max: return !is_integral(result) || result == reduced_type(op, value);
    default: return !is_integral(result) || (is_integral(value) && result != ScalarType::Bool);
  }
}

Assignment with_open_windows(const Assignment& assignment) {
  std::set<IndexVar> open;
  for (const IndexVar& index : windows(assignment))
    if (const Window* window = index.window(); window->of && !window->end) open.insert(*window->of);
  if (open.empty()) return assignment;
  std::map<IndexVar, Extent> extents = infer_extents(assignment).value();
  Assignment out = assignment;
  out.rhs = rewrite(assignment.rhs, [&](const Access& access) -> Expr {
    Access opened = access;
    for (size_t d = 0; d < opened.indices.size(); d++)
      if (IndexVar& index = opened.indices[d];
          !index.window() && open.contains(index) && !(access.tensor.dims()[d] == extents.at(index)))
        index = Window{index, 0, 1}.over(index);
    return opened;
  });
  return out;
}

Result<ConcreteStatement> concretize(const Assignment& assignment) {
  Result<std::map<IndexVar, Extent>> extents = infer_extents(assignment);
  if (!extents) return extents.refusal();

  Assignment summed = with_reductions(with_open_windows(assignment));
  ReductionRenamer unique;
  summed.rhs = hoist_sums(unique(summed.rhs));
  for (const auto& [fresh, old] : unique.renamed) (*extents).emplace(fresh, (*extents).at(old));

  std::vector<IndexVar> order = loop_order(summed);
  Stmt body = Concretizer(order).nest(summed.lhs, summed.op, summed.rhs, variables(summed.lhs));
  Provenance provenance;
  for (const IndexVar& var : order) provenance.roots.push_back({var, (*extents).at(var), std::nullopt});
  add_windows(provenance, summed);
  return ConcreteStatement{body, std::move(provenance), assignment.lhs.tensor,
                           assignment.op == AssignOp::Set ? Start::Zero : Start::Old};
}

}  // namespace spdistal::notation
