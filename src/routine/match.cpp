#include "routine/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "notation/print.hpp"

namespace spdistal::routine {

using namespace notation;

namespace {

// What stands for what, so far: variables and accesses of the routine for those of the loops.
struct Standing {
  std::map<IndexVar, IndexVar> variables;
  std::map<TensorVar, Access> accesses;

  bool stands_for(const IndexVar& ours, const IndexVar& theirs) {
    if (auto known = variables.find(ours); known != variables.end()) return known->second == theirs;
    for (const auto& [other, taken] : variables)
      if (taken == theirs) return false;
    variables.emplace(ours, theirs);
    return true;
  }
};

// Tries what is left with what stands so far; true where it works out.
using Rest = std::function<bool(const Standing&)>;

/// The variables of an access, outermost level first.
std::vector<IndexVar> by_level(const Access& access) {
  std::vector<IndexVar> out;
  for (int dim : access.tensor.format().mode_order()) out.push_back(access.indices[size_t(dim)]);
  return out;
}

/// How accesses are compared where a routine says how a tensor is stored: level by level, so that B(k,i) in columns is taken for
/// B(i,k) in rows; or by dimensions, which tells more where nothing fits.
enum class Along : uint8_t { Levels, Dimensions };

class RoutineMatcher {
 public:
  RoutineMatcher(const Routine& routine, Along along) : routine_(routine), along_(along) {}

  std::optional<Standing> operator()(const Assign& assign) {
    std::optional<Standing> found;
    expression(routine_.computes().rhs, assign.rhs, {}, [&](const Standing& operands) {
      return access(routine_.computes().lhs, assign.lhs, operands, [&](const Standing& all) {
        found = all;
        return true;
      });
    });
    return found;
  }

 private:
  bool expression(const Expr& ours, const Expr& theirs, const Standing& standing, const Rest& rest) {
    if (auto* a = ours.as<Access>()) return theirs.is<Access>() && access(*a, *theirs.as<Access>(), standing, rest);
    if (auto* literal = ours.as<Literal>())
      return theirs.is<Literal>() && literal->value == theirs.as<Literal>()->value && rest(standing);
    if (auto* negated = ours.as<Neg>())
      return theirs.is<Neg>() && expression(negated->a, theirs.as<Neg>()->a, standing, rest);
    if (auto* call = ours.as<Call>()) {
      auto* other = theirs.as<Call>();
      return other && call->function == other->function && call->domain == other->domain &&
             call->args.size() == other->args.size() && in_order(call->args, other->args, 0, standing, rest);
    }
    auto* ours_of_two = ours.as<Binary>();
    auto* theirs_of_two = theirs.as<Binary>();
    if (!ours_of_two || !theirs_of_two || ours_of_two->op != theirs_of_two->op) return false;
    if (ours_of_two->op != BinaryOp::Mul && ours_of_two->op != BinaryOp::Add)
      return in_order({ours_of_two->a, ours_of_two->b}, {theirs_of_two->a, theirs_of_two->b}, 0, standing, rest);
    std::vector<Expr> parts, others;
    flatten(ours_of_two->op, ours, parts);
    flatten(ours_of_two->op, theirs, others);
    return parts.size() == others.size() && in_any_order(parts, others, standing, rest);
  }

  // Factors of a product, terms of a sum.
  static void flatten(BinaryOp op, const Expr& expr, std::vector<Expr>& out) {
    auto* n = expr.as<Binary>();
    if (!n || n->op != op) return out.push_back(expr);
    flatten(op, n->a, out);
    flatten(op, n->b, out);
  }

  bool in_order(const std::vector<Expr>& ours, const std::vector<Expr>& theirs, size_t from, const Standing& standing,
                const Rest& rest) {
    if (from == ours.size()) return rest(standing);
    return expression(ours[from], theirs[from], standing,
                      [&](const Standing& more) { return in_order(ours, theirs, from + 1, more, rest); });
  }

  bool in_any_order(const std::vector<Expr>& ours, const std::vector<Expr>& theirs, const Standing& standing,
                    const Rest& rest) {
    if (ours.empty()) return rest(standing);
    for (size_t k = 0; k < theirs.size(); k++) {
      std::vector<Expr> left = theirs;
      left.erase(left.begin() + long(k));
      auto others = [&](const Standing& more) {
        return in_any_order({ours.begin() + 1, ours.end()}, left, more, rest);
      };
      if (expression(ours[0], theirs[k], standing, others)) return true;
    }
    return false;
  }

  Storing storing(const TensorVar& tensor) const {
    for (const RoutineTensor& t : routine_.tensors())
      if (t.access.tensor == tensor) return t.storing;
    return Storing::AsSaid;
  }

