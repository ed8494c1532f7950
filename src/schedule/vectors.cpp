#include "schedule/vectors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "format/questions.hpp"
#include "notation/races.hpp"
#include "schedule/refuse.hpp"

namespace spdistal::schedule {

using namespace notation;

namespace {

constexpr const char* elsewhere = "parallelize an innermost loop with CPUVector, this one with CPUThread";

bool share_a_root(const Provenance& provenance, const IndexVar& a, const IndexVar& b) {
  std::vector<IndexVar> roots = provenance.roots_of(a);
  for (const IndexVar& root : provenance.roots_of(b))
    if (std::find(roots.begin(), roots.end(), root) != roots.end()) return true;
  return false;
}

/// An access that does not store the same for every lane: the lanes themselves, or what a loop inside walks.
struct Uneven {
  notation::Access access;
  std::optional<IndexVar> walked_by;
};

std::optional<Uneven> uneven_in(const Provenance& provenance, const Forall& loop, const notation::Access& access) {
  const Format& format = access.tensor.format();
  bool below_lanes = false;
  for (size_t level = 0; level < access.indices.size(); level++) {
    const IndexVar& index = access.indices[size_t(format.mode_order()[level])];
    bool lanes = provenance.depends(index, loop.var), full = stores_all(format.levels()[level]);
    if (lanes && !full) return Uneven{access, {}};
    if (below_lanes && !full)
      for (const IndexVar& inside : loop_variables(loop.body))
        if (provenance.depends(index, inside)) return Uneven{access, inside};
    below_lanes |= lanes;
  }
  return {};
}

std::optional<Uneven> find_uneven(const Provenance& provenance, const Forall& loop) {
  std::optional<Uneven> out;
  auto look = [&](const notation::Access& access) {
    if (!out) out = uneven_in(provenance, loop, access);
  };
  each<Assign>(loop.body, [&](const Assign& assign) {
    look(assign.lhs);
    each<notation::Access>(assign.rhs, look);
  });
  return out;
}

/// A workspace with elements of its own for each lane.
std::optional<TensorVar> workspace_in(const Stmt& body) {
  std::optional<TensorVar> out;
  each<Where>(body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& assign) {
      if (assign.lhs.tensor.origin() == Origin::Temporary && assign.lhs.tensor.order() > 0) out = assign.lhs.tensor;
    });
  });
  return out;
}

}  // namespace

Result<> check_lanes(std::string_view command, const ConcreteStatement& statement, const IndexVar& var) {
  Refusal refuse(command, statement);
  const Provenance& provenance = statement.provenance;
  const Forall& loop = *find_loop(statement.body, var);
  std::vector<IndexVar> inside = loop_variables(loop.body);
  if (inside.empty()) return {};
  std::string lanes = refuse.name(var);
  if (std::optional<Assign> shared = find_race(statement, var))
    return refuse.at(
        var,
        fmt::format("the loop over {} has loops inside it, and several of its iterations write the same {}", lanes,
                    refuse(shared->lhs)),
        "vectors sum in innermost loops; around others they take loops over dimensions of the result");
  for (const IndexVar& other : inside)
    if (share_a_root(provenance, var, other))
      return refuse.at(
          var,
          fmt::format("the loop over {} has another part of its variable inside it, the loop over {}, which "
                      "would not end at once for all lanes of a vector",
                      lanes, refuse.name(other)),
          fmt::format("parallelize the loop over {} with CPUVector", refuse.name(other)));
  if (const Levels* levels = provenance.positions_of(var))
    return refuse.at(
        var,
        fmt::format("the loop over {} has loops inside it and walks what {} stores", lanes, refuse(levels->access)),
        elsewhere);
  for (const IndexVar& other : inside)
    for (const IndexVar& with : provenance.range_depends_on(other))
      if (provenance.depends(with, var))
        return refuse.at(other,
                         fmt::format("the loop over {} {}, and would not end at once for all lanes of a vector over {}",
                                     refuse.name(other), changing_range(refuse, statement, other, with), lanes),
                         elsewhere);
  if (std::optional<Uneven> uneven = find_uneven(provenance, loop)) {
    std::string access = refuse(uneven->access);
    if (!uneven->walked_by)
      return refuse.at(var, fmt::format("the loop over {} has loops inside it and walks what {} stores", lanes, access),
                       elsewhere);
    return refuse.at(*uneven->walked_by,
                     fmt::format("the loop over {} walks what {} stores for one {}, and would not end at once for all "
                                 "lanes of a vector over {}",
                                 refuse.name(*uneven->walked_by), access, lanes, lanes),
                     elsewhere);
  }
  if (std::optional<TensorVar> workspace = workspace_in(loop.body))
    return refuse.at(var,
                     fmt::format("the loop over {} has a workspace of its own for each iteration, {}", lanes,
                                 refuse.name(*workspace)),
                     "precompute outside of the loop, or one number: precompute(…, {}, {}, w)");
  return {};
}

}  // namespace spdistal::schedule
