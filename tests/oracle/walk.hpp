// The iterations of a scheduled statement, walked one by one: what pieces must hold, found without the compiler.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "level/level.hpp"
#include "notation/concrete.hpp"
#include "tensor/iterate.hpp"

namespace spdistal::test {

using namespace notation;

inline void widen(std::optional<Range>& hull, int64_t value) {
  if (!hull) hull = Range{value, value + 1};
  else hull = Range{std::min(hull->lo, value), std::max(hull->hi, value + 1)};
}
inline void widen(std::optional<Range>& hull, const std::optional<Range>& more) {
  if (more && more->size() > 0) widen(hull, more->lo), widen(hull, more->hi - 1);
}

/// A position of a level of a whole tensor: its coordinates, and the positions above it, from the first level on.
struct Stored {
  std::vector<int64_t> coordinates, positions;
};
inline std::vector<Stored> stored_at(const Pattern& pattern, size_t last) {
  std::vector<Stored> above{{}};
  for (size_t k = 0; k <= last; k++) {
    const LevelFunctions& level = functions_of(pattern.format().levels()[k]);
    std::vector<Stored> here;
    for (const Stored& parent : above) {
      Range below = level.children(pattern.level(k), k == 0 ? 0 : parent.positions.back());
      for (int64_t p = below.lo; p < below.hi; p++) {
        here.push_back(parent);
        here.back().coordinates.push_back(level.coordinate(pattern.level(k), p));
        here.back().positions.push_back(p);
      }
    }
    above = std::move(here);
  }
  return above;
}

/// The iterations of a statement, walked without regard to what is stored except where loops count positions.
class Walk {
 public:
  /// A number of pieces that is not known is `pieces`.
  Walk(const ConcreteStatement& statement, const std::map<TensorVar, Storage>& whole, int64_t pieces)
      : statement_(statement), whole_(whole), pieces_(pieces) {
    find_values();  // coordinates that are given
  }

