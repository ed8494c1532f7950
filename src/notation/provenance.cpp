#include "notation/provenance.hpp"

#include <algorithm>
#include <functional>

#include "base/require.hpp"
#include "format/questions.hpp"

namespace spdistal::notation {
namespace {

using Renaming = std::vector<std::pair<IndexVar, IndexVar>>;

IndexVar renamed(const IndexVar& var, const Renaming& renaming) {
  for (const auto& [from, to] : renaming)
    if (from == var) return to;
  return var;
}

// Expressions in it have been renamed already.
Levels renamed(Levels levels, const Renaming& renaming) {
  for (IndexVar& var : levels.access.indices) var = renamed(var, renaming);
  if (levels.block) levels.block->part = renamed(levels.block->part, renaming);
  return levels;
}

WeightedBlocks renamed(WeightedBlocks blocks, const Renaming& renaming) {
  blocks.var = renamed(blocks.var, renaming);
  for (Access& access : blocks.operands)
    for (IndexVar& var : access.indices) var = renamed(var, renaming);
  return blocks;
}

// The levels whose coordinates a relation reads off, if it is about positions.
const Levels* positions(const Relation& relation) {
  for (const Replaced& replaced : relation.replaced)
    if (auto* stored = replaced.value.as<StoredCoordinate>()) return &stored->levels;
  return nullptr;
}

}  // namespace

IndexExpr coordinate_of(const Window& window) {
  if (!window.of) return number(window.offset);
  IndexExpr out = value_of(*window.of);
  if (window.stride != 1) out = number(window.stride) * out;
  return window.offset == 0 ? out : number(window.offset) + out;
}

IndexExpr rename(const IndexExpr& expr, const Renaming& renaming) {
  return rewrite(
      expr, [&](const ValueOf& n) -> IndexExpr { return ValueOf{renamed(n.var, renaming)}; },
      [&](const SizeOf& n) -> IndexExpr { return SizeOf{renamed(n.var, renaming)}; },
      [&](const StoredCount& n) -> IndexExpr { return StoredCount{renamed(n.levels, renaming)}; },
      [&](const StoredBefore& n) -> IndexExpr { return StoredBefore{renamed(n.levels, renaming)}; },
      [&](const StoredCoordinate& n) -> IndexExpr {
        return StoredCoordinate{renamed(n.levels, renaming), n.position};
      },
      [&](const BlockStart& n) -> IndexExpr {
        return BlockStart{renamed(n.blocks, renaming), n.number};
      },
      [&](const BlockSize& n) -> IndexExpr {
        return BlockSize{renamed(n.blocks, renaming), n.number};
      });
}

Relation rename(const Relation& relation, const Renaming& renaming) {
  Relation out = relation;
  for (Replaced& r : out.replaced) r = {renamed(r.var, renaming), rename(r.value, renaming), r.guard};
  for (Made& m : out.made) m = {renamed(m.var, renaming), rename(m.size, renaming), m.suffix};
  return out;
}

std::optional<Offset> offset_of(const IndexExpr& value, const IndexVar& var) {
  auto is_var = [&](const IndexExpr& expr) {
    auto* same = expr.as<ValueOf>();
    return same && same->var == var;
  };
  if (is_var(value)) return Offset{};
  auto* sum = value.as<IndexBinary>();
  if (!sum || sum->op != IndexOp::Add || !is_var(sum->b)) return std::nullopt;
  return Offset{sum->a};
}

bool Relation::replaces(const IndexVar& var) const {
  return std::any_of(replaced.begin(), replaced.end(), [&](const Replaced& r) { return r.var == var; });
}

bool Relation::makes(const IndexVar& var) const {
  return std::any_of(made.begin(), made.end(), [&](const Made& m) { return m.var == var; });
}

const IndexExpr& Relation::value_of(const IndexVar& var) const {
  auto found = std::find_if(replaced.begin(), replaced.end(), [&](const Replaced& r) { return r.var == var; });
  require(found != replaced.end(), "a relation tells how the variables that it replaces are found");
  return found->value;
}

std::vector<IndexVar> Relation::needs() const {
  std::vector<IndexVar> out;
  for (const Replaced& r : replaced)
    each<ValueOf>(r.value, [&](const ValueOf& v) {
      if (std::find(out.begin(), out.end(), v.var) == out.end()) out.push_back(v.var);
    });
  return out;
}

const BlockStart* Relation::block() const {
  const IndexBinary* sum = replaced[0].value.as<IndexBinary>();
  return sum ? sum->a.as<BlockStart>() : nullptr;
}

const Root* Provenance::root(const IndexVar& var) const {
  auto found = std::find_if(roots.begin(), roots.end(), [&](const Root& root) { return root.var == var; });
  return found == roots.end() ? nullptr : &*found;
}

const Relation* Provenance::made_by(const IndexVar& var) const {
  auto found = std::find_if(relations.begin(), relations.end(), [&](const Relation& r) { return r.makes(var); });
  return found == relations.end() ? nullptr : &*found;
}

const Relation* Provenance::replaced_by(const IndexVar& var) const {
  auto found = std::find_if(relations.begin(), relations.end(), [&](const Relation& r) { return r.replaces(var); });
  return found == relations.end() ? nullptr : &*found;
}

std::vector<IndexVar> Provenance::roots_of(const IndexVar& var) const {
  const Relation* relation = made_by(var);
  if (!relation) return {var};
  std::vector<IndexVar> out;
  for (const Replaced& parent : relation->replaced)
    for (const IndexVar& root : roots_of(parent.var)) out.push_back(root);
  return out;
}

const Levels* Provenance::positions_of(const IndexVar& var) const {
  const Relation* relation = made_by(var);
  if (!relation) return nullptr;
  if (const Levels* levels = positions(*relation)) return levels;
  for (const Replaced& parent : relation->replaced)
    if (const Levels* levels = positions_of(parent.var)) return levels;
  return nullptr;
}

bool Provenance::determined(const IndexVar& var, const std::vector<IndexVar>& loops) const {
  if (std::find(loops.begin(), loops.end(), var) != loops.end()) return true;
  const Relation* relation = replaced_by(var);
  if (!relation) return false;
  std::vector<IndexVar> needed = relation->needs();
  return std::all_of(needed.begin(), needed.end(), [&](const IndexVar& child) { return determined(child, loops); });
}

bool Provenance::depends(const IndexVar& var, const IndexVar& loop) const {
  if (var == loop) return true;
  const Relation* relation = replaced_by(var);
  if (!relation) return false;
  std::vector<IndexVar> needed = relation->needs();
  return std::any_of(needed.begin(), needed.end(), [&](const IndexVar& child) { return depends(child, loop); });
}

bool Provenance::bounded_by(const IndexVar& var, const IndexVar& loop) const {
  if (var == loop) return true;
  const Relation* relation = replaced_by(var);
  if (!relation) return false;
  std::function<bool(const IndexExpr&)> looks = [&](const IndexExpr& expr) {
    return match(
        expr, [&](const ValueOf& n) { return bounded_by(n.var, loop); }, [](const SizeOf&) { return false; },
        [](const IndexNumber&) { return false; }, [&](const IndexBinary& n) { return looks(n.a) || looks(n.b); },
        [](const StoredCount&) { return false; },
        [&](const StoredBefore& n) { return looks(n.levels.block->first) || looks(n.levels.block->end); },
        [](const StoredCoordinate&) { return false; }, [&](const BlockStart& n) { return looks(n.number); },
        [](const BlockSize&) { return false; });
  };
  return looks(relation->value_of(var));
}

IndexVar Provenance::ranges_over(IndexVar var, const std::vector<IndexVar>& known) const {
  while (const Relation* relation = made_by(var)) {
    const Replaced& up = relation->replaced[0];
    if (relation->replaced.size() != 1 || !offset_of(up.value, var)) break;
    std::vector<IndexVar> needs = relation->needs();
    if (!std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return v == var || determined(v, known); }))
      break;
    var = up.var;
  }
  return var;
}

