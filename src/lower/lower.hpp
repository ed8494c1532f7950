// Concrete notation -> kernel IR: the loops of a statement, for the formats of its tensors.
#pragma once
#include <vector>

#include "ir/nodes.hpp"
#include "notation/concrete.hpp"

namespace spdistal::lower {

/// How wide the index arrays of a tensor are, level by level; an entry that a level does not have is ignored.
struct IndexWidths {
  std::vector<ScalarType> pos, crd;
};

/// How the result comes to be.
enum class Assembly : uint8_t {
  Dense,     // every element has its place; the kernel writes values
  Shared,    // it stores what an operand stores: the operand's pattern is shared, the kernel writes values
  Appended,  // counted, then filled level by level: the kernel makes pos, crd and values
  Listed,    // counted, then listed as coordinates and values in any order, to be packed by the caller
};

/// What the tensors of the call are, in order: the result first.
struct Kernel {
  ir::Function function;
  notation::TensorVar result;
  Assembly assembly;
  /// Shared: the operand (its number in the call), and the level whose positions are those of the result.
  int shared_tensor = 0;
  size_t shared_level = 0;
  std::vector<notation::Access> operands;  // tensors 1, 2, … of the call
  /// The values must be zero before the call.
  bool zero_first = false;
  /// Sizes that stay symbolic, in the order of the call's scalars.
  std::vector<Extent> scalars;
};

struct Options {
  /// Widths of each operand's index arrays. Where none are given, all are 32 bits wide.
  std::function<IndexWidths(const notation::TensorVar&)> widths = {};
  /// Widths of the arrays that the kernel makes for the result.
  IndexWidths result = {};
};

/// Requires a well-formed statement whose sizes are consistent. Loops that are distributed are lowered as plain ones: a
/// piece runs its own share of them.
Kernel lower(const notation::ConcreteStatement& statement, const Options& options = {});

}  // namespace spdistal::lower
