#include "notation/index_notation.hpp"

#include <algorithm>

namespace spdistal::notation {
namespace {

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

void collect(std::vector<IndexVar>& out, const Expr& expr) {
  if (auto* access = expr.as<Access>())
    for (const IndexVar& var : access->indices) add_once(out, var);
  children(expr, [&](const Expr& child) { collect(out, child); });
}

// Is var bound by an explicit sum somewhere in expr?
bool summed(const Expr& expr, const IndexVar& var) {
  bool found = false;
  each<Sum>(expr, [&](const Sum& sum) { found |= sum.var == var; });
  return found;
}

// Wraps the smallest sub-expression that holds all uses of var.
Expr sum_smallest(const Expr& expr, const IndexVar& var) {
  std::optional<Expr> only;
  size_t using_children = 0;
  children(expr, [&](const Expr& child) {
    if (uses(child, var)) using_children++, only = child;
  });
  if (using_children != 1) return Sum{var, expr};
  Expr inner = sum_smallest(*only, var);
  // A sum over all of another sum's body goes around that one.
  if (auto* sum = inner.as<Sum>(); expr.is<Sum>() && sum && sum->var == var && sum->body.same_as(*only))
    return Sum{var, expr};
  return map_children(expr, [&](const Expr& child) { return uses(child, var) ? inner : child; });
}

}  // namespace

const std::vector<FunctionInfo>& functions() {
  static const std::vector<FunctionInfo> all = {{Function::Sqrt, "sqrt", 1, true}, {Function::Abs, "abs", 1, true},
                                                {Function::Exp, "exp", 1, false},  {Function::Log, "log", 1, false},
                                                {Function::Pow, "pow", 2, false},  {Function::Min, "min", 2, true},
                                                {Function::Max, "max", 2, true}};
  return all;
}

const FunctionInfo& info(Function function) { return functions()[size_t(function)]; }

bool is_zero(const Expr& expr) {
  return match(
      expr, [](const Access&) { return false; },
      [](const Literal& n) {
        return std::visit([](auto v) { return v == decltype(v){}; }, static_cast<const ScalarVariant&>(n.value));
      },
      [](const Argument&) { return false; }, [](const Neg& n) { return is_zero(n.a); },
      [](const Binary& n) {
        if (n.op == BinaryOp::Mul) return is_zero(n.a) || is_zero(n.b);
        return is_zero(n.a) && (n.op == BinaryOp::Div || is_zero(n.b));
      },
      [](const Call& n) { return info(n.function).keeps_zero && std::all_of(n.args.begin(), n.args.end(), is_zero); },
      [](const Sum& n) { return is_zero(n.body); });
}

ScalarType type_of(const Expr& expr) {
  auto real_of = [](ScalarType t) {
    return t == ScalarType::Complex64 ? ScalarType::Float32 : t == ScalarType::Complex128 ? ScalarType::Float64 : t;
  };
  auto floating = [](ScalarType t) { return is_integral(t) ? ScalarType::Float64 : t; };
  return match(
      expr, [](const Access& n) { return n.tensor.type(); }, [](const Literal& n) { return n.value.type(); },
      [](const Argument& n) { return n.value.type(); },
      [](const Neg& n) { return promote(type_of(n.a), ScalarType::Int32); },
      [](const Binary& n) { return promote(type_of(n.a), type_of(n.b)); },
      [&](const Call& n) {
        ScalarType type = type_of(n.args[0]);
        for (const Expr& arg : n.args) type = promote(type, type_of(arg));
        switch (n.function) {
          case Function::Abs: return real_of(type);
          case Function::Min:
          case Function::Max: return type;
          default: return floating(type);
        }
      },
      [](const Sum& n) { return promote(type_of(n.body), ScalarType::Int32); });
}

std::vector<IndexVar> variables(const Expr& expr) {
  std::vector<IndexVar> out;
  collect(out, expr);
  return out;
}

std::vector<IndexVar> variables(const Assignment& assignment) {
  std::vector<IndexVar> out;
  for (const IndexVar& var : assignment.lhs.indices) add_once(out, var);
  collect(out, assignment.rhs);
  return out;
}

std::vector<TensorVar> tensors(const Assignment& assignment) {
  std::vector<TensorVar> out{assignment.lhs.tensor};
  each<Access>(assignment.rhs, [&](const Access& access) { add_once(out, access.tensor); });
  return out;
}

bool uses(const Expr& expr, const IndexVar& var) {
  std::vector<IndexVar> vars = variables(expr);
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

Expr number_arguments(const Expr& expr) {
  size_t count = 0;
  return rewrite(expr, [&](const Argument& n) -> Expr { return Argument{n.value, ++count}; });
}

std::vector<Scalar> arguments(const Expr& expr) {
  std::vector<Scalar> out;
  each<Argument>(expr, [&](const Argument& n) {
    out.resize(std::max(out.size(), n.number));
    out[n.number - 1] = n.value;
  });
  return out;
}

Expr rename(const Expr& expr, const std::vector<std::pair<IndexVar, IndexVar>>& renaming) {
  auto renamed = [&](const IndexVar& var) {
    for (const auto& [from, to] : renaming)
      if (from == var) return to;
    return var;
  };
  return rewrite(
      expr,
      [&](const Access& n) -> Expr {
        Access out = n;
        for (IndexVar& var : out.indices) var = renamed(var);
        return out;
      },
      [&](const Sum& n) -> Expr {
        return Sum{renamed(n.var), n.body};
      });
}

Assignment with_sums(const Assignment& assignment) {
  Assignment out = assignment;
  const std::vector<IndexVar>& free = assignment.lhs.indices;
  std::vector<IndexVar> reduced = variables(assignment.rhs);
  // The last variable is summed innermost, so that sums over one sub-expression nest in the order of first use.
  for (auto var = reduced.rbegin(); var != reduced.rend(); ++var)
    if (std::find(free.begin(), free.end(), *var) == free.end() && !summed(out.rhs, *var))
      out.rhs = sum_smallest(out.rhs, *var);
  return out;
}

}  // namespace spdistal::notation
