#include "reference/evaluate.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "base/require.hpp"
#include "notation/concretize.hpp"
#include "notation/element.hpp"

namespace spdistal::reference {

using namespace notation;

namespace {

// The right side as functions, each made once for its part of the tree.
class Evaluator {
 public:
  Evaluator(const Assignment& assignment, const Arrays& arrays, OfNothing reductions)
      : arrays_(arrays),
        can_be_absent_(reductions == OfNothing::Absent),
        sums_(assignment.op == AssignOp::Set || assignment.op == AssignOp::Add) {
    measure(assignment.lhs);
    each<Access>(assignment.rhs, [&](const Access& access) { measure(access); });
    for (const IndexVar& var : variables(assignment.lhs)) left_.insert(var);
    count_uses(assignment.rhs, total_);
    each<Reduction>(assignment.rhs, [&](const Reduction& n) { explicit_.insert(n.var); });
    Expr rhs = hoist_sums(with_sums(assignment.rhs));
    // Another operation than a sum reduces the whole right side.
    if (!sums_)
      for (const auto& [var, uses] : total_)
        if (is_open(var)) rhs = Reduction{assignment.op, var, rhs};
    value = value_for(assignment.lhs, assignment.op, rhs);
  }

  int64_t size(const IndexVar& var) const { return variables_.at(var).size; }
  int64_t& current(const IndexVar& var) { return variables_.at(var).value; }
  /// Where an access is, for the values that variables have.
  std::function<std::vector<int64_t>()> place_of(const Access& access) {
    std::vector<Coordinate> places;
    for (const IndexVar& index : access.indices) places.push_back(coordinate_of(index));
    return [places] {
      std::vector<int64_t> out;
      for (const Coordinate& c : places) out.push_back(c.offset + (c.value ? c.stride * *c.value : 0));
      return out;
    };
  }

  std::function<EvaluatedElement()> value;

 private:
  using Formula = std::function<EvaluatedElement()>;
  using Uses = std::map<IndexVar, size_t>;
  struct Variable {
    int64_t size, value = 0;
  };
  struct Coordinate {
    int64_t offset, stride;
    const int64_t* value;  // null: the offset alone
  };

  Coordinate coordinate_of(const IndexVar& index) {
    const Window* window = index.window();
    if (!window) return {0, 1, &variables_.at(index).value};
    return {window->offset, window->stride, window->of ? &variables_.at(*window->of).value : nullptr};
  }
  // A variable has as many values as there is room for in all accesses.
  void measure(const Access& access) {
    for (size_t d = 0; d < access.indices.size(); d++) {
      const Window* window = access.indices[d].window();
      int64_t end = arrays_.at(access.tensor).dims[d], room = end;
      if (window) {
        require(window->of ? window->end.value_or(end) <= end : window->offset < end, "a window lies inside");
        if (!window->of) continue;
        end = window->end.value_or(end);
        room = 0;
        while (window->offset + room * window->stride < end) room++;
      }
      auto [known, fresh] = variables_.emplace(window ? *window->of : access.indices[d], Variable{room});
      known->second.size = std::min(known->second.size, room);
    }
  }
  static void count_uses(const Expr& expr, Uses& uses) {
    if (auto* access = expr.as<Access>())
      for (const IndexVar& index : access->indices)
        if (std::optional<IndexVar> var = variable_of(index)) uses[*var]++;
    children(expr, [&](const Expr& child) { count_uses(child, uses); });
  }
  static Uses uses_in(const Expr& expr) {
    Uses uses;
    count_uses(expr, uses);
    return uses;
  }
  bool held_by_child(const Expr& expr, const IndexVar& var) const {
    bool held = false;
    children(expr, [&](const Expr& child) {
      Uses uses = uses_in(child);
      held |= uses.contains(var) && uses.at(var) == total_.at(var);
    });
    return held;
  }

