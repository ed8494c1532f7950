#include "notation/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "notation/print.hpp"

namespace spdistal::notation {
namespace {

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

}  // namespace

Result<> check(const Assignment& assignment) {
  Printer print;
  auto refuse = [&](std::string message, const std::function<bool(const Access&)>& marked, std::string hint = {}) {
    return Diagnostic{std::move(message), {print.excerpt(assignment, marked)}, std::move(hint)};
  };
  auto everything = [](const Access&) { return false; };

  std::optional<Access> odd;
  auto look = [&](const Access& access) {
    if (!odd && access.indices.size() != access.tensor.order()) odd = access;
  };
  look(assignment.lhs);
  each<Access>(assignment.rhs, look);
  if (odd)
    return refuse(
        fmt::format("{} has {} but is indexed by {}", print.name(odd->tensor), count(odd->tensor.order(), "dimension"),
                    count(odd->indices.size(), "variable")),
        [&](const Access& access) {
          return access.tensor == odd->tensor && access.indices.size() != access.tensor.order();
        },
        "every access has one variable for each dimension");

  std::set<IndexVar> bound, free, twice, summed;
  free_variables(assignment.rhs, bound, free, twice);
  each<Sum>(assignment.rhs, [&](const Sum& sum) { summed.insert(sum.var); });
  for (const IndexVar& var : twice)
    return refuse(fmt::format("{} is summed inside a sum over {}", print.name(var), print.name(var)), everything,
                  "give the inner sum a variable of its own");
  for (const IndexVar& var : summed) {
    auto indexed = [&](const Access& access) {
      return std::find(access.indices.begin(), access.indices.end(), var) != access.indices.end();
    };
    if (indexed(assignment.lhs) || free.contains(var))
      return refuse(
          fmt::format("{} is summed by sum({}, …) and also stands outside of that sum", print.name(var),
                      print.name(var)),
          [&](const Access& access) { return is_outside(assignment, access, var); }, "use two variables");
  }
  std::optional<IndexVar> unused;
  each<Sum>(assignment.rhs, [&](const Sum& sum) {
    if (!unused && !uses(sum.body, sum.var)) unused = sum.var;
  });
  if (unused)
    return refuse(fmt::format("{} does not stand in the expression that is summed over it", print.name(*unused)),
                  everything, "sum over a variable that it uses");

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
        fmt::format("{} holds {}, but its value is {}", print.name(assignment.lhs.tensor), name_of(result),
                    name_of(value)),
        [&](const Access& access) { return access.tensor == assignment.lhs.tensor; },
        "make the result complex, or take abs(…)");
  return {};
}

Result<std::map<IndexVar, Extent>> infer_extents(const Assignment& assignment) {
  struct Use {
    Access access;
    size_t dim;
    Extent extent;
  };
  std::map<IndexVar, Use> known;
  std::optional<Diagnostic> conflict;
  Printer print;
  auto look = [&](const Access& access) {
    for (size_t d = 0; d < access.indices.size() && d < access.tensor.order(); d++) {
      Use use{access, d, access.tensor.dims()[d]};
      auto [at, fresh] = known.try_emplace(access.indices[d], use);
      if (fresh) continue;
      const Use& first = at->second;
      std::optional<int64_t> a = first.extent.value(), b = use.extent.value();
      if (a && b && *a != *b && !conflict) {
        bool same = first.access.tensor == access.tensor;
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
