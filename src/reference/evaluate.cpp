#include "reference/evaluate.hpp"

#include <functional>
#include <set>

#include "base/require.hpp"
#include "reference/arithmetic.hpp"

namespace spdistal::reference {

using namespace notation;

namespace {

class Evaluator {
 public:
  Evaluator(const Assignment& assignment, const Arrays& arrays) : arrays_(arrays) {
    measure(assignment.lhs);
    each<Access>(assignment.rhs, [&](const Access& access) { measure(access); });
    for (const IndexVar& var : assignment.lhs.indices) left_.insert(var);
    count_uses(assignment.rhs, total_);
    each<Sum>(assignment.rhs, [&](const Sum& sum) { explicit_.insert(sum.var); });
  }

  int64_t size(const IndexVar& var) const { return sizes_.at(var); }

  std::map<IndexVar, int64_t> values;

  // The value of expr, summed over the variables for which it is the smallest holder.
  Scalar value(const Expr& expr) {
    std::vector<IndexVar> here;
    for (const auto& [var, uses] : uses_in(expr))
      if (!left_.contains(var) && !explicit_.contains(var) && uses == total_.at(var) && !held_by_child(expr, var))
        here.push_back(var);
    return summed(expr, here, 0);
  }

 private:
  using Uses = std::map<IndexVar, size_t>;

  void measure(const Access& access) {
    for (size_t d = 0; d < access.indices.size(); d++) {
      int64_t n = arrays_.at(access.tensor).dims[d];
      auto [known, fresh] = sizes_.emplace(access.indices[d], n);
      require(fresh || known->second == n, "a variable has one size");
    }
  }
  static void count_uses(const Expr& expr, Uses& uses) {
    if (auto* access = expr.as<Access>())
      for (const IndexVar& var : access->indices) uses[var]++;
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

  Scalar summed(const Expr& expr, const std::vector<IndexVar>& vars, size_t next) {
    if (next == vars.size()) return plain(expr);
    return sum_over(vars[next], type_of(expr), [&] { return summed(expr, vars, next + 1); });
  }
  Scalar sum_over(const IndexVar& var, ScalarType type, const std::function<Scalar()>& term) {
    Scalar total = zero(promote(type, ScalarType::Int32));
    for (int64_t v = 0; v < size(var); v++) {
      values[var] = v;
      total = compute(BinaryOp::Add, total, term());
    }
    values.erase(var);
    return total;
  }
  Scalar plain(const Expr& expr) {
    return match(
        expr,
        [&](const Access& n) {
          std::vector<int64_t> at;
          for (const IndexVar& var : n.indices) at.push_back(values.at(var));
          return arrays_.at(n.tensor).at(at);
        },
        [&](const Literal& n) { return n.value; }, [&](const Argument& n) { return n.value; },
        [&](const Neg& n) { return negate(value(n.a)); },
        [&](const Binary& n) {
          Scalar a = value(n.a);
          return compute(n.op, a, value(n.b));
        },
        [&](const Call& n) {
          std::vector<Scalar> args;
          for (const Expr& arg : n.args) args.push_back(value(arg));
          return compute(n.function, args);
        },
        [&](const Sum& n) { return sum_over(n.var, type_of(n.body), [&] { return value(n.body); }); });
  }

  const Arrays& arrays_;
  std::map<IndexVar, int64_t> sizes_;
  std::set<IndexVar> left_, explicit_;
  Uses total_;
};

}  // namespace

void evaluate(const Assignment& assignment, Arrays& arrays) {
  Evaluator evaluator(assignment, arrays);
  const Array& old = arrays.at(assignment.lhs.tensor);
  Array out = assignment.op == AssignOp::Set ? Array(old.type, old.dims) : old;
  std::vector<IndexVar> free;
  for (const IndexVar& var : assignment.lhs.indices)
    if (std::find(free.begin(), free.end(), var) == free.end()) free.push_back(var);
  std::function<void(size_t)> visit = [&](size_t next) {
    if (next < free.size()) {
      for (int64_t v = 0; v < evaluator.size(free[next]); v++) {
        evaluator.values[free[next]] = v;
        visit(next + 1);
      }
      return;
    }
    std::vector<int64_t> at;
    for (const IndexVar& var : assignment.lhs.indices) at.push_back(evaluator.values.at(var));
    Scalar value = evaluator.value(assignment.rhs);
    if (assignment.op == AssignOp::Add) value = compute(BinaryOp::Add, out.at(at), value);
    out.at(at) = convert(value, out.type);
  };
  visit(0);
  arrays.at(assignment.lhs.tensor) = std::move(out);
}

}  // namespace spdistal::reference