  // Dimensions that are dense in any order may stand in any.
  bool access(const Access& ours, const Access& theirs, Standing standing, const Rest& rest) {
    if (theirs.tensor.origin() == Origin::Temporary || ours.indices.size() != theirs.indices.size()) return false;
    if (std::any_of(theirs.indices.begin(), theirs.indices.end(), [](const IndexVar& i) { return i.window(); }))
      return false;
    standing.accesses.insert_or_assign(ours.tensor, theirs);
    bool any_order = storing(ours.tensor) == Storing::DenseInAnyOrder, levels = !any_order && along_ == Along::Levels;
    std::vector<IndexVar> expected = levels ? by_level(ours) : ours.indices;
    std::vector<IndexVar> there = levels ? by_level(theirs) : theirs.indices;
    std::vector<size_t> order(there.size());
    std::iota(order.begin(), order.end(), size_t(0));
    do {
      Standing more = standing;
      bool same = true;
      for (size_t d = 0; d < order.size(); d++) same = same && more.stands_for(expected[d], there[order[d]]);
      if (same && rest(more)) return true;
    } while (any_order && std::next_permutation(order.begin(), order.end()));
    return false;
  }

  const Routine& routine_;
  Along along_;
};

// How far loops fit; those that fit further tell why they do not.
struct RoutineFit {
  int fits = 0;
  std::string why;
  std::optional<RoutineMatch> match = {};
};

class RoutineFits {
 public:
  explicit RoutineFits(const Stmt& nest) : body_(nest) {
    while (const Forall* loop = body_.as<Forall>()) body_ = loop->body;
  }

  RoutineFit operator()(const RoutineHandle& routine) {
    const Assign* assign = body_.as<Assign>();
    if (!assign) return {0, "they hold more than one assignment"};
    print_(Assignment{assign->lhs, assign->op, assign->rhs});
    const Assign& ours = routine->computes();
    // What assigns may be called to add, too.
    bool same_way = assign->op == ours.op || (ours.op == AssignOp::Set && assign->op == AssignOp::Add);
    std::optional<Standing> standing;
    for (Along along : {Along::Levels, Along::Dimensions})
      if (same_way && !standing) standing = RoutineMatcher(*routine, along)(*assign);
    if (!standing) return {1, fmt::format("they compute {}", print_(Assignment{assign->lhs, assign->op, assign->rhs}))};
    RoutineMatch out{routine, assign->op, {}};
    for (const RoutineTensor& tensor : routine->tensors()) {
      const Access& theirs = standing->accesses.at(tensor.access.tensor);
      std::string why = difference(tensor, theirs, *standing);
      if (!why.empty()) return {2, why};
      out.tensors.push_back({theirs, levels(tensor, theirs, *standing)});
    }
    std::string why = difference(routine->said().types, out);
    if (!why.empty()) return {3, why};
    return {4, "", std::move(out)};
  }

 private:
  // Stored otherwise than a routine expects.
  std::string difference(const RoutineTensor& tensor, const Access& theirs, const Standing& standing) {
    const Format &format = theirs.tensor.format(), &expected = tensor.access.tensor.format();
    std::string stored = fmt::format("{} is stored as {}", print_.name(theirs.tensor), format.str());
    if (tensor.storing == Storing::DenseInAnyOrder) return format.is_dense() && !format.fill() ? "" : stored;
    std::vector<IndexVar> ours = by_level(tensor.access);
    for (IndexVar& var : ours) var = standing.variables.at(var);
    bool same = format.levels() == expected.levels() && ours == by_level(theirs) && format.fill() == expected.fill();
    return same ? "" : stored;
  }

  std::string difference(const std::vector<ScalarType>& types, const RoutineMatch& match) {
    if (types.empty()) return "";
    ScalarType first = match.tensors[0].access.tensor.type();
    for (const MatchedTensor& tensor : match.tensors) {
      ScalarType type = tensor.access.tensor.type();
      if (type != first || std::find(types.begin(), types.end(), type) == types.end())
        return fmt::format(
            "{} is of {}{}", print_.name(tensor.access.tensor), name_of(type),
            type == first ? ""
                          : fmt::format(", and {} of {}", print_.name(match.tensors[0].access.tensor), name_of(first)));
    }
    return "";
  }

  // Each once, those of a diagonal too.
  static std::vector<size_t> levels(const RoutineTensor& tensor, const Access& theirs, const Standing& standing) {
    std::vector<IndexVar> other = by_level(theirs);
    std::vector<size_t> out;
    for (const IndexVar& var : by_level(tensor.access))
      for (size_t level = 0; level < other.size(); level++)
        if (other[level] == standing.variables.at(var) && std::find(out.begin(), out.end(), level) == out.end()) {
          out.push_back(level);
          break;
        }
    return out;
  }

  Stmt body_;
  Printer print_;
};

}  // namespace

Result<RoutineMatch> match(std::string_view name, const Stmt& nest) {
  RoutineFits attempts(nest);
  RoutineFit best{-1, fmt::format("there is no routine '{}'", name)};
  for (const RoutineHandle& routine : routines(name)) {
    RoutineFit attempt = attempts(routine);
    if (attempt.match) return std::move(*attempt.match);
    if (attempt.fits > best.fits) best = std::move(attempt);
  }
  return Diagnostic{fmt::format("{} does not fit these loops: {}", name, best.why), {}, described(name)};
}

const Forall* find_substituted(const Stmt& body) {
  const Forall* out = nullptr;
  each<Forall>(body, [&](const Forall& loop) {
    if (!loop.tags.leaf.empty()) out = &loop;
  });
  return out;
}

}  // namespace spdistal::routine
