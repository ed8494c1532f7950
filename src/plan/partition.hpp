// Partition statements: how the sets of positions that each colour needs of a tensor's levels follow from each other.
// Each level format writes those of its own levels (paper, table I); whoever runs them needs to know these few
// operators and no level.
//
//   C_B1 = {}                                    init
//   C_B1[io] = i in [io * 25, …)                 entry
//   B1       = by_bounds(C_B1)                   finalize
//   B2.pos   = copy(B1)                          from the parent
//   B2.crd   = image(B2.pos)
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spdistal::plan {

/// What is partitioned of a level: its positions, or those of the level above that they hang from. The values stand for
/// the positions of the last level.
enum class LevelPart : uint8_t { Positions, Parents };

/// One partition: colour -> set of positions. Where several variables cut a tensor, those that come from one of them are
/// told apart by `along`, until they are intersected.
struct Name {
  size_t level = 0;
  LevelPart part = LevelPart::Positions;
  int along = whole;
  static constexpr int whole = -1;
  auto operator<=>(const Name&) const = default;
};

enum class Op : uint8_t {
  Init,           // an empty colouring
  Entry,          // the coordinates, or positions, of one colour are put into it
  ByBounds,       // { x : x ∈ C[c] }, of the positions of a dense level or of any level's positions
  ByValueRanges,  // { p : crd[p] ∈ C[c] }, ranges
  ByValueSet,     // { p : crd[p] ∈ C[c] }, any sets
  Image,          // ∪ [pos[i], pos[i+1])
  Preimage,       // { i : [pos[i], pos[i+1]) meets the set }
  Expand,         // parents -> the positions of a dense level below them
  Contract,       // positions of a dense level -> their parents
  Copy,
  Intersect,
};
std::string_view name_of(Op op);

/// The level function that wrote a statement: "Dense.finalize_universe_partition".
struct FunctionName {
  std::string_view level = {}, function = {};
  bool empty() const { return function.empty(); }
  std::string str() const { return empty() ? "" : std::string(level) + "." + std::string(function); }
};

/// What a colouring is of.
enum class Colouring : uint8_t { Universe, NonZero };

struct PartitionStatement {
  Name out;
  Op op;
  std::vector<Name> in = {};
  Colouring colouring = Colouring::Universe;  // of Init, Entry and the operators that take one
  FunctionName function = {};
};
using Fragment = std::vector<PartitionStatement>;

/// A level as its partition functions see it.
struct Level {
  size_t level;
  int along = Name::whole;

  Name positions() const { return {level, LevelPart::Positions, along}; }
  Name parents() const { return {level, LevelPart::Parents, along}; }
  /// The positions of the level above; there is none above the first.
  Name above() const { return {level - 1, LevelPart::Positions, along}; }
  /// What the level below needs of this one.
  Name asked_below() const { return {level + 1, LevelPart::Parents, along}; }
};

/// The partition functions of a level format: the paper's table I. A universe colouring holds coordinates, a non-zero
/// colouring positions of the level. `finalize` defines the positions and the parents of the level; `from_parent` the
/// positions from those of the level above; `from_child` the positions from what the level below needs, and the parents.
/// Universe partitions by sets of coordinates serve gathers.
struct PartitionFunctions {
  Fragment (*init_universe)(const Level&);
  Fragment (*universe_entry)(const Level&);
  Fragment (*finalize_universe)(const Level&);
  Fragment (*finalize_universe_set)(const Level&);
  Fragment (*init_non_zero)(const Level&);
  Fragment (*non_zero_entry)(const Level&);
  Fragment (*finalize_non_zero)(const Level&);
  Fragment (*from_parent)(const Level&);
  Fragment (*from_child)(const Level&);
};

/// Colourings are made alike for all levels; `format` is the name of the level's.
Fragment init(const Level& level, Colouring colouring, std::string_view format);
Fragment entry(const Level& level, Colouring colouring, std::string_view format);

}  // namespace spdistal::plan
