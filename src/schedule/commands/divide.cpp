#include "spdistal/schedule/divide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "format/questions.hpp"
#include "routine/match.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

namespace {

// The access to a tensor inside of a loop whose first level a variable indexes.
std::optional<notation::Access> weighing(const Forall& loop, const TensorVar& tensor) {
  std::optional<notation::Access> out;
  each<Assign>(loop.body, [&](const Assign& assign) {
    each<notation::Access>(assign.rhs, [&](const notation::Access& a) {
      if (!out && a.tensor == tensor && a.tensor.order() > 0 && Levels{a, 0, 0}.var(0) == loop.var) out = a;
    });
  });
  return out;
}

bool is_read(const Forall& loop, const TensorVar& tensor) {
  bool found = false;
  each<Assign>(loop.body, [&](const Assign& assign) {
    each<notation::Access>(assign.rhs, [&](const notation::Access& a) { found |= a.tensor == tensor; });
  });
  return found;
}

// What a tensor stores below a value of the loop is its weight: the tensor stores the variable first, in order, and not all
// of it.
Result<> check_weight(schedule::Refusal& refuse, const Forall& loop, const TensorVar& tensor) {
  std::string which = refuse.name(tensor), i = refuse.name(loop.var);
  if (!is_read(loop, tensor))
    return refuse.at(loop.var, fmt::format("{} is not read in the loop over {}", which, i),
                     "weigh by tensors that the loop reads");
  if (tensor.format().is_dense())
    return refuse.at(loop.var, fmt::format("{} is dense, so that all values of {} weigh the same", which, i),
                     "leave it out: blocks of one size are as even");
  if (!weighing(loop, tensor))
    return refuse.at(loop.var, fmt::format("the first level of {} is not indexed by {}", which, i),
                     fmt::format("weigh by tensors that store {} first, as it is", i));
  if (!is_ordered(tensor.format().levels()[0]))
    return refuse.at(
        loop.var, fmt::format("{} stores {} in no order, so that nothing lies before a value", which, i),
        fmt::format("give its first level an order, as {} or {} have", levels::Dense::name, levels::Compressed::name));
  return {};
}

Result<> check_weights(std::string_view command, const ConcreteStatement& statement, const IndexVar& i,
                       const std::vector<TensorRef>& weights) {
  schedule::Refusal refuse(command, statement);
  if (!statement.provenance.root(i))
    return refuse.at(i,
                     fmt::format("{} is made of other variables, which no tensor stores as they are", refuse.name(i)),
                     "divide a variable of the statement by weight first, then its blocks");
  if (const Forall* replaced = routine::find_substituted(find_loop(statement.body, i)->body))
    return refuse.at(replaced->var,
                     fmt::format("a routine takes the place of the loop over {}, and does not know where blocks begin "
                                 "that are cut by weight",
                                 refuse.name(replaced->var)),
                     "divide without weights: blocks of one size are known");
  std::vector<std::string> names;
  std::vector<TensorVar> known = declared_tensors(statement);
  for (const TensorVar& tensor : known) names.push_back(refuse.name(tensor));
  for (size_t k = 0; k < weights.size(); k++) {
    const TensorVar& tensor = weights[k].var();
    std::string which = refuse.name(tensor);
    if (std::find(known.begin(), known.end(), tensor) == known.end())
      return refuse.at(i, fmt::format("{} is not in the statement", which), suggest(which, names, "its tensors are"));
    for (size_t other = 0; other < k; other++)
      if (weights[other].var() == tensor)
        return refuse.at(i, fmt::format("{} is named twice", which), "name each tensor once");
    if (Result<> weighs = check_weight(refuse, *find_loop(statement.body, i), tensor); !weighs) return weighs;
  }
  return {};
}

Relation in_equal_blocks(const Divide& command) {
  const auto& [i, outer, inner, pieces, weights] = command;
  return {.replaced = {{i, value_of(outer) * size_of(inner) + value_of(inner), Guard::Checked}},
          .made = {{outer, number(pieces), "o"}, {inner, ceil_div(size_of(i), number(pieces)), "i"}}};
}

Relation in_weighted_blocks(const Divide& command, const ConcreteStatement& statement) {
  const auto& [i, outer, inner, pieces, weights] = command;
  WeightedBlocks blocks{i, {}, pieces};
  for (const TensorRef& tensor : weights)
    blocks.operands.push_back(*weighing(*find_loop(statement.body, i), tensor.var()));
  IndexExpr start = BlockStart{blocks, value_of(outer)}, size = BlockSize{blocks, value_of(outer)};
  return {.replaced = {{i, start + value_of(inner), Guard::Unneeded}},
          .made = {{outer, number(pieces), "o"}, {inner, size, "i"}}};
}

}  // namespace

Result<> Divide::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (pieces.value() == 0) return refuse.at(i, "a loop cannot be divided into 0 pieces", "1 piece leaves it whole");
  if (Result<> untouched = schedule::check_untouched(name, statement, i); !untouched) return untouched;
  return weights.empty() ? Result<>{} : check_weights(name, statement, i, weights);
}

ConcreteStatement Divide::apply(const ConcreteStatement& statement) const {
  ConcreteStatement out = statement;
  out.body = replace_loop(statement.body, i, [&](const Forall& loop) {
    return Forall{outer, Forall{inner, loop.body}};
  });
  out.provenance.relations.push_back(weights.empty() ? in_equal_blocks(*this) : in_weighted_blocks(*this, statement));
  return out;
}

}  // namespace spdistal
