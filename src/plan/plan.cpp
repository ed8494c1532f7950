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

namespace {
Result<> broken(std::string what) { return Diagnostic{std::move(what), {}, {}}; }
}  // namespace

Result<> verify(const Plan& plan) {
  if (plan.accesses.empty()) return broken("a plan has a result");
  std::vector<bool> fetched(plan.accesses.size());
  auto check = [&](size_t number) -> Result<> {
    const AccessPlan& access = plan.accesses[number];
    if (access.projections.size() != access.variables.size())
      return broken(fmt::format("{} has {} projections for {} dimensions", access.text, access.projections.size(),
                                access.variables.size()));
    for (const Projection& projection : access.projections)
      if (auto* gather = std::get_if<Gather>(&projection))
        for (size_t source : sources(gather->set))
          if (!fetched[source])
            return broken(
                fmt::format("{} is gathered by {}, which is not there yet", access.text, plan.accesses[source].text));
    std::set<Name> defined;
    for (const PartitionStatement& s : access.partitions) {
      for (const Name& in : s.in)
        if (!defined.contains(in))
          return broken(fmt::format("{}: a partition is used before it is there", access.text));
      if (s.op == Op::Init || s.op == Op::Entry) continue;
      if (!defined.insert(s.out).second) return broken(fmt::format("{}: a partition is made twice", access.text));
    }
    if (!access.dims.empty() && !access.partitions.empty() &&
        !defined.contains({access.dims.size() - 1, LevelPart::Positions, Name::whole}))
      return broken(fmt::format("{}: the values are not partitioned", access.text));
    if (access.depth > plan.loops.size()) return broken(fmt::format("{} is fetched inside of the leaf", access.text));
    fetched[number] = true;
    return {};
  };
  for (size_t number : plan.fetch_order)
    if (Result<> good = check(number); !good) return good;
  return check(0);
}

}  // namespace spdistal::plan
