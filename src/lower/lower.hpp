// Concrete notation -> kernel IR: the loops of a statement, for the formats of its tensors.
#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "ir/nodes.hpp"
#include "notation/concrete.hpp"

namespace spdistal::lower {

/// How wide the arrays of a tensor are, level by level and in the order in which the level names them.
using IndexWidths = std::vector<std::vector<ScalarType>>;
/// Of an array of a level. Where nothing is said of it: of 32 bits, and flags of a byte.
ScalarType width_of(const IndexWidths& widths, const LevelFormat& format, size_t level, size_t array);

/// How the result comes to be.
enum class Assembly : uint8_t {
  Dense,      // every element has its place; the kernel writes values
  Shared,     // it stores what an operand stores: the operand's pattern is shared, the kernel writes values
  Appended,   // counted, then filled level by level: the kernel makes pos, crd and values
  Scattered,  // counted for each place of its dense levels, then filled from all of them at a time; likewise
  Listed,     // counted, then listed as coordinates and values in any order, to be packed by the caller
};

/// What the tensors of a call are.
///   Whole    all of them, from coordinate 0 on.
///   Pieces   parts with global coordinates and local positions. A dense level covers the coordinates [lo, lo + extent):
///            those of the loop where its variable is `swept`, otherwise all that the pieces of the call store at sparse
///            levels of that variable. A piece may store more than the loops visit; where positions below coordinates
///            are counted it has them all, and positions of the whole that it has follow each other.
enum class Operands : uint8_t { Whole, Pieces };

/// What a result that is assembled stores before a call: nothing yet, or all that it will, so that values alone are written.
enum class ResultPattern : uint8_t { Made, Stands };

/// The value of a variable whose loop is around the kernel.
struct OuterValue {
  IndexVar var;
  bool operator==(const OuterValue&) const = default;
};
/// How many positions a level of a whole tensor stores. Operands are numbered as in Kernel::operands.
struct PositionCount {
  int operand;
  size_t level;
  bool operator==(const PositionCount&) const = default;
};
/// Where in the whole tensor the first position stands that a piece stores at a level.
struct PositionBase {
  int operand;
  size_t level;
  bool operator==(const PositionBase&) const = default;
};
/// Of the blocks of a variable that is cut by weight, those that the loops around the kernel leave: the first one or the one
/// past the last, as a number of a block or as the value that it begins with.
struct BlocksLeft {
  enum class Which : uint8_t { FirstBlock, EndBlock, FirstValue, EndValue };
  IndexVar var;
  Which which;
  bool operator==(const BlocksLeft&) const = default;
};
/// Where in the whole tensor the positions below a block of coordinates begin, or end, which the loops around the kernel tell: the
/// part of a variable names the block.
struct PositionsOfBlock {
  enum class Which : uint8_t { Begin, End };
  IndexVar part;
  Which which;
  bool operator==(const PositionsOfBlock&) const = default;
};
/// A whole number that is known when the kernel runs: a size, or one of these.
using RunTimeNumber = std::variant<Extent, OuterValue, PositionCount, PositionBase, BlocksLeft, PositionsOfBlock>;

/// A level of a tensor of the call, the result being tensor 0.
struct LevelOfTensor {
  int tensor;
  size_t level;
  bool operator==(const LevelOfTensor&) const = default;
};

/// What the tensors of the call are, in order: the result first.
struct Lowered {
  ir::Function function;
  notation::TensorVar result;
  Assembly assembly;
  /// Shared: the operand (its number in the call), and the level whose positions are those of the result.
  int shared_tensor = 0;
  size_t shared_level = 0;
  std::vector<notation::Access> operands;  // tensors 1, 2, … of the call
  /// Appended: the pattern stands, and values are written where it has them.
  bool keeps_pattern = false;
  /// What elements of a result hold that no value has come to (`notation::background_of`), and whether all values must be that
  /// before the call.
  Scalar background;
  bool fill_first = false;
  /// Numbers that stay symbolic, in the order of the call's scalars.
  std::vector<RunTimeNumber> scalars;
  /// Dense levels of pieces that the kernel takes to cover their whole dimension.
  std::vector<LevelOfTensor> whole_levels;
  /// Variables of which loops (or positions of a dense level) visit every value they come to, whatever is stored.
  std::vector<IndexVar> swept;
  /// May coordinates have other numbers where the function only finds places by them (`numbered_levels`)? Not where a routine runs
  /// in its place, of which nobody knows what it does with them.
  bool may_be_numbered = true;
};

struct Options {
  /// Widths of each operand's index arrays. Where none are given, all are 32 bits wide.
  std::function<IndexWidths(const notation::Access&)> widths = {};
  /// Widths of the arrays that the kernel makes for the result.
  IndexWidths result = {};
  /// A kernel with narrow positions of the result returns 1 where there would be a larger one.
  int64_t largest_position = std::numeric_limits<int32_t>::max();
  /// Workspaces of larger dimensions than this may be hashed.
  int64_t largest_dense_workspace = int64_t(1) << 22;
  Operands operands = Operands::Whole;
  /// Variables whose loops are around the kernel and not in the statement any more (`notation::strip_loops`): their
  /// values come with the call.
  std::vector<IndexVar> outer = {};
  /// What a result with a place for every element holds before the call, where that is not what the statement says: a
  /// later step adds to what earlier ones left. Results that are assembled always start from nothing.
  std::optional<notation::Start> start = {};
  /// Made again where a kernel cannot find its places in a pattern that stands (`Kernel::keeps_pattern`).
  ResultPattern pattern = ResultPattern::Made;
};

/// The accesses that are read, as the operands of the kernel will be.
std::vector<notation::Access> operands_of(const notation::ConcreteStatement& statement);

/// The operand that stores just what a sparse result does, where one does: the result shares its pattern.
std::optional<notation::Access> shared_operand(const notation::ConcreteStatement& statement);

/// Requires a well-formed statement whose sizes are consistent. Loops that are distributed and still in the statement
/// are lowered as plain ones.
Lowered lower(const notation::ConcreteStatement& statement, const Options& options = {});

}  // namespace spdistal::lower
