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
    for (const IndexVar& var : variables(*access)) add_once(out, var);
  children(expr, [&](const Expr& child) { collect(out, child); });
}

// Is var bound by an explicit reduction somewhere in expr?
bool reduced(const Expr& expr, const IndexVar& var) {
  bool found = false;
  each<Reduction>(expr, [&](const Reduction& n) { found |= n.var == var; });
  return found;
}

// Wraps the smallest sub-expression that holds all uses of var.
Expr sum_smallest(const Expr& expr, const IndexVar& var) {
  std::optional<Expr> only;
  size_t using_children = 0;
  children(expr, [&](const Expr& child) {
    if (uses(child, var)) using_children++, only = child;
  });
  if (using_children != 1) return Reduction{AssignOp::Add, var, expr};
  Expr inner = sum_smallest(*only, var);
  // A sum over all of another reduction's body goes around that one.
  if (auto* sum = inner.as<Reduction>(); expr.is<Reduction>() && sum && sum->var == var && sum->body.same_as(*only))
    return Reduction{AssignOp::Add, var, expr};
  return map_children(expr, [&](const Expr& child) { return uses(child, var) ? inner : child; });
}

ScalarType real_of(ScalarType type) {
  return type == ScalarType::Complex64    ? ScalarType::Float32
         : type == ScalarType::Complex128 ? ScalarType::Float64
                                          : type;
}

}  // namespace

const std::vector<FunctionInfo>& functions() {
  using enum FunctionInfo::Types;
  static const std::vector<FunctionInfo> all = {
      {Function::Sqrt, "sqrt", 1, Floating},   {Function::Cbrt, "cbrt", 1, Real},
      {Function::Abs, "abs", 1, Any},          {Function::Exp, "exp", 1, Floating},
      {Function::Expm1, "expm1", 1, Real},     {Function::Log, "log", 1, Floating},
      {Function::Log1p, "log1p", 1, Real},     {Function::Log2, "log2", 1, Real},
      {Function::Log10, "log10", 1, Real},     {Function::Pow, "pow", 2, Floating},
      {Function::Sin, "sin", 1, Floating},     {Function::Cos, "cos", 1, Floating},
      {Function::Tan, "tan", 1, Floating},     {Function::Asin, "asin", 1, Floating},
      {Function::Acos, "acos", 1, Floating},   {Function::Atan, "atan", 1, Floating},
      {Function::Atan2, "atan2", 2, Real},     {Function::Sinh, "sinh", 1, Floating},
      {Function::Cosh, "cosh", 1, Floating},   {Function::Tanh, "tanh", 1, Floating},
      {Function::Erf, "erf", 1, Real},         {Function::Floor, "floor", 1, Real},
      {Function::Ceil, "ceil", 1, Real},       {Function::Round, "round", 1, Real},
      {Function::Sigmoid, "sigmoid", 1, Real}, {Function::Min, "min", 2, Ordered},
      {Function::Max, "max", 2, Ordered},      {Function::Select, "select", 3, Choice}};
  return all;
}

const FunctionInfo& info(Function function) { return functions()[size_t(function)]; }

const std::vector<OperationInfo>& operations() {
  static const std::vector<OperationInfo> all = {
      {AssignOp::Set, "=", "", "set"},           {AssignOp::Add, "+=", "sum", "summed"},
      {AssignOp::Mul, "*=", "prod", "reduced"},  {AssignOp::Min, "min=", "min", "reduced"},
      {AssignOp::Max, "max=", "max", "reduced"}, {AssignOp::Or, "|=", "any", "reduced"},
      {AssignOp::And, "&=", "all", "reduced"}};
  return all;
}

const OperationInfo& info(AssignOp op) { return operations()[size_t(op)]; }

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Lt && op <= BinaryOp::Ne; }
bool is_logical(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or; }

ScalarType argument_type(Function function, ScalarType promoted) {
  switch (info(function).types) {
    case FunctionInfo::Types::Floating:
    case FunctionInfo::Types::Real: return is_integral(promoted) ? ScalarType::Float64 : promoted;
    default: return promoted;
  }
}

ScalarType reduced_type(AssignOp op, ScalarType value) {
  return op == AssignOp::Or || op == AssignOp::And ? ScalarType::Bool : promote(value, ScalarType::Int32);
}

