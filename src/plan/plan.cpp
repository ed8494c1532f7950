#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/require.hpp"

namespace spdistal::plan {

Set both(const Set& a, const Set& b) {
  if (a.is<Everything>() || a == b) return b;
  if (b.is<Everything>()) return a;
  return Both{a, b};
}

Set either(const Set& a, const Set& b) {
  if (a.is<Everything>() || a == b) return a;
  if (b.is<Everything>()) return b;
  return Either{a, b};
}

std::vector<size_t> sources(const Set& set) {
  std::vector<size_t> out;
  each<Occurring>(set, [&](const Occurring& o) {
    if (std::find(out.begin(), out.end(), o.access) == out.end()) out.push_back(o.access);
  });
  return out;
}

// ---- actions ----

std::vector<size_t> Plan::operands() const {
  std::vector<size_t> out;
  for (const Action& action : actions)
    each<FetchPieces>(action, [&](const FetchPieces& n) { out.push_back(n.access); });
  return out;
}

namespace {

// Those that are done inside of all steps from one on, in which others are nested.
class ActionMaker {
 public:
  ActionMaker(const Plan& plan, const std::vector<size_t>& operands) : plan_(plan), operands_(operands) {
    for (size_t k = 0; k < plan.loops.size(); k++)
      if (plan.loops[k].kind == Loop::Kind::Step) steps_.push_back(k);
  }

  std::vector<Action> inside(size_t depth) const {
    std::vector<Action> out;
    for (size_t access : operands_) {
      if (steps_around(access) != depth) continue;
      out.emplace_back(MakePartition{access});
      out.emplace_back(FetchPieces{access});
    }
    if (steps_around(0) == depth) out.emplace_back(MakePartition{0});
    if (depth < steps_.size()) out.emplace_back(ForSteps{steps_[depth], inside(depth + 1)});
    else out.emplace_back(LaunchLeaf{});
    if (goes_home_in() == depth) out.emplace_back(TakeHome{});
    return out;
  }

 private:
  size_t steps_around(size_t access) const {
    size_t loops = plan_.accesses[access].loops.size();
    return size_t(std::ranges::count_if(steps_, [&](size_t loop) { return loop < loops; }));
  }
  // What a sparse result stores is known when all of it is there.
  size_t goes_home_in() const { return plan_.accesses[0].access.tensor.format().is_dense() ? steps_around(0) : 0; }

  const Plan& plan_;
  const std::vector<size_t>& operands_;
  std::vector<size_t> steps_;  // loops
};

}  // namespace

std::vector<Action> actions_of(const Plan& plan, const std::vector<size_t>& operands) {
  return ActionMaker(plan, operands).inside(0);
}

// ---- what always holds ----

namespace {

Result<> broken(std::string what) { return Diagnostic{std::move(what), {}, {}}; }

class PlanVerifier {
 public:
  explicit PlanVerifier(const Plan& plan)
      : plan_(plan), partitioned_(plan.accesses.size()), brought_(plan.accesses.size()) {}

  Result<> run() {
    if (plan_.accesses.empty()) return broken("a plan has a result");
    if (Result<> good = check(plan_.actions, {}); !good) return good;
    if (launches_ != 1) return broken(fmt::format("a plan has one launch, not {}", launches_));
    if (homecomings_ != 1) return broken(fmt::format("a result goes home once, not {} times", homecomings_));
    return {};
  }

 private:
  Result<> check(const std::vector<Action>& actions, const std::vector<size_t>& around) {
    for (const Action& action : actions) {
      Result<> good = match(
          action, [&](const MakePartition& n) { return check_partition(n.access, around); },
          [&](const FetchPieces& n) { return check_fetch(n.access); },
          [&](const LaunchLeaf&) { return check_launch(around); }, [&](const TakeHome&) { return check_homecoming(); },
          [&](const ForSteps& n) { return check_steps(n, around); });
      if (!good) return good;
    }
    return {};
  }