std::vector<IndexVar> Provenance::range_depends_on(const IndexVar& var) const {
  std::vector<IndexVar> out;
  const Relation* relation = made_by(var);
  if (!relation) return out;
  if (const Levels* levels = positions(*relation))
    for (size_t level = 0; level < levels->first; level++) out.push_back(levels->var(level));
  for (const Made& made : relation->made)
    if (made.var == var) each<ValueOf>(made.size, [&](const ValueOf& v) { out.push_back(v.var); });
  for (const Replaced& parent : relation->replaced)
    for (const IndexVar& root : range_depends_on(parent.var)) out.push_back(root);
  return out;
}

Provenance number_places(Provenance provenance) {
  for (Relation& relation : provenance.relations) {
    const StoredCoordinate* stored = relation.replaced[0].value.as<StoredCoordinate>();
    if (!stored || stored->levels.first > 0) continue;
    const std::vector<LevelFormat>& levels = stored->levels.access.tensor.format().levels();
    if (!std::all_of(levels.begin(), levels.begin() + long(stored->levels.last) + 1, counts_places)) continue;
    relation.made[0].size = size_of(relation.replaced[0].var);
    relation.replaced[0].value = IndexExpr(stored->position);
  }
  return provenance;
}

}  // namespace spdistal::notation

namespace spdistal {

SPDISTAL_FAMILY(notation::IndexKinds)

}  // namespace spdistal
