// Where index variables come from. Scheduling commands replace loops over some variables by loops over others; each
// leaves a relation that says how the values of the old ones are found from the new:
//
//   divide(i, io, ii, p)     i = io * ceil(|i| / p) + ii       |io| = p,          |ii| = ceil(|i| / p)
//   fuse(i, j, f)            i = f / |j|, j = f % |j|          |f| = |i| * |j|
//   pos(f, fp, B(i,j))       f = B(i,j) at fp                  |fp| = |B(i,j)|
//   divide(i, io, ii, p, B)  i = cut(io, B) + ii               |io| = p,          |ii| = |cut(io, B)|
//
// Of a loop that ranges over a part of a variable, as f of fuse(ii, j, f) does, the positions are those of a block of rows:
//
//   pos(f, fp, B(i,j))       f = B(ii,j) at q                  |q| = |B(i,j)|
//                            q = before(ii) + fp               |fp| = |B(ii,j)|
//
// Windows of accesses are found in the same way, and make no loop:
//
//   b(i+1)                   i+1 = 1 + i
//
// A command states its formulas and nothing else here knows it. An iteration whose checked variable lies beyond its size
// is skipped. Relations stand in the order in which they were made: walked backwards, they give the value of every
// variable from those of the loops; walked forwards, the size of every variable from those of the roots.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "notation/index_expr.hpp"

namespace spdistal::notation {

/// Does a value have to be compared with its variable's size, or do the formulas keep it below?
enum class Guard : uint8_t { Checked, Unneeded };

/// A variable that lost its loop, and how it is found now.
struct Replaced {
  IndexVar var;
  IndexExpr value;
  Guard guard;
  static constexpr auto fields = std::tuple{&Replaced::var, &Replaced::value, &Replaced::guard};
};
/// A variable that got a loop, and how many values it has. An unnamed one likes to be called after its first parent with
/// `suffix` added, or by `suffix` alone where several were replaced.
struct Made {
  IndexVar var;
  IndexExpr size;
  std::string_view suffix;
  static constexpr auto fields = std::tuple{&Made::var, &Made::size, &Made::suffix};
};
struct Relation {
  std::vector<Replaced> replaced;
  std::vector<Made> made;
  static constexpr auto fields = std::tuple{&Relation::replaced, &Relation::made};

  bool replaces(const IndexVar& var) const;
  bool makes(const IndexVar& var) const;
  /// How a variable that it replaces is found.
  const IndexExpr& value_of(const IndexVar& var) const;
  /// The variables whose values must be known to find those that were replaced.
  std::vector<IndexVar> needs() const;
  /// The block that a variable is found in, where the relation cuts it by weight: i = cut(io, B) + ii.
  const BlockStart* block() const;
};
/// The same relation between other variables.
Relation rename(const Relation& relation, const std::vector<std::pair<IndexVar, IndexVar>>& renaming);

/// The values of a variable that no command made: [0, size), or one fixed coordinate.
struct Root {
  IndexVar var;
  Pieces size;
  std::optional<int64_t> fixed = {};
  bool operator==(const Root&) const = default;
};

/// What a schedule took for granted about a size: checked when sizes are known.
struct Requirement {
  enum class Kind : uint8_t { Equal, AtMost };
  IndexVar var;
  Kind kind;
  int64_t size;
  bool operator==(const Requirement&) const = default;
};

/// What is added to var to give the value: nothing for `var` itself, a for `a + var`; none where it is no such sum.
struct Offset {
  std::optional<IndexExpr> added;
};
std::optional<Offset> offset_of(const IndexExpr& value, const IndexVar& var);

struct Provenance {
  std::vector<Root> roots;
  std::vector<Relation> relations;
  std::vector<Requirement> requirements;

  const Root* root(const IndexVar& var) const;
  /// The relation that made a variable, null for roots.
  const Relation* made_by(const IndexVar& var) const;
  /// The relation that replaced a variable, null for loop variables.
  const Relation* replaced_by(const IndexVar& var) const;
  bool knows(const IndexVar& var) const { return root(var) || made_by(var); }
  /// The roots whose values depend on a variable: of `io` that is i, of a fused f it is i and j.
  std::vector<IndexVar> roots_of(const IndexVar& var) const;
  /// The stored levels whose positions a variable counts or divides, null where it ranges over coordinates.
  const Levels* positions_of(const IndexVar& var) const;
  /// Is the value of a variable determined by those of these loop variables?
  bool determined(const IndexVar& var, const std::vector<IndexVar>& loops) const;
  /// Is the value of a loop variable needed to find that of `var`?
  bool depends(const IndexVar& var, const IndexVar& loop) const;
  /// Does knowing a loop's value leave only some values of `var`? As `depends`, but not by way of stored coordinates: where
  /// a loop divides positions, those are bounded by it, and the coordinates that are found there may be any.
  bool bounded_by(const IndexVar& var, const IndexVar& loop) const;
  /// The variable that a loop over var visits a range of, in order, where the variables `known` are given: i for ii where
  /// io is, var itself where there is nothing to add.
  IndexVar ranges_over(IndexVar var, const std::vector<IndexVar>& known) const;
  /// Variables whose values must be known before the range of a variable is: those above a position loop's levels, and the
  /// number of the block that it goes through.
  std::vector<IndexVar> range_depends_on(const IndexVar& var) const;
};

/// The same, with nothing read off that can be counted: where every level down to the one whose positions are walked has a
/// place for every coordinate, a position is the row-major number of its coordinates.
///
///   (i,j) = B(i,j) at fp     B:dds       f = fp       |fp| = |i| * |j|
Provenance number_places(Provenance provenance);

}  // namespace spdistal::notation
