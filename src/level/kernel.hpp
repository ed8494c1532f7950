// How kernels use a level: a table of functions that emit IR, given the level's own arrays and positions of the level
// above (after Chou, Kjolstad and Amarasinghe, 2018). Lowering combines these and asks nothing else of a level; what a
// level has no function for it cannot do.
//
//                       place  stored  locate  seek  first  weight  step  append  finish
//   Dense                 x                           x
//   Bitmap                x      x       x      x     x
//   Compressed                           x      x     x      x             x
//   CompressedNonUnique                  x      x     x      x      x
//   Singleton                            x      x                   x
//   Hashed                               x            x      x             x       x
//   Banded                               x      x     x      x
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/build.hpp"
#include "spdistal/format.hpp"

namespace spdistal {

/// The parameters of the kernel that is being made, and where it says what it does.
class KernelParams {
 public:
  virtual ir::Body& body() = 0;
  /// An array of a level, by the name that the level has for it.
  virtual ir::Var array(int tensor, size_t level, std::string_view name) = 0;
  /// The first of the coordinates that a level covers, and how far apart the places of neighbouring parents lie.
  virtual ir::Expr first_coordinate(int tensor, size_t level) = 0;
  virtual ir::Expr stride(int tensor, size_t level) = 0;

 protected:
  ~KernelParams() = default;
};

/// A level of a tensor of the kernel, as its functions see it.
struct KernelLevel {
  KernelParams& kernel;
  int tensor;
  size_t level;
  std::string name;  // that its variables are named after: B2

  ir::Body& body() const { return kernel.body(); }
  ir::Var array(std::string_view of) const { return kernel.array(tensor, level, of); }
  ir::Expr first_coordinate() const { return kernel.first_coordinate(tensor, level); }
  ir::Expr stride() const { return kernel.stride(tensor, level); }
};

/// Consecutive positions of a level.
struct Segment {
  ir::Expr begin, end;
};

/// Where an access is at the level above.
struct Above {
  ir::Expr position;
  std::optional<ir::Expr> end = {};      // of neighbours with equal coordinates, which are taken together
  std::optional<ir::Expr> present = {};  // a bool; empty: certainly stored
};

/// Where a coordinate is: at a position that may be anything where it is not stored.
struct Located {
  ir::Expr position, stored;
  ir::Expr end;  // of the positions that were looked at
};

struct KernelFunctions {
  // ---- walking ----

  /// The first position below one of the level above: those below p are [first(p), first(p + 1)). Absent: there is one
  /// below each, at the same position.
  ir::Expr (*first)(const KernelLevel&, const ir::Expr& parent) = nullptr;
  /// How many positions are below each, of levels that have as many everywhere.
  ir::Expr (*per_parent)(const KernelLevel&) = nullptr;
  /// The array that tells how positions add up: what `first` looks up. Parents are found and work is divided by it.
  ir::Var (*weight)(const KernelLevel&) = nullptr;
  /// The coordinate at a position, and at a position below a known one. Of either there may be just one.
  ir::Expr (*coordinate)(const KernelLevel&, const ir::Expr& position) = nullptr;
  ir::Expr (*coordinate_below)(const KernelLevel&, const ir::Expr& parent, const ir::Expr& position) = nullptr;
  /// Of levels that may repeat coordinates: the first position after `position`, in a segment that ends at `end`, with
  /// another coordinate; `start` is where the search begins.
  ir::Expr (*step)(const KernelLevel&, const ir::Expr& position, const ir::Expr& start, const ir::Expr& end) = nullptr;

  // ---- looking for coordinates ----

  /// The position of a coordinate that the level covers, of levels with a place for every one.
  ir::Expr (*place)(const KernelLevel&, const ir::Expr& parent, const ir::Expr& coordinate) = nullptr;
  /// The position of a coordinate, and whether it is stored, of levels that do not store every one.
  Located (*locate)(const KernelLevel&, const Above&, const ir::Expr& coordinate) = nullptr;
  /// The first position of a segment below `above` at or after a coordinate, of levels that store coordinates in order.
  ir::Expr (*seek)(const KernelLevel&, const Above& above, const Segment& range, const ir::Expr& coordinate) = nullptr;
  /// Whether something is stored at a position, a bool, of levels with places for what is not. Absent: at all of them.
  ir::Expr (*stored)(const KernelLevel&, const ir::Expr& position) = nullptr;

  // ---- making a level, position by position ----

  /// Notes the coordinate of a position. Where positions begin below each parent is noted in `weight`.
  void (*append)(const KernelLevel&, const ir::Expr& position, const ir::Expr& coordinate) = nullptr;
  /// The arrays that then have an element for each position.
  std::vector<ir::Var> (*appended)(const KernelLevel&) = nullptr;
  /// Makes what else the level has, when all positions below so many parents are there. Absent: nothing.
  void (*finish)(const KernelLevel&, const ir::Expr& parents, const ir::Expr& positions) = nullptr;
};

const KernelFunctions& kernel_functions(const LevelFormat& level);

/// Does the level store every coordinate?
inline bool stores_all(const KernelFunctions& level) { return level.place && !level.stored; }
/// Has every coordinate its place below every position above, whether it is stored or not?
bool has_places(const LevelFormat& level);
/// Do the coordinates below a position above rise?
bool keeps_order(const LevelFormat& level);
/// Does level k stand for one list of tuples together with the next?
bool begins_tuples(const Format& format, size_t k);
/// Does a piece begin and end with what occurs, where the whole may have positions before and after at level k: is there a
/// level down to it that fills what lies between coordinates?
bool ends_with_what_occurs(const Format& format, size_t k);
/// Has a format places where nothing is stored?
bool leaves_places_empty(const Format& format);
/// How many levels of a format, from the first on, store every coordinate.
size_t leading_dense_levels(const Format& format);
/// The positions below consecutive ones of the level above.
Segment children_of(const KernelFunctions& functions, const KernelLevel& level, const Segment& parents);
/// Those below where an access is. Below something that is not stored there are none.
Segment children_of(const KernelFunctions& functions, const KernelLevel& level, const Above& above);

}  // namespace spdistal
