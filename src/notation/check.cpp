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

// The variables that stand in expr outside of every sum over them, and those summed twice over.
void free_variables(const Expr& expr, std::set<IndexVar>& bound, std::set<IndexVar>& free, std::set<IndexVar>& twice) {
  if (auto* sum = expr.as<Sum>()) {
    bool outer = !bound.insert(sum->var).second;
    if (outer) twice.insert(sum->var);
    free_variables(sum->body, bound, free, twice);
    if (!outer) bound.erase(sum->var);
    return;
  }
  if (auto* access = expr.as<Access>())
    for (const IndexVar& var : access->indices)
      if (!bound.contains(var)) free.insert(var);
  children(expr, [&](const Expr& child) { free_variables(child, bound, free, twice); });
}

// Does this access stand outside of every sum over var, and use it?
bool stands_outside(const Expr& expr, const Access& access, const IndexVar& var) {
  if (auto* sum = expr.as<Sum>(); sum && sum->var == var) return false;
  if (auto* own = expr.as<Access>(); own && structurally_equal(*own, access)) return uses(expr, var);
  bool found = false;
  children(expr, [&](const Expr& child) { found = found || stands_outside(child, access, var); });
  return found;
}
bool is_outside(const Assignment& assignment, const Access& access, const IndexVar& var) {
  bool left = structurally_equal(assignment.lhs, access) && uses(Expr(access), var);
  return left || stands_outside(assignment.rhs, access, var);
}

// ---- sums that are not written ------------------------------------------------------------------------------------------

// What is not linear and holds all uses of a variable: functions and quotients that divide by it, outermost first.
std::vector<Expr> curved_around(const Expr& expr, const IndexVar& var) {
  std::vector<Expr> out, inside;
  children(expr, [&](const Expr& child) {
    if (uses(child, var)) inside.push_back(child);
  });
  const Binary* binary = expr.as<Binary>();
  bool divides = binary && binary->op == BinaryOp::Div && !uses(binary->a, var);
  if (!inside.empty() && (expr.is<Call>() || divides)) out.push_back(expr);
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
                    return Sum{var, arg};
                  }));
}
Expr summed_around(const Expr& expr, const IndexVar& var) {
  Expr function = curved_around(expr, var).front();
  return replaced(expr, function, Sum{var, function});
}

// abs(y(i) - x(i)) without i on the left: whoever writes it means either of two things.
Result<> check_sums(const Assignment& assignment) {
  std::vector<IndexVar> unclear;
  for (const IndexVar& var : variables(assignment.rhs)) {
    bool said = uses(Expr(assignment.lhs), var);
    each<Sum>(assignment.rhs, [&](const Sum& sum) { said |= sum.var == var; });
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
  auto* call = function.as<Call>();
  return Diagnostic{
      fmt::format("{} only stands {}, and it is not said where it is summed", print.name(unclear[0]),
                  call ? fmt::format("inside of {}", info(call->function).name) : "in what is divided by"),
      {{text, at, at + part.size()}},
      fmt::format("write {}, or {}", print(inside), print(around))};
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

  std::set<IndexVar> bound, free, twice, summed;
  free_variables(assignment.rhs, bound, free, twice);
  each<Sum>(assignment.rhs, [&](const Sum& sum) { summed.insert(sum.var); });
  for (const IndexVar& var : twice)
    return refuse(fmt::format("{} is summed inside a sum over {}", name(var), name(var)), everything,
                  "give the inner sum a variable of its own");
  for (const IndexVar& var : summed) {
    auto indexed = [&](const Access& access) {
      return std::find(access.indices.begin(), access.indices.end(), var) != access.indices.end();
    };
    if (indexed(assignment.lhs) || free.contains(var))
      return refuse(
          fmt::format("{} is summed by sum({}, …) and also stands outside of that sum", name(var), name(var)),
          [&](const Access& access) { return is_outside(assignment, access, var); }, "use two variables");
  }
  std::optional<IndexVar> unused;
  each<Sum>(assignment.rhs, [&](const Sum& sum) {
    if (!unused && !uses(sum.body, sum.var)) unused = sum.var;
  });
  if (unused)
    return refuse(fmt::format("{} does not stand in the expression that is summed over it", name(*unused)), everything,
                  "sum over a variable that it uses");

  std::optional<Call> unordered;
  each<Call>(assignment.rhs, [&](const Call& call) {
    bool ordered = call.function == Function::Min || call.function == Function::Max;
    for (const Expr& arg : call.args)
      if (ordered && is_complex(type_of(arg))) unordered = call;
  });
  if (unordered)
    return refuse(fmt::format("{}: complex numbers have no order", info(unordered->function).name), everything,
                  "compare their abs(…)");

  ScalarType result = assignment.lhs.tensor.type(), value = type_of(assignment.rhs);
  if (is_complex(value) && !is_complex(result))
    return refuse(
        fmt::format("{} holds {}, but its value is {}", name(assignment.lhs.tensor), name_of(result), name_of(value)),
        [&](const Access& access) { return access.tensor == assignment.lhs.tensor; },
        "make the result complex, or take abs(…)");
  return check_sums(assignment);
}

Result<std::map<IndexVar, Extent>> infer_extents(const Assignment& assignment) {
  struct Use {
    Access access;
    size_t dim;
    Extent extent;
  };
  std::map<IndexVar, Use> known;
  std::optional<Diagnostic> conflict;
  auto look = [&](const Access& access) {
    for (size_t d = 0; d < access.indices.size() && d < access.tensor.order(); d++) {
      Use use{access, d, access.tensor.dims()[d]};
      auto [at, fresh] = known.try_emplace(access.indices[d], use);
      if (fresh) continue;
      const Use& first = at->second;
      std::optional<int64_t> a = first.extent.value(), b = use.extent.value();
      if (a && b && *a != *b && !conflict) {
        bool same = first.access.tensor == access.tensor;
        Printer print = names_of(assignment);
        conflict = Diagnostic{
            fmt::format("{} is {} in {}'s {} dimension and {} in {} {}", print.name(access.indices[d]), *a,
                        print.name(first.access.tensor), ordinal(first.dim), *b,
                        same ? "its" : print.name(access.tensor) + "'s", ordinal(d)),
            {print.excerpt(assignment, [&](const Access& other) { return structurally_equal(other, access); })},
            {}};
      }
      // A size that is known now, or written out, tells more than a parameter.
      if (use.extent.is_literal() && !first.extent.is_literal()) at->second = use;
      else if (b && !a) at->second = use;
    }
  };
  look(assignment.lhs);
  each<Access>(assignment.rhs, look);
  if (conflict) return *conflict;
  std::map<IndexVar, Extent> out;
  for (const auto& [var, use] : known) out.emplace(var, use.extent);
  return out;
}

}  // namespace spdistal::notation