ScalarType type_of(const Expr& expr) {
  return match(
      expr, [](const Access& n) { return n.tensor.type(); }, [](const Literal& n) { return n.value.type(); },
      [](const Argument& n) { return n.value.type(); },
      [](const Neg& n) { return promote(type_of(n.a), ScalarType::Int32); },
      [](const Binary& n) {
        if (is_comparison(n.op) || is_logical(n.op)) return ScalarType::Bool;
        return promote(type_of(n.a), type_of(n.b));
      },
      [](const Call& n) {
        if (n.function == Function::Select) {
          ScalarType yes = type_of(n.args[1]), no = type_of(n.args[2]);
          return yes == no ? yes : promote(yes, no);
        }
        ScalarType type = type_of(n.args[0]);
        for (const Expr& arg : n.args) type = promote(type, type_of(arg));
        type = argument_type(n.function, type);
        ScalarType given = n.function == Function::Abs ? real_of(type) : type;
        return n.domain == Domain::Stored ? promote(given, type_of(n.args[0])) : given;
      },
      [](const Reduction& n) { return reduced_type(n.op, type_of(n.body)); });
}

std::optional<IndexVar> variable_of(const IndexVar& index) { return index.window() ? index.window()->of : index; }

std::vector<IndexVar> variables(const Access& access) {
  std::vector<IndexVar> out;
  for (const IndexVar& index : access.indices)
    if (std::optional<IndexVar> var = variable_of(index)) add_once(out, *var);
  return out;
}

std::vector<IndexVar> variables(const Expr& expr) {
  std::vector<IndexVar> out;
  collect(out, expr);
  return out;
}

std::vector<IndexVar> variables(const Assignment& assignment) {
  std::vector<IndexVar> out = variables(assignment.lhs);
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

bool uses(const Access& access, const IndexVar& var) {
  std::vector<IndexVar> vars = variables(access);
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

bool has_windows(const Access& access) {
  return std::any_of(access.indices.begin(), access.indices.end(), [](const IndexVar& i) { return i.window(); });
}

std::vector<IndexVar> windows(const Assignment& assignment) {
  std::vector<IndexVar> out;
  auto look = [&](const Access& access) {
    for (const IndexVar& index : access.indices)
      if (index.window()) add_once(out, index);
  };
  look(assignment.lhs);
  each<Access>(assignment.rhs, look);
  return out;
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
  // A window that is not named itself is that of another variable.
  auto renamed_index = [&](const IndexVar& index) {
    if (!index.window() || !index.window()->of) return renamed(index);
    for (const auto& [from, to] : renaming)
      if (from.window() && from == index) return to;
    return index.window()->over(renamed(*index.window()->of));
  };
  return rewrite(
      expr,
      [&](const Access& n) -> Expr {
        Access out = n;
        for (IndexVar& index : out.indices) index = renamed_index(index);
        return out;
      },
      [&](const Reduction& n) -> Expr {
        return Reduction{n.op, renamed(n.var), n.body};
      });
}

Assignment with_reductions(const Assignment& assignment) {
  Assignment out = assignment;
  std::vector<IndexVar> free = variables(assignment.lhs);
  std::vector<IndexVar> open = variables(assignment.rhs);
  bool sums = assignment.op == AssignOp::Set || assignment.op == AssignOp::Add;
  // The last variable is reduced innermost, so that reductions of one sub-expression nest in the order of first use.
  for (auto var = open.rbegin(); var != open.rend(); ++var)
    if (std::find(free.begin(), free.end(), *var) == free.end() && !reduced(out.rhs, *var))
      out.rhs = sums ? sum_smallest(out.rhs, *var) : Reduction{assignment.op, *var, out.rhs};
  return out;
}

Expr combined(AssignOp op, const Expr& there, const Expr& value) {
  switch (op) {
    case AssignOp::Set: return value;
    case AssignOp::Add: return Binary{BinaryOp::Add, there, value};
    case AssignOp::Mul: return Binary{BinaryOp::Mul, there, value};
    case AssignOp::Min: return Call{Function::Min, {there, value}};
    case AssignOp::Max: return Call{Function::Max, {there, value}};
    case AssignOp::Or: return Binary{BinaryOp::Or, there, value};
    case AssignOp::And: break;
  }
  return Binary{BinaryOp::And, there, value};
}

}  // namespace spdistal::notation

namespace spdistal {

SPDISTAL_FAMILY(notation::ExprKinds)

}  // namespace spdistal
