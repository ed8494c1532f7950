// What a level format does with its arrays: a table of functions, one table for each level of the registry
// (include/spdistal/levels.hpp). A new level brings its own file beside this one with its table and changes nothing
// else.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "level/arrays.hpp"
#include "memory/array.hpp"
#include "plan/partition.hpp"
#include "spdistal/format.hpp"

namespace spdistal {

struct KernelFunctions;

/// The entries of a tensor, in storage order and each once, cut into groups that share the coordinates of all levels
/// down to some level; each group has a position of that level. The levels are packed from the outermost in, each
/// cutting the groups of the one above.
struct Groups {
  int64_t count = 0;
  std::optional<Array<int64_t>> first;     // the first entry of each group; none: group g starts at entry g
  std::optional<Array<int64_t>> position;  // the position of each group; none: group g has position g
  int64_t positions = 0;                   // of the level, those without entries included

  int64_t first_of(int64_t g) const { return first ? (*first)[g] : g; }
  int64_t position_of(int64_t g) const { return position ? (*position)[g] : g; }
};

/// What a level packs.
struct PackLevel {
  int64_t dim;                      // the size of its dimension
  Range range;                      // the coordinates to cover
  size_t dimension;                 // which dimension, for messages
  std::span<const int64_t> column;  // its coordinate of every entry
  std::span<const uint8_t> depth;   // the outermost level in which an entry differs from its forerunner
  size_t level;                     // the number of this level
  size_t run_end;                   // the last of the branchless levels that follow it, or itself
  size_t position_bytes;            // what a position costs at least: a value, or an element of pos
};

/// Groups cut finer: group g of the old ones becomes the new ones [begin[g], begin[g+1]).
struct Cut {
  int64_t count = 0;
  std::optional<Array<int64_t>> first;  // as in Groups
  Array<int64_t> begin;

  int64_t first_of(int64_t g) const { return first ? (*first)[g] : g; }
};
/// Cuts where entries differ in any level down to `level`.
Cut cut_groups(const Groups& groups, std::span<const uint8_t> depth, size_t level);
/// f(old group, new group) for all new groups, in parallel.
void for_each_new_group(const Cut& cut, const std::function<void(int64_t old, Range fresh)>& f);

/// A level and the branchless levels after it, which are one list of tuples.
struct LevelRun {
  std::span<const LevelArrays> levels;
  int64_t parents;  // positions of the level above the first
};

struct LevelFunctions {
  /// Makes the level's arrays and moves the groups on to its positions.
  LevelArrays (*pack)(const PackLevel& in, Groups& groups);
  /// The positions below a position of the level above.
  Range (*children)(const LevelArrays& level, int64_t parent);
  /// The position of the level above that one is below.
  int64_t (*parent)(const LevelArrays& level, int64_t position);
  /// The coordinate at a position.
  int64_t (*coordinate)(const LevelArrays& level, int64_t position);
  /// Calls `found` with the positions below any of the parents that have the coordinate. Parents are neighbours with
  /// equal coordinates in all levels above.
  void (*locate)(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found);
  /// The coordinate of every position, and its parent.
  void (*expand)(const LevelArrays& level, int64_t parents, Array<int64_t>& coordinate, Array<int64_t>& parent);
  /// What is wrong with the level, if anything: its arrays, and the order of the run that it begins.
  std::optional<std::string> (*verify)(const LevelRun& run);
  /// How a partition of the level follows from coordinates, positions, its parent or its child.
  plan::PartitionFunctions partition;
  /// How kernels use it (kernel.hpp).
  const KernelFunctions* kernel;
  /// Whether something is stored at a position, of levels with places for what is not. Absent: at all of them.
  bool (*stored)(const LevelArrays& level, int64_t position) = nullptr;
};

/// The partition functions that begin colourings and put entries into them.
template <class L>
struct Colourings {
  static plan::Fragment init_universe(const plan::Level& l) {
    return plan::init(l, plan::Colouring::Universe, L::name);
  }
  static plan::Fragment universe_entry(const plan::Level& l) {
    return plan::entry(l, plan::Colouring::Universe, L::name);
  }
  static plan::Fragment init_non_zero(const plan::Level& l) { return plan::init(l, plan::Colouring::NonZero, L::name); }
  static plan::Fragment non_zero_entry(const plan::Level& l) {
    return plan::entry(l, plan::Colouring::NonZero, L::name);
  }
};

/// The partition functions of a class that has one of each name.
template <class P>
constexpr plan::PartitionFunctions partition_table{P::init_universe,         P::universe_entry, P::finalize_universe,
                                                   P::finalize_universe_set, P::init_non_zero,  P::non_zero_entry,
                                                   P::finalize_non_zero,     P::from_parent,    P::from_child};

/// Each level's file defines this for its level struct.
template <class Level>
const LevelFunctions& level_functions();

const LevelFunctions& functions_of(const LevelFormat& level);
/// The array of a level that holds something; null: it has none.
const IndexArray* find_array(const LevelFormat& format, const LevelArrays& level, Holds holds);
/// How many levels from k on are one list of tuples: k and the branchless ones after it.
size_t run_length(const Format& format, size_t k);

}  // namespace spdistal