  // Every part with sums over the variables for which it is the smallest holder.
  Expr with_sums(const Expr& expr) const {
    Expr out = map_children(expr, [&](const Expr& child) { return with_sums(child); });
    for (const auto& [var, uses] : uses_in(expr))
      if (sums_ && is_open(var) && uses == total_.at(var) && !held_by_child(expr, var))
        out = Reduction{AssignOp::Add, var, out};
    return out;
  }
  // Is nothing said of what happens with its values?
  bool is_open(const IndexVar& var) const { return !left_.contains(var) && !explicit_.contains(var); }
  // What the result takes as it is, or on top of what it holds, is put together in its type, too.
  Formula value_for(const Access& lhs, AssignOp op, const Expr& rhs) {
    if (auto* n = rhs.as<Reduction>(); n && (op == AssignOp::Set || op == n->op))
      return reduced_over(n->var, n->op, type_of_total(n->op, type_of(n->body), lhs.tensor.type()),
                          value_for(lhs, n->op, n->body));
    if (auto* n = rhs.as<Binary>(); n && op == AssignOp::Set && structurally_equal(n->a, Expr(lhs)))
      if (n->op == BinaryOp::Add || n->op == BinaryOp::Mul)
        return binary(*n, formula(n->a), value_for(lhs, n->op == BinaryOp::Add ? AssignOp::Add : AssignOp::Mul, n->b));
    return formula(rhs);
  }
  Formula reduced_over(const IndexVar& var, AssignOp op, ScalarType type, Formula term) {
    return [&variable = variables_.at(var), op, term = std::move(term), type, can_be_absent = can_be_absent_] {
      EvaluatedElement total{identity(op, type), true};
      for (variable.value = 0; variable.value < variable.size; variable.value++) total = compute(op, total, term());
      total.absent &= can_be_absent;
      return total;
    };
  }
  static Formula binary(const Binary& n, Formula a, Formula b) {
    return [op = n.op, cancels = cancels(n), a = std::move(a), b = std::move(b)] {
      EvaluatedElement left = a(), right = b();
      return cancels ? EvaluatedElement{compute(op, left.value, right.value)} : compute(op, left, right);
    };
  }
  Formula formula(const Expr& expr) {
    return match(
        expr, [&](const Access& n) { return element_of(n); },
        [&](const Literal& n) -> Formula { return [element = notation::element_of(n)] { return element; }; },
        // A number of the host is a value, be it zero.
        [&](const Argument& n) -> Formula { return [element = EvaluatedElement{n.value}] { return element; }; },
        [&](const Neg& n) -> Formula { return [a = formula(n.a)] { return negate(a()); }; },
        [&](const Binary& n) -> Formula { return binary(n, formula(n.a), formula(n.b)); },
        [&](const Call& n) -> Formula {
          std::vector<Formula> args;
          for (const Expr& arg : n.args) args.push_back(formula(arg));
          return [function = n.function, domain = n.domain, args] {
            std::vector<EvaluatedElement> values;
            for (const Formula& arg : args) values.push_back(arg());
            return compute(function, domain, values);
          };
        },
        [&](const Reduction& n) { return reduced_over(n.var, n.op, type_of(expr), formula(n.body)); });
  }
  Formula element_of(const Access& access) {
    return [&array = arrays_.at(access.tensor), place = place_of(access)] {
      size_t position = array.position(place());
      return EvaluatedElement{array.values[position], !array.absent.empty() && array.absent[position]};
    };
  }

  const Arrays& arrays_;
  bool can_be_absent_;
  bool sums_;  // what nobody reduces is summed
  std::map<IndexVar, Variable> variables_;
  std::set<IndexVar> left_, explicit_;
  Uses total_;
};

}  // namespace

std::vector<bool> evaluate(const Assignment& assignment, Arrays& arrays, OfNothing reductions) {
  Evaluator evaluator(assignment, arrays, reductions);
  const DenseArray& old = arrays.at(assignment.lhs.tensor);
  // What lies outside of a window is not assigned to.
  bool anew = assignment.op == AssignOp::Set && !has_windows(assignment.lhs);
  DenseArray out = anew ? DenseArray(assignment.lhs.tensor.fill(), old.dims) : old;
  std::vector<bool> absent = std::move(out.absent);
  absent.resize(out.values.size(), anew);
  out.absent.clear();
  std::vector<IndexVar> free = variables(assignment.lhs);
  auto place = evaluator.place_of(assignment.lhs);
  std::function<void(size_t)> visit = [&](size_t next) {
    if (next < free.size()) {
      int64_t& value = evaluator.current(free[next]);
      for (value = 0; value < evaluator.size(free[next]); value++) visit(next + 1);
      return;
    }
    size_t position = out.position(place());
    EvaluatedElement element = evaluator.value();
    bool adds = assignment.op != AssignOp::Set;
    if (adds) element.value = notation::compute(assignment.op, out.values[position], element.value);
    out.values[position] = convert(element.value, out.type);
    absent[position] = element.absent && (!adds || absent[position]);
  };
  visit(0);
  arrays.at(assignment.lhs.tensor) = std::move(out);
  return absent;
}

}  // namespace spdistal::reference
