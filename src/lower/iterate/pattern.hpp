// What a forall iterates over, as a value: chosen, printed, then emitted.
//
//   range       every value of the variable; accesses that store some of them may be walked along
//   stored      what one access stores
//   merge       what several accesses store, side by side
//   positions   positions of levels of an access, one by one
//   rows        the same, row by row
//   list        what was touched of a workspace, in order
//   nothing     nothing inside is other than zero
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "lower/formula.hpp"
#include "lower/iterate/loop.hpp"

namespace spdistal::lower {

/// Does a range end where the dense levels of the pieces at hand do?
enum class Clip : uint8_t { No, ToDenseLevels };

struct RangePattern {
  std::vector<int> along = {};
  Clip clip = Clip::No;
  bool operator==(const RangePattern&) const = default;
};
struct StoredPattern {
  int operand;
  bool operator==(const StoredPattern&) const = default;
};
struct MergePattern {
  Formula where;  // over operands
  bool operator==(const MergePattern&) const = default;
};
struct PositionsPattern {
  notation::Levels levels;
};
struct RowsPattern {
  enum class Kind : uint8_t { Positions, Runs };
  notation::Levels levels;
  size_t level;   // the last whose coordinate a row has
  size_t stored;  // the last with positions of its own: the levels below have one coordinate each
  Kind kind;
};
struct ListPattern {
  notation::TensorVar workspace;
};
struct NoPattern {};

using LoopPattern =
    std::variant<RangePattern, StoredPattern, MergePattern, PositionsPattern, RowsPattern, ListPattern, NoPattern>;

/// The pattern of a forall whose variable leads to `top`. Emits nothing.
LoopPattern choose_pattern(const Context& c, const Scope& s, const notation::Forall& forall, const IndexVar& top);

/// "range, along B2", "stored: B2", "merge: B2 or C2", "positions: B1…B2", "rows: …", "list: w", "nothing".
std::string print(Context& c, const Scope& s, const LoopPattern& pattern);

/// Does the loop come to every value of its range?
bool visits_all(const LoopPattern& pattern);

/// Emits the loop, and inside of it its body.
void iterate(Context& c, const Scope& s, const ForallLoop& loop);

// ---- one file each ----
void emit(Context& c, const Scope& s, const ForallLoop& loop, const RangePattern& pattern);
void emit(Context& c, const Scope& s, const ForallLoop& loop, const StoredPattern& pattern);
void emit(Context& c, const Scope& s, const ForallLoop& loop, const MergePattern& pattern);
void emit(Context& c, const Scope& s, const ForallLoop& loop, const PositionsPattern& pattern);
void emit(Context& c, const Scope& s, const ForallLoop& loop, const RowsPattern& pattern);
void emit(Context& c, const Scope& s, const ForallLoop& loop, const ListPattern& pattern);
void emit(Context& c, const Scope& s, const ForallLoop& loop, const NoPattern& pattern);

}  // namespace spdistal::lower
