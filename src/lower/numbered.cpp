#include "lower/numbered.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace spdistal::lower {

namespace {

using LevelKey = std::pair<int, size_t>;  // of a tensor of the call

// Walks a function once, in the order in which it runs: what is used is known by then.
class CoordinateUses {
 public:
  explicit CoordinateUses(const Lowered& kernel) {
    for (const ir::Param& param : kernel.function.params) {
      using Field = ir::Source::Field;
      LevelKey level{param.source.index, size_t(param.source.level)};
      if (level.first == 0) continue;  // what the result stores, somebody reads
      if (param.source.field == Field::Coordinates) arrays_.emplace(param.var.symbol, level);
      if (param.source.field == Field::Lo) firsts_.emplace(param.var.symbol, level);
      // Something is made of how many coordinates there are.
      if (param.source.field == Field::Extent) refused_.insert(level);
    }
    for (const LevelOfTensor& whole : kernel.whole_levels) refused_.emplace(whole.tensor, whole.level);
    walk(kernel.function.body);
  }

  std::vector<NumberedLevels> found() const {
    std::vector<NumberedLevels> out;
    std::set<LevelKey> seen;
    for (const auto& [stored, located] : pairs_) {
      if (seen.contains(stored)) continue;
      std::set<LevelKey> group = connected(stored);
      seen.insert(group.begin(), group.end());
      if (std::any_of(group.begin(), group.end(), [&](const LevelKey& level) { return refused_.contains(level); }))
        continue;
      NumberedLevels levels;
      for (const LevelKey& level : group)
        (stores(level) ? levels.stored : levels.located).push_back({level.first, level.second});
      out.push_back(std::move(levels));
    }
    return out;
  }

 private:
  // The level whose coordinate an expression is, just as it is stored.
  std::optional<LevelKey> coordinate(const ir::Expr& e) const {
    if (auto* cast = e.as<ir::Cast>()) return coordinate(cast->value);
    const ir::Var* var = e.as<ir::Var>();
    if (auto* load = e.as<ir::Load>(); load && load->lanes == 1) return find(arrays_, load->array);
    return var ? find(variables_, *var) : std::nullopt;
  }

  static std::optional<LevelKey> find(const std::map<Symbol, LevelKey>& among, const ir::Var& var) {
    auto found = among.find(var.symbol);
    return found == among.end() ? std::nullopt : std::optional(found->second);
  }

  // What a coordinate was found with is used like anything else.
  void walk_position(const ir::Expr& coordinate) {
    if (auto* cast = coordinate.as<ir::Cast>()) walk_position(cast->value);
    else if (auto* load = coordinate.as<ir::Load>()) walk(load->index);
  }

  template <class T>
  void walk(const T& value) {
    if constexpr (std::same_as<T, ir::Expr>) {
      if (!counts_places(value)) walk_fields(value);
    } else if constexpr (std::same_as<T, ir::Stmt>) {
      if (!names_coordinate(value)) walk_fields(value);
    } else if constexpr (std::same_as<T, ir::Var>) {
      for (const auto* known : {&arrays_, &firsts_, &variables_})
        if (std::optional<LevelKey> level = find(*known, value)) refused_.insert(*level);
    } else if constexpr (detail::is_vector<T>) {
      for (const auto& item : value) walk(item);
    } else if constexpr (detail::is_optional<T>) {
      if (value) walk(*value);
    } else if constexpr (detail::Record<T>) {
      for_each_field(value, [&](const auto& member) { walk(member); });
    }
  }
  template <class K>
  void walk_fields(const Handle<K>& tree) {
    std::visit([&](const auto& node) { walk(node); }, *tree);
  }

  // coordinate - first
  bool counts_places(const ir::Expr& e) {
    auto* n = e.as<ir::Binary>();
    if (!n || n->op != ir::BinaryOp::Sub) return false;
    const ir::Var* first = n->b.as<ir::Var>();
    std::optional<LevelKey> stored = coordinate(n->a), located = first ? find(firsts_, *first) : std::nullopt;
    if (!stored || !located) return false;
    pairs_.emplace(*stored, *located);
    walk_position(n->a);
    return true;
  }

  // const j = coordinate
  bool names_coordinate(const ir::Stmt& s) {
    auto* n = s.as<ir::Declare>();
    std::optional<LevelKey> stored = n && n->mutability == ir::Mutability::Const ? coordinate(n->init) : std::nullopt;
    if (!stored) return false;
    variables_.emplace(n->var.symbol, *stored);
    walk_position(n->init);
    return true;
  }

  bool stores(const LevelKey& level) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == level; });
  }

  std::set<LevelKey> connected(const LevelKey& from) const {
    std::set<LevelKey> out{from};
    for (size_t before = 0; before != out.size();) {
      before = out.size();
      for (const auto& [stored, located] : pairs_)
        if (out.contains(stored) || out.contains(located)) out.insert({stored, located});
    }
    return out;
  }

  std::map<Symbol, LevelKey> arrays_, firsts_, variables_;
  std::set<LevelKey> refused_;                     // used for something else
  std::set<std::pair<LevelKey, LevelKey>> pairs_;  // a level that stores coordinates, one that places are counted in
};

}  // namespace

std::vector<NumberedLevels> numbered_levels(const Lowered& kernel) {
  if (!kernel.may_be_numbered) return {};
  return CoordinateUses(kernel).found();
}

}  // namespace spdistal::lower