  /// f() for every turn of the outer loops, which are the outermost of the statement.
  void turns(const std::vector<IndexVar>& outer, const std::function<void()>& f, size_t next = 0) {
    if (next == outer.size()) return f();
    each_value(outer[next], [&] { turns(outer, f, next + 1); });
  }
  /// Walks the loops that are left.
  void visit(const Stmt& stmt) {
    if (auto* loop = stmt.as<Forall>()) return each_value(loop->var, [&] { visit(loop->body); });
    children(stmt, [&](const auto& child) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(child)>, Stmt>) visit(child);
    });
  }

  /// Where a block that is cut by weight begins, from the definition: at the first value whose middle lies at or after its
  /// share of all weights. Past the last block nothing is left.
  int64_t cut(const WeightedBlocks& blocks, int64_t block) {
    int64_t n = size(blocks.var), count = blocks.count.value().value_or(pieces_);
    if (block >= count) return n;
    std::vector<int64_t> weights(size_t(n), 0);
    for (const notation::Access& access : blocks.operands) {
      const Pattern& pattern = whole_.at(access.tensor).pattern();
      for (const Stored& s : stored_at(pattern, pattern.order() - 1))
        if (s.coordinates[0] < n) weights[size_t(s.coordinates[0])]++;  // windows leave out what is beyond
    }
    int64_t all = 0, before = 0, value = 0;
    for (int64_t weight : weights) all += weight;
    while (value < n && count * (2 * before + weights[size_t(value)]) < 2 * block * all)
      before += weights[size_t(value++)];
    return value;
  }

  /// How many positions have coordinates of the first level that come before one.
  int64_t positions_before(const Levels& levels, const IndexExpr& coordinate) {
    int64_t end = number(coordinate);
    std::vector<Stored> all = positions(levels);
    return std::count_if(all.begin(), all.end(), [&](const Stored& s) { return s.coordinates[levels.first] < end; });
  }

  std::map<IndexVar, int64_t> values;
  std::map<IndexVar, std::optional<Range>> touched;  // values of variables since it was last cleared

 private:
  void each_value(const IndexVar& var, const std::function<void()>& f) {
    const Root* root = statement_.provenance.root(var);
    int64_t begin = root && root->fixed ? *root->fixed : 0, end = root && root->fixed ? begin + 1 : size(var);
    std::map<IndexVar, int64_t> saved = values;
    for (int64_t v = begin; v < end; v++) {
      values[var] = v;
      bool inside = find_values();
      // Positions are gone to before what follows from them is compared with sizes.
      for (const auto& [known, value] : values)
        if (inside || statement_.provenance.positions_of(known)) widen(touched[known], value);
      if (inside) f();
      values = saved;
    }
  }
  // False where a value lies beyond its size; it is left out, and what follows from it.
  bool find_values() {
    bool inside = true;
    const std::vector<Relation>& relations = statement_.provenance.relations;
    for (auto relation = relations.rbegin(); relation != relations.rend(); ++relation) {
      std::vector<IndexVar> needs = relation->needs();
      bool known = std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return values.contains(v); });
      if (!known || values.contains(relation->replaced[0].var)) continue;
      for (const Replaced& r : relation->replaced) {
        values[r.var] = number(r.value);
        if (r.guard == Guard::Checked && values[r.var] >= size(r.var)) {
          values.erase(r.var);
          inside = false;
          continue;
        }
        auto* stored = r.value.as<StoredCoordinate>();
        for (size_t level = stored ? stored->levels.first : 1; stored && level <= stored->levels.last; level++)
          values[stored->levels.var(level)] =
              positions(stored->levels)[size_t(number(stored->position))].coordinates[level];
      }
    }
    return inside;
  }
  int64_t size(const IndexVar& var) {
    if (const Root* root = statement_.provenance.root(var)) return *root->size.value();
    for (const Made& made : statement_.provenance.made_by(var)->made)
      if (made.var == var) return number(made.size);
    return 0;
  }
  int64_t number(const IndexExpr& expr) {
    return match(
        expr, [&](const ValueOf& n) { return values.at(n.var); }, [&](const SizeOf& n) { return size(n.var); },
        [&](const notation::IndexNumber& n) { return n.value.value().value_or(pieces_); },
        [&](const IndexBinary& n) { return combine(n.op, number(n.a), number(n.b)); },
        [&](const StoredCount& n) {
          if (n.levels.block)
            return positions_before(n.levels, n.levels.block->end) - positions_before(n.levels, n.levels.block->first);
          return int64_t(positions(n.levels).size());
        },
        [&](const StoredBefore& n) { return positions_before(n.levels, n.levels.block->first); },
        [&](const StoredCoordinate& n) {
          int64_t fused = 0;
          Stored at = positions(n.levels)[size_t(number(n.position))];
          if (n.levels.block) at.coordinates[n.levels.first] -= number(n.levels.block->first);
          for (size_t level = n.levels.first; level <= n.levels.last; level++)
            fused = fused * size(n.levels.var(level)) + at.coordinates[level];
          return fused;
        },
        [&](const BlockStart& n) { return cut(n.blocks, number(n.number)); },
        [&](const BlockSize& n) {
          int64_t block = number(n.number);
          return cut(n.blocks, block + 1) - cut(n.blocks, block);
        });
  }
  std::vector<Stored> positions(const Levels& levels) {
    std::vector<Stored> all = stored_at(whole_.at(levels.access.tensor).pattern(), levels.last);
    std::erase_if(all, [&](const Stored& s) {
      for (size_t level = 0; level < levels.first; level++)
        if (s.coordinates[level] != values.at(levels.var(level))) return true;
      return false;
    });
    return all;
  }

  const ConcreteStatement& statement_;
  const std::map<TensorVar, Storage>& whole_;
  int64_t pieces_;
};

}  // namespace spdistal::test
