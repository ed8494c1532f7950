#include "compile/homes.hpp"

#include "base/require.hpp"
#include "notation/bounds.hpp"
#include "schedule/distribution.hpp"

namespace spdistal {

using namespace notation;
using runtime::ColourGrid;
using runtime::Space;

namespace {

// The level whose positions a variable counts, and the loops that deal them out, each what the one before leaves.
struct PositionLoops {
  size_t level;
  std::vector<IndexVar> loops;
  std::optional<IndexVar> rows = {};  // where the positions of blocks of rows are dealt out by themselves
};

// The variable that counts the positions which are dealt out: of a block of rows, from its first on.
IndexVar counted_by(const Provenance& provenance, const StoredCoordinate& at) {
  const IndexVar& position = at.position.as<ValueOf>()->var;
  if (!at.levels.block) return position;
  return provenance.replaced_by(position)->value_of(position).as<IndexBinary>()->b.as<ValueOf>()->var;
}

std::vector<PositionLoops> position_loops(const ConcreteStatement& statement, const std::vector<Forall>& loops) {
  std::vector<PositionLoops> out;
  for (const Relation& relation : statement.provenance.relations)
    for (const Replaced& r : relation.replaced)
      if (auto* at = r.value.as<StoredCoordinate>()) {
        PositionLoops found{at->levels.last, {}};
        if (at->levels.block) found.rows = at->levels.var(at->levels.first);
        IndexVar counter = counted_by(statement.provenance, *at);
        for (const Forall& loop : loops)
          if (statement.provenance.bounded_by(counter, loop.var)) found.loops.push_back(loop.var);
        if (!found.loops.empty()) out.push_back(std::move(found));
      }
  return out;
}

}  // namespace

void bind_machine(const Machine& machine, int ranks) {
  bool first = true;
  for (const Grid& grid : machine.levels())
    for (const Extent& extent : grid.extents()) {
      if (extent.param() && !extent.value()) Param(*extent.param()).bind(first ? ranks : 1);
      first = false;
    }
}

Shares homes_of(const TensorVar& tensor, int ranks) {
  std::vector<int64_t> dims = known_dims(tensor);
  const std::optional<Distribution>& distribution = tensor.format().distribution();
  if (!distribution) return blocked(tensor.format(), dims, ranks);
  bind_machine(distribution->machine(), ranks);

  ConcreteStatement statement = schedule::place(tensor).scheduled;
  std::vector<Forall> loops;
  for (const Forall& loop : outer_loops(statement.body))
    if (loop.tags.place == LoopPlace::Distributed) loops.push_back(loop);
  std::optional<notation::Access> access;
  each<Assign>(statement.body, [&](const Assign& a) { access = a.lhs; });
  std::vector<PositionLoops> positions = position_loops(statement, loops);
  // How many positions there are does not matter here: blocks of them are named by their number.
  constexpr int64_t any = int64_t(1) << 60;
  Bounds bounds(
      statement.provenance, [](const Levels&) { return any; }, {},
      [](const Levels&, int64_t) {
        return Range{0, any};
      });

  std::vector<int64_t> extents;
  for (const Forall& loop : loops) extents.push_back(bounds.size(loop.var));
  Shares out{ColourGrid(extents), {}};
  // One colour has everything: rows too, where there are no columns and thus no elements to deal out.
  if (out.grid.count() == 1) return {out.grid, {whole_share(dims)}};
  for (int64_t colour = 0; colour < out.grid.count(); colour++) {
    std::vector<int64_t> point = out.grid.point_of(colour);
    LoopValues values;
    bool elsewhere = false;
    for (size_t k = 0; k < loops.size(); k++) {
      values.emplace(loops[k].var, point[k]);
      const Root* root = statement.provenance.root(loops[k].var);
      elsewhere |= root && root->fixed && *root->fixed != point[k];
    }
    Share share = whole_share(dims);
    for (size_t d = 0; d < dims.size(); d++) {
      Range r = elsewhere ? Range{0, 0} : bounds.of(access->indices[d], values);
      share.coordinates[d] = r.size() <= 0 ? Space(1) : Space::interval(r.lo, r.hi);
    }
    for (const FusedInterval& fused : bounds.fused(values)) {
      FusedRange range{{}, fused.range};
      for (const IndexVar& var : fused.vars)
        range.dims.push_back(
            size_t(std::find(access->indices.begin(), access->indices.end(), var) - access->indices.begin()));
      share.fused.push_back(std::move(range));
    }
    for (const PositionLoops& p : positions) {
      NestedParts part;
      for (const IndexVar& loop : p.loops) part.parts.push_back({values.at(loop), bounds.size(loop)});
      share.positions.push_back({p.level, std::move(part)});
      if (p.rows && !elsewhere) share.positions.back().rows = bounds.of(*p.rows, values);
    }
    out.of.push_back(std::move(share));
  }
  return out;
}

}  // namespace spdistal
