// The choice of patterns.
#include <algorithm>
#include <map>
#include <set>

#include "lower/access.hpp"
#include "lower/active.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/questions.hpp"
#include "lower/result/strategy.hpp"

namespace spdistal::lower {

using namespace notation;

namespace {

// The workspaces with lists that a loop over a variable reads, by their atoms.
std::map<int, TensorVar> workspaces_read(const Scope& s, const Stmt& body, const IndexVar& var) {
  std::map<int, TensorVar> out;
  int atom = first_workspace_atom;
  for (const auto& [tensor, temporary] : s.temporaries) {
    bool read = false;
    each<Assign>(body, [&, tensor = tensor](const Assign& a) {
      each<Access>(a.rhs, [&](const Access& x) { read |= x.tensor == tensor && x.indices == std::vector{var}; });
    });
    if (temporary.list && read) out.emplace(atom, tensor);
    atom++;
  }
  return out;
}

bool is_single(const Formula& where) { return where.alternatives().size() == 1 && where.alternatives()[0].size() == 1; }

// Has a level of a result that is appended to a place for every coordinate of this variable?
bool has_places_in_result(const Context& c, const Stmt& body, const IndexVar& var) {
  if (c.kernel.assembly != Assembly::Appended || !holds_result(c, body)) return false;
  std::vector<IndexVar> ours = storage_order(c.lhs);
  for (size_t level = 0; level < ours.size(); level++)
    if (ours[level] == var && stores_all(c.functions(0, level))) return true;
  return false;
}

LoopPattern over_coordinates(const Context& c, const Scope& s, const Stmt& body, const IndexVar& var) {
  std::set<int> atoms, in_order;
  for (int k : operands_over(c, s, var)) {
    if (stores_all(next_functions(c, s, k))) continue;
    atoms.insert(k);
    const Window* window = window_at(c, s, k);
    bool strides = window && window->stride != 1;
    if (next_functions(c, s, k).seek && !next_functions(c, s, k).stored && !strides) in_order.insert(k);
  }
  std::map<int, TensorVar> workspaces = workspaces_read(s, body, var);
  std::set<int> with_workspaces = atoms;
  for (const auto& [atom, tensor] : workspaces) with_workspaces.insert(atom);
  Formula where = where_active(c, s, body, with_workspaces);
  if (!workspaces.empty() && !is_single(where)) where = where_active(c, s, body, atoms);
  // What has no order goes along with nothing, nor what has places for all, or coordinates between strides: it is looked up,
  // or walked alone.
  auto unordered = [&](int atom) { return atoms.contains(atom) && !in_order.contains(atom); };
  if (std::set<int> all = where.atoms(); std::any_of(all.begin(), all.end(), unordered)) {
    bool alone = where.alternatives().size() == 1 && std::all_of(all.begin(), all.end(), unordered);
    where = alone ? Formula::atom(*all.begin()) : where_active(c, s, body, in_order);
  }
  std::vector<int> along(in_order.begin(), in_order.end());
  if (!where.is_always() && has_places_in_result(c, body, var)) return RangePattern{along, Clip::ToDenseLevels};
  if (where.is_never()) return NoPattern{};
  if (where.is_always()) return RangePattern{along};
  if (!is_single(where)) return MergePattern{where};
  int atom = *where.atoms().begin();
  if (atom >= first_workspace_atom) return ListPattern{workspaces.at(atom)};
  return StoredPattern{atom};
}

// Are positions all that a body needs of an access: are their coordinates looked up nowhere else?
bool needs_positions_alone(const Context& c, const Stmt& body, const Levels& levels) {
  if (c.kernel.assembly != Assembly::Shared || c.kernel.shared_tensor != c.find_operand(levels.access) + 1)
    return false;
  bool alone = true;
  each<Assign>(body, [&](const Assign& a) {
    each<Access>(a.rhs, [&](const Access& x) {
      for (size_t k = levels.first; k <= levels.last && !structurally_equal(x, levels.access); k++)
        alone &= std::find(x.indices.begin(), x.indices.end(), levels.var(k)) == x.indices.end();
    });
  });
  return alone;
}

// Row by row, where the result has places and positions of a row have something in common.
LoopPattern over_positions(const Context& c, const Stmt& body, const Levels& levels) {
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  PositionsPattern one_by_one{levels};
  if (!has_places(c) || !holds_result(c, body) || levels.first == levels.last) return one_by_one;
  size_t stored = levels.last;
  while (stored > levels.first && !kernel_functions(formats[stored]).first) stored--;
  if (!kernel_functions(formats[stored]).weight) return one_by_one;
  size_t common = levels.first;  // the levels before this one index the result
  while (common < levels.last && indexes_result(c, levels.var(common))) common++;
  // Of what is found once for a row a GPU makes nothing where nobody needs it: each thread takes a position.
  bool apart = common == levels.last && indexes_result(c, levels.var(common));
  if (is_for_gpu(c) && apart && needs_positions_alone(c, body, levels)) return one_by_one;
  if (stored == levels.first) {
    if (common == levels.first) return one_by_one;
    return RowsPattern{levels, common - 1, stored, RowsPattern::Kind::Runs};
  }
  // Where rows do not tell elements apart, the levels above the last are still found once for each position there.
  bool some = common > levels.first;
  return RowsPattern{levels, (some ? std::min(common, stored) : stored) - 1, stored, RowsPattern::Kind::Positions};
}

}  // namespace

LoopPattern choose_pattern(const Context& c, const Scope& s, const Forall& forall, const IndexVar& top) {
  const Relation* relation = c.provenance.made_by(top);
  const StoredCoordinate* stored = relation ? relation->replaced[0].value.as<StoredCoordinate>() : nullptr;
  if (stored) return over_positions(c, forall.body, stored->levels);
  if (c.provenance.root(top)) return over_coordinates(c, s, forall.body, top);
  return RangePattern{};
}

}  // namespace spdistal::lower
