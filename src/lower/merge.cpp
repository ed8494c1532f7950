// Loops over several accesses side by side.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

// Several accesses side by side: the smallest coordinate at hand is next.
void Lowerer::merge_loop(const Forall& loop, const IndexVar& var, const Segment& range, Reach reach,
                         const Formula& where) {
  std::vector<int> walked;
  for (int atom : where.atoms()) walked.push_back(atom);
  // Shares have as many coordinates of the first access each.
  auto coordinates = [&](const Segment& all, const Expr& part, const Expr& parts) {
    Segment stored = segment(walked[0]);
    Expr here = coordinate(walked[0], evenly(stored, part, parts));
    return ir::select(ir::equal(part, 0) || stored.end <= stored.begin, all.begin, here);
  };
  divide(loop, name(var), range, coordinates, [&](const Segment& mine, bool divided) {
    merge(loop, var, mine, divided ? Reach::Part : reach, where, walked);
  });
}

// The operands that the loop's statement adds up, if it does that alone and walks them all: B + C - D.
std::optional<std::vector<Lowerer::Term>> Lowerer::plain_sum(const Forall& loop, const std::set<int>& walked) const {
  auto* assign = loop.body.as<Assign>();
  if (!assign) return {};
  std::vector<Term> out;
  ScalarType type = type_of(assign->rhs);
  std::function<bool(const notation::Expr&, ir::BinaryOp)> add = [&](const notation::Expr& e, ir::BinaryOp sign) {
    if (auto* access = e.as<Access>()) {
      if (temporaries_.contains(access->tensor) || type_of(e) != type) return false;
      out.push_back({find_operand(*access), sign});
      return walked.contains(out.back().operand);
    }
    auto* sum = e.as<Binary>();
    if (!sum || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return false;
    // The order stays: what is subtracted is one operand.
    bool minus = sum->op == BinaryOp::Sub;
    return add(sum->a, sign) && sum->b.is<Access>() && add(sum->b, minus ? ir::BinaryOp::Sub : ir::BinaryOp::Add);
  };
  bool in_order =
      add(assign->rhs, ir::BinaryOp::Add) &&
      std::is_sorted(out.begin(), out.end(), [](const Term& a, const Term& b) { return a.operand < b.operand; });
  return in_order ? std::optional(out) : std::nullopt;
}

void Lowerer::merge(const Forall& loop, const IndexVar& var, const Segment& range, Reach reach, const Formula& where,
                    const std::vector<int>& walked) {
  std::vector<AccessState> entry = states_;
  bool all_needed = where.alternatives().size() == 1;
  std::map<int, Var> at, end;
  for (int k : walked) {
    Segment s = segment(k);
    std::string tag = fmt::format("{}{}", tensor_name(k + 1), states_[size_t(k)].level + 1);
    Var crd = crd_array(k + 1, states_[size_t(k)].level);
    Var to = f_.constant(tag + "_to", s.end);
    if (reach == Reach::Part) {
      Var from = f_.constant(tag + "_from", s.begin);
      s.begin = ir::lower_bound(crd, from, to, range.begin);
      to = f_.constant(tag + "_last", ir::lower_bound(crd, from, to, range.end));
    }
    at.emplace(k, f_.variable("p" + tag, s.begin));
    end.emplace(k, to);
  }
  // Where some may end before others, the coordinate at hand is kept beside the position: past all others at the end.
  Expr past = ir::int64(std::numeric_limits<int64_t>::max());
  auto coordinate_or_past = [&](int k) {
    return ir::select(Expr(at.at(k)) < end.at(k), coordinate(k, at.at(k)), past);
  };
  auto name_here = [&](int k) { return fmt::format("{}_{}", name(var), tensor_name(k + 1)); };
  std::map<int, Var> here;
  if (!all_needed)
    for (int k : walked) here.emplace(k, f_.variable(name_here(k), coordinate_or_past(k)));
  auto any_of_all = [&](const std::function<Expr(int)>& condition) {
    std::optional<Expr> any;
    for (const std::set<int>& alternative : where.alternatives()) {
      std::optional<Expr> all;
      for (int k : alternative) all = all ? *all && condition(k) : condition(k);
      any = any ? *any || *all : *all;
    }
    return *any;
  };
  auto goes_on = [&](int k) { return all_needed ? Expr(at.at(k)) < end.at(k) : Expr(here.at(k)) < past; };
  auto smallest = [&] {
    Expr out = here.at(walked[0]);
    for (int k : walked)
      if (k != walked[0]) out = ir::min(out, here.at(k));
    return out;
  };
  bool all_alone = std::all_of(where.alternatives().begin(), where.alternatives().end(),
                               [](const std::set<int>& a) { return a.size() == 1; });
  // A union ends with its smallest coordinate: that is carried along.
  bool carried = all_alone && !all_needed;
  auto is_last = [&](int k) { return states_[size_t(k)].level + 1 == kernel_.operands[size_t(k)].tensor.order(); };
  // Plain sums are added up as their operands are found.
  std::optional<std::vector<Term>> terms;
  if (carried && kernel_.assembly != Assembly::Shared && std::all_of(walked.begin(), walked.end(), is_last))
    terms = plain_sum(loop, where.atoms());
  std::optional<Var> coming;
  if (carried) coming = f_.variable(name(var), smallest());
  f_.loop_while(carried ? Expr(*coming) < past : any_of_all(goes_on), [&] {
    if (all_needed) here.clear();
    for (int k : walked)
      if (all_needed) here.emplace(k, f_.constant(name_here(k), coordinate(k, at.at(k))));
    Var i = carried ? *coming : f_.constant(name(var), smallest());
    std::map<int, Expr> found;
    std::set<int> taken;
    bool reads = phase_ == Phase::Fill || in_producer_;
    std::optional<Var> sum;
    if (terms && reads) sum = f_.variable("sum", ir::zero(ir::value_of(type_of(loop.body.as<Assign>()->rhs))));
    for (int k : walked) {
      found.emplace(k, f_.constant(fmt::format("has_{}{}", tensor_name(k + 1), states_[size_t(k)].level + 1),
                                   ir::equal(here.at(k), i)));
      // Of a last level only the value is wanted: one condition takes it and steps on.
      if (!carried || !is_last(k) || kernel_.assembly == Assembly::Shared) {
        enter(k, at.at(k), found.at(k), end.at(k));
        continue;
      }
      taken.insert(k);
      Var vals = vals_array(k + 1);
      std::optional<Var> value;
      if (reads && !sum)
        value =
            f_.variable(fmt::format("{}_{}", tensor_name(k + 1), name(var)), ir::zero(ir::value_of(vals.type.scalar)));
      f_.when(found.at(k), [&] {
        if (value) f_.assign(*value, ir::load(vals, at.at(k)));
        for (const Term& term : sum ? *terms : std::vector<Term>{})
          if (term.operand == k) f_.assign(*sum, ir::binary(term.sign, *sum, ir::load(vals, at.at(k))));
        f_.increase(at.at(k), 1);
        f_.assign(here.at(k), coordinate_or_past(k));
      });
      enter(k, at.at(k), found.at(k), end.at(k));
      if (value) states_[size_t(k)].value = Expr(*value);
    }
    std::vector<AccessState> entered = states_;
    auto body = [&] { bind(with_below(var, i), [&] { visit(loop.body); }); };
    if (all_alone) {
      if (sum) summed_ = *sum;
      some_present_.push_back(where.atoms());
      body();
      some_present_.pop_back();
      summed_.reset();
    } else {
      f_.when(any_of_all([&](int k) { return found.at(k); }), [&] {
        if (all_needed)
          for (int k : walked) states_[size_t(k)].present.reset();
        body();
      });
    }
    states_ = entry;
    for (int k : walked) {
      if (taken.contains(k)) continue;
      const AccessState& state = entered[size_t(k)];
      Expr next = state.group ? *state.group : Expr(at.at(k)) + 1;
      if (all_needed) {
        f_.assign(at.at(k), ir::select(found.at(k), next, at.at(k)));
        continue;
      }
      f_.when(found.at(k), [&] {
        f_.assign(at.at(k), next);
        f_.assign(here.at(k), coordinate_or_past(k));
      });
    }
    if (carried) f_.assign(*coming, smallest());
  });
}

}  // namespace spdistal::lower
