#include "notation/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "notation/print.hpp"

namespace spdistal::notation {
namespace {

// Names as they stand in the statement, whatever is printed of it.
Printer names_of(const Assignment& assignment) {
  Printer print;
  print(assignment);
  return print;
}

std::string count(size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

// The variables that stand in expr outside of every reduction over them, and those reduced twice over.
void free_variables(const Expr& expr, std::set<IndexVar>& bound, std::set<IndexVar>& free, std::set<IndexVar>& twice) {
  if (auto* sum = expr.as<Reduction>()) {
    bool outer = !bound.insert(sum->var).second;
    if (outer) twice.insert(sum->var);
    free_variables(sum->body, bound, free, twice);
    if (!outer) bound.erase(sum->var);
    return;
  }
  if (auto* access = expr.as<Access>())
    for (const IndexVar& var : variables(*access))
      if (!bound.contains(var)) free.insert(var);
  children(expr, [&](const Expr& child) { free_variables(child, bound, free, twice); });
}

// Does this access stand outside of every reduction over var, and use it?
bool stands_outside(const Expr& expr, const Access& access, const IndexVar& var) {
  if (auto* sum = expr.as<Reduction>(); sum && sum->var == var) return false;
  if (auto* own = expr.as<Access>(); own && structurally_equal(*own, access)) return uses(expr, var);
  bool found = false;
  children(expr, [&](const Expr& child) { found = found || stands_outside(child, access, var); });
  return found;
}
bool is_outside(const Assignment& assignment, const Access& access, const IndexVar& var) {
  bool left = structurally_equal(assignment.lhs, access) && uses(access, var);
  return left || stands_outside(assignment.rhs, access, var);
}

// ---- sums that are not written ------------------------------------------------------------------------------------------

// What is not linear and holds all uses of a variable: functions, quotients that divide by it, comparisons and reductions by
// another operation than a sum, outermost first.
std::vector<Expr> curved_around(const Expr& expr, const IndexVar& var) {
  std::vector<Expr> out, inside;
  children(expr, [&](const Expr& child) {
    if (uses(child, var)) inside.push_back(child);
  });
  const Binary* binary = expr.as<Binary>();
  bool divides = binary && binary->op == BinaryOp::Div && !uses(binary->a, var);
  bool decides = binary && (is_comparison(binary->op) || is_logical(binary->op));
  const Reduction* reduction = expr.as<Reduction>();
  bool reduces = reduction && reduction->op != AssignOp::Add;
  if (!inside.empty() && (expr.is<Call>() || divides || decides || reduces)) out.push_back(expr);
  if (inside.size() == 1)
    for (const Expr& deeper : curved_around(inside[0], var)) out.push_back(deeper);
  return out;
}

Expr replaced(const Expr& expr, const Expr& part, const Expr& by) {
  if (expr.same_as(part)) return by;
  return map_children(expr, [&](const Expr& child) { return replaced(child, part, by); });
}

// The two ways to read a variable that stands inside of a function only: summed inside of the innermost, or around the
// outermost.
Expr summed_inside(const Expr& expr, const IndexVar& var) {
  Expr function = curved_around(expr, var).back();
  return replaced(expr, function, map_children(function, [&](const Expr& arg) -> Expr {
                    if (!uses(arg, var)) return arg;
                    return Reduction{AssignOp::Add, var, arg};
                  }));
}
Expr summed_around(const Expr& expr, const IndexVar& var) {
  Expr function = curved_around(expr, var).front();
  return replaced(expr, function, Reduction{AssignOp::Add, var, function});
}

// What a variable stands in that a sum may go around, or inside of.
std::string where_it_stands(const Expr& curved) {
  if (auto* call = curved.as<Call>())
    return fmt::format("inside of {}", call->domain == Domain::Stored ? "map" : info(call->function).name);
  if (auto* reduction = curved.as<Reduction>()) return fmt::format("inside of {}", info(reduction->op).reduction);
  const Binary* binary = curved.as<Binary>();
  return binary->op == BinaryOp::Div ? "in what is divided by"
         : is_comparison(binary->op) ? "in what is compared"
                                     : "in a condition";
}

// abs(y(i) - x(i)) without i on the left: whoever writes it means either of two things.
Result<> check_sums(const Assignment& assignment) {
  if (assignment.op != AssignOp::Set && assignment.op != AssignOp::Add) return {};
  std::vector<IndexVar> unclear;
  for (const IndexVar& var : variables(assignment.rhs)) {
    bool said = uses(assignment.lhs, var);
    each<Reduction>(assignment.rhs, [&](const Reduction& n) { said |= n.var == var; });
    if (!said && !curved_around(assignment.rhs, var).empty()) unclear.push_back(var);
  }
  if (unclear.empty()) return {};
  Assignment inside = assignment, around = assignment;
  for (const IndexVar& var : unclear) around.rhs = summed_around(around.rhs, var);
  for (auto var = unclear.rbegin(); var != unclear.rend(); ++var) inside.rhs = summed_inside(inside.rhs, *var);
  Printer print;
  std::string text = print(assignment);
  Expr function = curved_around(assignment.rhs, unclear[0]).front();
  std::string part = print(function);
  size_t at = text.find(part, text.find('=') + 1);
  return Diagnostic{fmt::format("{} only stands {}, and it is not said where it is summed", print.name(unclear[0]),
                                where_it_stands(function)),
                    {{text, at, at + part.size()}},
                    fmt::format("write {}, or {}", print(inside), print(around))};
}

bool is_ordered(AssignOp op) { return op == AssignOp::Min || op == AssignOp::Max; }

// The name of a function, a comparison or a reduction that asks which of two complex numbers is less.
std::optional<std::string_view> what_orders_complex(const Assignment& assignment) {
  std::optional<std::string_view> out;
  auto complex = [](const Expr& expr) { return is_complex(type_of(expr)); };
  each<Call>(assignment.rhs, [&](const Call& call) {
    bool ordered = info(call.function).types == FunctionInfo::Types::Ordered;
    if (ordered && std::any_of(call.args.begin(), call.args.end(), complex)) out = info(call.function).name;
  });
  each<Binary>(assignment.rhs, [&](const Binary& n) {
    bool ordered = is_comparison(n.op) && n.op != BinaryOp::Eq && n.op != BinaryOp::Ne;
    if (ordered && (complex(n.a) || complex(n.b))) out = "a comparison";
  });
  each<Reduction>(assignment.rhs, [&](const Reduction& n) {
    if (is_ordered(n.op) && complex(n.body)) out = info(n.op).reduction;
  });
  bool assigns = is_complex(assignment.lhs.tensor.type()) || complex(assignment.rhs);
  if (is_ordered(assignment.op) && assigns) out = info(assignment.op).assignment;
  return out;
}

std::optional<std::string_view> what_is_real(const Assignment& assignment) {
  std::optional<std::string_view> out;
  each<Call>(assignment.rhs, [&](const Call& call) {
    bool real = info(call.function).types == FunctionInfo::Types::Real;
    for (const Expr& arg : call.args)
      if (real && is_complex(type_of(arg))) out = info(call.function).name;
  });
  return out;
}

// Reductions are values everywhere: there is nothing that is not stored of them.
bool maps_reduction(const Assignment& assignment) {
  bool found = false;
  each<Call>(assignment.rhs, [&](const Call& call) {
    if (call.domain == Domain::Stored) each<Reduction>(call.args[0], [&](const Reduction&) { found = true; });
  });
  return found;
}

// |= and &= are for truth values.
Result<> check_operation(const Assignment& assignment) {
  bool logical = assignment.op == AssignOp::Or || assignment.op == AssignOp::And;
  ScalarType type = assignment.lhs.tensor.type();
  if (!logical || type == ScalarType::Bool) return {};
  Printer print = names_of(assignment);
  std::string name = print.name(assignment.lhs.tensor);
  return Diagnostic{
      fmt::format("{} puts truth values together, and {} holds {}", info(assignment.op).assignment, name,
                  name_of(type)),
      {print.excerpt(assignment, [&](const Access& access) { return access.tensor == assignment.lhs.tensor; })},
      fmt::format("make {} a tensor of bool, or write {}", name, assignment.op == AssignOp::Or ? "max=" : "min=")};
}

}  // namespace

Result<> check(const Assignment& assignment) {
  auto refuse = [&](std::string message, const std::function<bool(const Access&)>& marked, std::string hint = {}) {
    return Diagnostic{std::move(message), {names_of(assignment).excerpt(assignment, marked)}, std::move(hint)};
  };
  auto name = [&](const auto& of) { return names_of(assignment).name(of); };
  auto everything = [](const Access&) { return false; };

  std::optional<Access> odd;
  auto look = [&](const Access& access) {
    if (!odd && access.indices.size() != access.tensor.order()) odd = access;
  };
  look(assignment.lhs);
  each<Access>(assignment.rhs, look);
  if (odd)
    return refuse(
        fmt::format("{} has {} but is indexed by {}", name(odd->tensor), count(odd->tensor.order(), "dimension"),
                    count(odd->indices.size(), "variable")),
        [&](const Access& access) {
          return access.tensor == odd->tensor && access.indices.size() != access.tensor.order();
        },
        "every access has one variable for each dimension");

  std::set<IndexVar> bound, free, twice;
  free_variables(assignment.rhs, bound, free, twice);
  std::map<IndexVar, AssignOp> reduced;
  each<Reduction>(assignment.rhs, [&](const Reduction& n) { reduced.emplace(n.var, n.op); });
  for (const IndexVar& var : twice)
    return refuse(
        fmt::format("{} is {} inside a {} over {}", name(var), info(reduced.at(var)).done,
                    reduced.at(var) == AssignOp::Add ? "sum" : "reduction", name(var)),
        everything,
        fmt::format("give the inner {} a variable of its own", reduced.at(var) == AssignOp::Add ? "sum" : "reduction"));
  for (const auto& [var, op] : reduced) {
    if (uses(assignment.lhs, var) || free.contains(var))
      return refuse(
          fmt::format("{} is {} by {}({}, …) and also stands outside of that {}", name(var), info(op).done,
                      info(op).reduction, name(var), op == AssignOp::Add ? "sum" : "reduction"),
          [&, var = var](const Access& access) { return is_outside(assignment, access, var); }, "use two variables");
  }
  std::optional<Reduction> unused;
  each<Reduction>(assignment.rhs, [&](const Reduction& n) {
    if (!unused && !uses(n.body, n.var)) unused = n;
  });
  if (unused)
    return refuse(
        fmt::format("{} does not stand in the expression that is {} over it", name(unused->var), info(unused->op).done),
        everything, unused->op == AssignOp::Add ? "sum over a variable that it uses" : "name a variable that it uses");

  if (std::optional<std::string_view> unordered = what_orders_complex(assignment))
    return refuse(fmt::format("{}: complex numbers have no order", *unordered), everything, "compare their abs(…)");
  if (std::optional<std::string_view> real = what_is_real(assignment))
    return refuse(fmt::format("{} is a function of real numbers", *real), everything, "take abs(…) first");
  if (maps_reduction(assignment))
    return refuse("map is for what tensors store, and a reduction has a value everywhere", everything,
                  "apply the function itself: exp(sum(j, …))");
  if (Result<> fits = check_operation(assignment); !fits) return fits;

  ScalarType result = assignment.lhs.tensor.type(), value = type_of(assignment.rhs);
  if (is_complex(value) && !is_complex(result))
    return refuse(
        fmt::format("{} holds {}, but its value is {}", name(assignment.lhs.tensor), name_of(result), name_of(value)),
        [&](const Access& access) { return access.tensor == assignment.lhs.tensor; },
        "make the result complex, or take abs(…)");
  return check_sums(assignment);
}

bool is_diagonal(const Access& access) {
  return std::set<IndexVar>(access.indices.begin(), access.indices.end()).size() < access.indices.size();
}

}  // namespace spdistal::notation