  Result<> check_partition(size_t number, const std::vector<size_t>& around) {
    if (number >= plan_.accesses.size()) return broken("an action names an access that there is");
    const AccessPlan& access = plan_.accesses[number];
    size_t order = access.access.indices.size();
    if (access.projections.size() != order)
      return broken(
          fmt::format("{} has {} projections for {} dimensions", access.text, access.projections.size(), order));
    for (const Projection& projection : access.projections)
      if (auto* gather = std::get_if<Gather>(&projection))
        for (size_t source : sources(gather->set))
          if (!brought_[source])
            return broken(
                fmt::format("{} is gathered by {}, which is not there yet", access.text, plan_.accesses[source].text));
    if (Result<> good = check_statements(access, number > 0 || access.access.tensor.format().is_dense()); !good)
      return good;
    if (access.loops.size() > plan_.loops.size())
      return broken(fmt::format("{} is fetched inside of the leaf", access.text));
    for (size_t k = 0; k < access.loops.size(); k++) {
      bool steps = plan_.loops[k].kind == Loop::Kind::Step;
      if (steps && std::ranges::find(around, k) == around.end())
        return broken(fmt::format("{} is cut by steps that are not around it", access.text));
    }
    if (partitioned_[number]) return broken(fmt::format("{} is partitioned twice", access.text));
    partitioned_[number] = true;
    return {};
  }

  // What a sparse result stores is known once it is there.
  static Result<> check_statements(const AccessPlan& access, bool stored) {
    std::set<Name> defined;
    for (const PartitionStatement& s : access.partitions) {
      for (const Name& in : s.in)
        if (!defined.contains(in))
          return broken(fmt::format("{}: a partition is used before it is there", access.text));
      if (s.op == Op::Init || s.op == Op::Entry) continue;
      if (!defined.insert(s.out).second) return broken(fmt::format("{}: a partition is made twice", access.text));
    }
    if (stored && !access.dims.empty() && !access.partitions.empty() &&
        !defined.contains({access.dims.size() - 1, LevelPart::Positions, Name::whole}))
      return broken(fmt::format("{}: the values are not partitioned", access.text));
    return {};
  }

  Result<> check_fetch(size_t number) {
    if (number == 0 || number >= plan_.accesses.size()) return broken("what is fetched is an operand");
    if (!partitioned_[number])
      return broken(fmt::format("{} is brought before it is partitioned", plan_.accesses[number].text));
    brought_[number] = true;
    return {};
  }

  Result<> check_launch(const std::vector<size_t>& around) {
    launches_++;
    for (size_t k = 0; k < plan_.accesses.size(); k++)
      if (k == 0 ? !partitioned_[0] : !brought_[k])
        return broken(fmt::format("{} is not there when the leaf runs", plan_.accesses[k].text));
    for (size_t k = 0; k < plan_.loops.size(); k++)
      if ((plan_.loops[k].kind == Loop::Kind::Step) != (std::ranges::find(around, k) != around.end()))
        return broken("a leaf runs inside of all steps");
    return {};
  }

  Result<> check_homecoming() {
    homecomings_++;
    return launches_ > 0 ? Result<>() : broken("a result goes home before it is there");
  }

  Result<> check_steps(const ForSteps& steps, std::vector<size_t> around) {
    if (steps.loop >= plan_.loops.size() || plan_.loops[steps.loop].kind != Loop::Kind::Step)
      return broken("steps are those of a loop that is not distributed");
    if (!around.empty() && around.back() >= steps.loop) return broken("steps are nested as their loops are");
    around.push_back(steps.loop);
    return check(steps.actions, around);
  }

  const Plan& plan_;
  std::vector<bool> partitioned_, brought_;  // by access
  int launches_ = 0, homecomings_ = 0;
};

}  // namespace

Result<> verify(const Plan& plan) { return PlanVerifier(plan).run(); }

}  // namespace spdistal::plan
