// Arithmetic on index variables and sizes: how the value of a variable is found from others, and how many values a
// variable has. Small enough that printers, evaluators, bounds and code generators each handle all of it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/node.hpp"
#include "notation/index_notation.hpp"
#include "spdistal/machine.hpp"

namespace spdistal::notation {

struct IndexKinds;
using IndexExpr = Handle<IndexKinds>;

enum class IndexOp : uint8_t { Add, Mul, Div, CeilDiv, Mod, Min };  // of numbers that are not negative

/// The coordinates of a level that one part of its variable has, inside of the loops that cut it: from `first` up to `end`, or
/// up to the last that there is.
struct CoordinateBlock {
  IndexVar part;
  IndexExpr first, end;
  static constexpr auto fields = std::tuple{&CoordinateBlock::part, &CoordinateBlock::first, &CoordinateBlock::end};
};
/// The levels [first, last] of an access, below the coordinates of the levels above; where there is a block, below its
/// coordinates of the first of them.
struct Levels {
  Access access;
  size_t first, last;
  std::optional<CoordinateBlock> block = {};
  static constexpr auto fields = std::tuple{&Levels::access, &Levels::first, &Levels::last, &Levels::block};

  /// The variable that indexes a level.
  const IndexVar& var(size_t level) const { return access.indices[size_t(access.tensor.format().mode_order()[level])]; }
};

/// The value of a variable.
struct ValueOf {
  IndexVar var;
  static constexpr auto fields = std::tuple{&ValueOf::var};
};
/// The number of values of a variable, written |i|.
struct SizeOf {
  IndexVar var;
  static constexpr auto fields = std::tuple{&SizeOf::var};
};
struct IndexNumber {
  Pieces value;
  static constexpr auto fields = std::tuple{&IndexNumber::value};
};
struct IndexBinary {
  IndexOp op;
  IndexExpr a, b;
  static constexpr auto fields = std::tuple{&IndexBinary::op, &IndexBinary::a, &IndexBinary::b};
};
/// How many positions the last of the levels stores.
struct StoredCount {
  Levels levels;
  static constexpr auto fields = std::tuple{&StoredCount::levels};
};
/// How many it stores before those of the block.
struct StoredBefore {
  Levels levels;
  static constexpr auto fields = std::tuple{&StoredBefore::levels};
};
/// The coordinates at a position of the last of the levels, counted from the first position below the levels above; those
/// of several levels are fused in storage order. In a block they count from where it begins, and positions do not.
struct StoredCoordinate {
  Levels levels;
  IndexExpr position;
  static constexpr auto fields = std::tuple{&StoredCoordinate::levels, &StoredCoordinate::position};
};
/// Blocks of consecutive values of a variable that each have an equal share of what operands store: their first levels are
/// indexed by the variable, and a value weighs as many elements as they store below it. Block k of p begins at the first value
/// whose middle lies at or after k/p of all weights, so that what straddles a cut goes to the nearer side.
struct WeightedBlocks {
  IndexVar var;
  std::vector<Access> operands;
  Pieces count;
  static constexpr auto fields = std::tuple{&WeightedBlocks::var, &WeightedBlocks::operands, &WeightedBlocks::count};
};
/// The first value of a block.
struct BlockStart {
  WeightedBlocks blocks;
  IndexExpr number;
  static constexpr auto fields = std::tuple{&BlockStart::blocks, &BlockStart::number};
};
/// How many values a block has.
struct BlockSize {
  WeightedBlocks blocks;
  IndexExpr number;
  static constexpr auto fields = std::tuple{&BlockSize::blocks, &BlockSize::number};
};
struct IndexKinds : Kinds<ValueOf, SizeOf, IndexNumber, IndexBinary, StoredCount, StoredBefore, StoredCoordinate,
                          BlockStart, BlockSize> {};

/// What an operation gives for numbers, or for expressions of another kind with the same operators.
template <class T>
T combine(IndexOp op, const T& a, const T& b) {
  switch (op) {
    case IndexOp::Add: return a + b;
    case IndexOp::Mul: return a * b;
    case IndexOp::Div: return a / b;
    case IndexOp::Mod: return a % b;
    case IndexOp::Min:
      if constexpr (std::is_arithmetic_v<T>) return std::min(a, b);
      else return min(a, b);
    case IndexOp::CeilDiv: break;
  }
  return (a + b - 1) / b;
}

inline IndexExpr operator+(IndexExpr a, IndexExpr b) { return IndexBinary{IndexOp::Add, a, b}; }
inline IndexExpr operator*(IndexExpr a, IndexExpr b) { return IndexBinary{IndexOp::Mul, a, b}; }
inline IndexExpr operator/(IndexExpr a, IndexExpr b) { return IndexBinary{IndexOp::Div, a, b}; }
inline IndexExpr operator%(IndexExpr a, IndexExpr b) { return IndexBinary{IndexOp::Mod, a, b}; }
inline IndexExpr ceil_div(IndexExpr a, IndexExpr b) { return IndexBinary{IndexOp::CeilDiv, a, b}; }
inline IndexExpr min(IndexExpr a, IndexExpr b) { return IndexBinary{IndexOp::Min, a, b}; }
inline IndexExpr value_of(const IndexVar& var) { return ValueOf{var}; }
inline IndexExpr size_of(const IndexVar& var) { return SizeOf{var}; }
inline IndexExpr number(Pieces value) { return IndexNumber{std::move(value)}; }

/// The coordinate that a window takes for a value of its variable.
IndexExpr coordinate_of(const Window& window);

/// The same arithmetic on other variables.
IndexExpr rename(const IndexExpr& expr, const std::vector<std::pair<IndexVar, IndexVar>>& renaming);

}  // namespace spdistal::notation

namespace spdistal {

SPDISTAL_EXTERN_FAMILY(notation::IndexKinds)

}  // namespace spdistal
