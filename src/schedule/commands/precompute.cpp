#include "spdistal/schedule/precompute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "notation/concrete.hpp"
#include "notation/presence.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

namespace {

template <class T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::vector<Expr> factors(const Expr& expr) {
  auto* product = expr.as<Binary>();
  if (!product || product->op != BinaryOp::Mul) return {expr};
  std::vector<Expr> out = factors(product->a), more = factors(product->b);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

Expr product(const std::vector<Expr>& factors) {
  Expr out = factors[0];
  for (size_t k = 1; k < factors.size(); k++) out = Binary{BinaryOp::Mul, out, factors[k]};
  return out;
}

// A command names numbers of the host by their values; which of the statement's they are is found with the rest.
bool is_named_by(const Expr& stated, const Expr& named) {
  auto unnumbered = [](const Argument& n) -> Expr { return Argument{n.value}; };
  return rewrite(stated, unnumbered) == rewrite(named, unnumbered);
}

// A part of an expression, where it stands whole or as some of the factors of a product.
struct FoundTerm {
  Expr part;  // as the statement has it
  Expr rest;  // the expression with the part replaced
};
std::optional<FoundTerm> find_part(const Expr& expr, const Expr& named, const Expr& by) {
  if (is_named_by(expr, named)) return FoundTerm{expr, by};
  std::vector<Expr> all = factors(expr), wanted = factors(named), part;
  if (all.size() > wanted.size()) {
    // The replacement stands where the first of the factors stood.
    size_t place = all.size();
    bool found = std::all_of(wanted.begin(), wanted.end(), [&](const Expr& factor) {
      auto at = std::find_if(all.begin(), all.end(), [&](const Expr& stated) { return is_named_by(stated, factor); });
      if (at == all.end()) return false;
      place = std::min(place, size_t(at - all.begin()));
      part.push_back(*at);
      all.erase(at);
      return true;
    });
    if (found) {
      all.insert(all.begin() + long(place), by);
      return FoundTerm{product(part), product(all)};
    }
  }
  std::optional<FoundTerm> found;
  Expr rest = map_children(expr, [&](const Expr& child) {
    if (found) return child;
    found = find_part(child, named, by);
    return found ? found->rest : child;
  });
  if (found) found->rest = rest;
  return found;
}

// Is the value of expr proportional to that of the temporary? Then sums may move across.
bool is_linear_in(const Expr& expr, const TensorVar& temporary) {
  if (auto* access = expr.as<notation::Access>()) return access->tensor == temporary;
  if (auto* neg = expr.as<Neg>()) return is_linear_in(neg->a, temporary);
  if (auto* binary = expr.as<Binary>()) {
    if (binary->op == BinaryOp::Mul) return is_linear_in(binary->a, temporary) || is_linear_in(binary->b, temporary);
    // A quotient of integers rounds.
    if (binary->op == BinaryOp::Div) return !is_integral(type_of(expr)) && is_linear_in(binary->a, temporary);
  }
  return false;
}

// Does it depend on what the temporary stores, by a map?
bool is_mapped(const Expr& expr, const TensorVar& temporary) {
  bool found = false;
  each<Call>(expr, [&](const Call& call) {
    if (call.domain != Domain::Stored) return;
    each<notation::Access>(call.args[0], [&](const notation::Access& n) { found |= n.tensor == temporary; });
  });
  return found;
}

// Is a reduction of a part the same as the reduction of the whole?
bool can_be_taken_first(const Assign& assign, const Expr& consumer, const TensorVar& temporary) {
  if (assign.op == AssignOp::Add) return is_linear_in(consumer, temporary);
  auto* access = consumer.as<notation::Access>();
  return access && access->tensor == temporary;
}

// How the command would rewrite a statement.
struct Rewriting {
  Assign assign;
  std::vector<Forall> chain;     // the directly nested loops around the assignment
  size_t split = 0;              // loops from here on belong to the where
  std::vector<IndexVar> summed;  // loops that move to the workspace
  TensorVar workspace;
  Expr part;      // what the workspace holds
  Expr consumer;  // the right side that reads it
};

class Planner {
 public:
  Planner(const Precompute& command, const ConcreteStatement& statement)
      : command_(command), statement_(statement), refuse_(command.name, statement) {}

  Result<Rewriting> plan() {
    const Expr& named = command_.expression.tree();
    if (command_.loops.size() != command_.copies.size())
      return refuse_.whole(
          fmt::format("{} loop{}, but {} new variable{}", command_.loops.size(), command_.loops.size() == 1 ? "" : "s",
                      command_.copies.size(), command_.copies.size() == 1 ? "" : "s"),
          "give one new variable for each loop");
    bool taken = false;
    auto compare = [&](const TensorVar& tensor) { taken |= refuse_.name(tensor) == command_.workspace.text; };
    each<Assign>(statement_.body, [&](const Assign& assign) {
      compare(assign.lhs.tensor);
      each<notation::Access>(assign.rhs, [&](const notation::Access& access) { compare(access.tensor); });
    });
    if (taken)
      return refuse_.whole(fmt::format("{} is a tensor of the statement already", command_.workspace.text),
                           "give the workspace a name of its own");
    if (!is_identifier(command_.workspace.text))
      return refuse_.whole(fmt::format("'{}' cannot name a workspace", command_.workspace.text),
                           "a name is letters, digits and _");
    search(statement_.body, {});
    if (!assign_)
      return refuse_.whole(fmt::format("{} is not computed in the statement", refuse_(named)),
                           "name an expression as it stands on a right side, or some factors of a product");
    const Expr& part = *part_;
    for (const IndexVar& var : command_.loops)
      if (std::none_of(chain_.begin(), chain_.end(), [&](const Forall& l) { return l.var == var; }))
        return refuse_.at(var,
                          fmt::format("the loop over {} is not directly around {}", refuse_.name(var), refuse_(part)),
                          "name loops of the nest that computes it");

    TensorVar workspace = make_workspace(part, {});
    Expr consumer = find_part(assign_->rhs, named, notation::Access{workspace, command_.loops})->rest;
    Rewriting out{*assign_, chain_, chain_.size(), {}, workspace, part, consumer};
    // Inwards from the assignment: loops over the workspace, and loops that only the expression uses.
    while (out.split > 0) {
      const IndexVar& var = chain_[out.split - 1].var;
      bool chosen = contains(command_.loops, var), needed = uses_var(part, var);
      bool elsewhere = uses_var(consumer_without_workspace(consumer, workspace), var) || in_lhs(var);
      if (!chosen && (!needed || elsewhere)) break;
      out.split--;
    }
    for (const IndexVar& var : command_.loops) {
      if (!uses_var(part, var))
        return refuse_.at(var, fmt::format("{} does not depend on {}", refuse_(part), refuse_.name(var)),
                          "name only loops that the expression uses");
      auto place = std::find_if(chain_.begin(), chain_.end(), [&](const Forall& l) { return l.var == var; });
      if (size_t(place - chain_.begin()) < out.split)
        return refuse_.at(chain_[out.split - 1].var,
                          fmt::format("the loop over {} stands inside that over {} and is used outside of {}",
                                      refuse_.name(chain_[out.split - 1].var), refuse_.name(var), refuse_(part)),
                          fmt::format("reorder {} outwards first", refuse_.name(chain_[out.split - 1].var)));
    }
    if (is_mapped(out.consumer, workspace))
      return refuse_.whole(
          fmt::format("map looks at what {} stores, and a workspace has a value everywhere", refuse_(part)),
          "precompute the whole of map(…)");
    if (out.split == chain_.size())
      return refuse_.whole(
          fmt::format("no loop moves to a workspace for {}", refuse_(part)),
          "name loops that the workspace keeps apart, or an expression with an innermost loop of its own");
    std::vector<IndexVar> outside;
    for (const Forall& loop : loops_to(statement_.body, chain_[out.split].var)) outside.push_back(loop.var);
    outside.pop_back();
    for (size_t k = out.split; k < chain_.size(); k++) {
      const Forall& loop = chain_[k];
      for (const IndexVar& root : statement_.provenance.range_depends_on(loop.var))
        if (!statement_.provenance.determined(root, outside))
          return refuse_.at(loop.var,
                            fmt::format("the loop over {} {}, which the workspace takes apart", refuse_.name(loop.var),
                                        schedule::changing_range(refuse_, statement_, loop.var, root)),
                            statement_.provenance.positions_of(loop.var) ? "precompute first, then walk positions"
                                                                         : "precompute first, then divide");
      if (!contains(command_.loops, loop.var)) out.summed.push_back(loop.var);
      if (Result<> untouched = schedule::check_untouched(command_.name, statement_, loop.var); !untouched)
        return untouched.refusal();
    }
    out.workspace = make_workspace(part, out.summed);
    out.consumer = find_part(assign_->rhs, named, notation::Access{out.workspace, command_.loops})->rest;
    if (!out.summed.empty() && !can_be_taken_first(*assign_, out.consumer, out.workspace))
      return refuse_.at(
          out.summed[0],
          fmt::format("{} is not a factor of the right side, so that its sum over {} cannot be taken first",
                      refuse_(part), refuse_.name(out.summed[0])),
          fmt::format("name {} too, and the workspace keeps its terms apart", refuse_.name(out.summed[0])));
    return out;
  }

 private:
  void search(const Stmt& stmt, std::vector<Forall> chain) {
    if (assign_) return;
    match(
        stmt,
        [&](const Forall& n) {
          chain.push_back(n);
          search(n.body, chain);
        },
        [&](const Where& n) { search(n.consumer, {}), search(n.producer, {}); },
        [&](const Assign& n) {
          std::optional<FoundTerm> found = find_part(n.rhs, command_.expression.tree(), Literal{0});
          if (found) assign_ = n, chain_ = chain, part_ = found->part;
        },
        [&](const Sequence& n) {
          for (const Stmt& part : n.stmts) search(part, {});
        });
  }
  // It begins with what it would be where nothing of the part is stored, or with the reduction of nothing.
  TensorVar make_workspace(const Expr& part, const std::vector<IndexVar>& reduced) const {
    ScalarType type = reduced.empty() ? reduced_type(AssignOp::Add, type_of(part))
                                      : type_of_total(assign_->op, type_of(part), assign_->lhs.tensor.type());
    Scalar begins = reduced.empty() ? fill_of(part).value_or(zero(type)) : identity(assign_->op, type);
    return TensorVar({Symbol(command_.workspace.text), type, sizes(),
                      dense_format(command_.loops.size()).filled(convert(begins, type)), Origin::Temporary});
  }
  std::vector<Extent> sizes() const {
    std::vector<Extent> out;
    for (const IndexVar& var : command_.loops) {
      const Root* root = statement_.provenance.root(var);
      out.push_back(root ? root->size.extent() : Extent(Param()));
      if (const Relation* relation = statement_.provenance.made_by(var))
        for (const Made& made : relation->made)
          if (auto* size = made.size.as<notation::IndexNumber>(); size && made.var == var)
            out.back() = size->value.extent();
    }
    return out;
  }
  bool uses_var(const Expr& expr, const IndexVar& loop) const {
    std::vector<IndexVar> used = variables(expr);
    return std::any_of(used.begin(), used.end(),
                       [&](const IndexVar& var) { return statement_.provenance.depends(var, loop); });
  }
  bool in_lhs(const IndexVar& var) const { return uses_var(Expr(assign_->lhs), var); }
  static Expr consumer_without_workspace(const Expr& expr, const TensorVar& workspace) {
    return rewrite(expr, [&](const notation::Access& n) -> Expr {
      if (n.tensor == workspace) return Literal{0};
      return n;
    });
  }

  const Precompute& command_;
  const ConcreteStatement& statement_;
  schedule::Refusal refuse_;
  std::optional<Assign> assign_;
  std::optional<Expr> part_;  // of its right side
  std::vector<Forall> chain_;
};

// Gives the copies of loop variables formulas like those of the originals: whatever a copied variable helps to find is
// copied too. Returns the whole renaming.
std::vector<std::pair<IndexVar, IndexVar>> copy_formulas(Provenance& provenance,
                                                         std::vector<std::pair<IndexVar, IndexVar>> renaming) {
  auto is_copied = [&](const IndexVar& var) {
    return std::any_of(renaming.begin(), renaming.end(), [&](const auto& pair) { return pair.first == var; });
  };
  // The copy of a window is one of the copied variable, which is copied before it: relations are walked backwards.
  auto copy_of = [&](const IndexVar& var) {
    if (!var.window()) return IndexVar(var.name());
    for (const auto& [from, to] : renaming)
      if (from == var.window()->of) return var.window()->over(to);
    return var;
  };
  std::vector<const Relation*> copied;
  const std::vector<Relation> originals = provenance.relations;
  for (auto relation = originals.rbegin(); relation != originals.rend(); ++relation) {
    std::vector<IndexVar> needs = relation->needs();
    if (std::none_of(needs.begin(), needs.end(), is_copied)) continue;
    for (const Replaced& r : relation->replaced)
      if (!is_copied(r.var)) renaming.emplace_back(r.var, copy_of(r.var));
    copied.push_back(&*relation);
  }
  for (const Root& root : std::vector<Root>(provenance.roots))
    for (const auto& [from, to] : renaming)
      if (from == root.var) provenance.roots.push_back({to, root.size, root.fixed});
  // A copy stands beside its original: the order in which relations were made still finds everything.
  provenance.relations.clear();
  for (const Relation& relation : originals) {
    provenance.relations.push_back(relation);
    if (std::find(copied.begin(), copied.end(), &relation) != copied.end())
      provenance.relations.push_back(rename(relation, renaming));
  }
  return renaming;
}

}  // namespace

Result<> Precompute::check(const ConcreteStatement& statement) const {
  Result<Rewriting> plan = Planner(*this, statement).plan();
  if (!plan) return plan.refusal();
  return {};
}

ConcreteStatement Precompute::apply(const ConcreteStatement& statement) const {
  Rewriting plan = Planner(*this, statement).plan().value();
  ConcreteStatement out = statement;
  std::vector<std::pair<IndexVar, IndexVar>> renaming;
  for (size_t k = 0; k < loops.size(); k++) renaming.emplace_back(loops[k], copies[k]);
  renaming = copy_formulas(out.provenance, renaming);
  auto copy_of = [&](const IndexVar& var) {
    for (const auto& [from, to] : renaming)
      if (from == var) return to;
    return var;
  };

  Stmt consumer = Assign{plan.assign.lhs, plan.assign.op, plan.consumer};
  Stmt producer = Assign{notation::Access{plan.workspace, copies}, plan.summed.empty() ? AssignOp::Set : plan.assign.op,
                         rename(plan.part, renaming)};
  for (size_t k = plan.chain.size(); k-- > plan.split;) {
    const Forall& loop = plan.chain[k];
    producer = Forall{copy_of(loop.var), producer, loop.tags};
    if (contains(loops, loop.var)) consumer = Forall{loop.var, consumer, loop.tags};
  }
  out.body = replace_loop(statement.body, plan.chain[plan.split].var, [&](const Forall&) {
    return Where{consumer, producer};
  });
  return out;
}

}  // namespace spdistal
