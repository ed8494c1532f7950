// Running one scheduled statement in this process: lower, optimise, compile (or interpret), call, and hold the result.
// The operands are whole tensors, or pieces of them in a launch of many calls.
#pragma once
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/jit.hpp"
#include "lower/lower.hpp"
#include "notation/concrete.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/host_context.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// What the operands are. A tensor that is read and written stands here with what it held before.
using Storages = std::map<notation::TensorVar, const Storage*>;

/// How wide the index arrays are that an access reads: two accesses to one tensor may read different pieces.
using Widths = std::function<lower::IndexWidths(const notation::Access&)>;
lower::IndexWidths widths_of(const Pattern& pattern);

/// Where each of a statement's arguments stands, for the kernels of a run.
std::vector<const void*> addresses_of(const std::vector<Scalar>& arguments);

/// A tensor as a kernel sees it; the arrays are whoever's they are.
class View {
 public:
  /// A stored piece, all of it.
  explicit View(const Storage& storage);
  /// A dense piece within a larger array: the coordinates that each level covers, and how far apart neighbours in the
  /// level above stand, outermost level first. `values` points to its first element, in memory of the host.
  View(std::span<const Range> ranges, std::span<const int64_t> strides, void* values, ScalarType type);

  spd_tensor tensor() const { return {const_cast<spd_level*>(levels_.data()), values_}; }
  Range range(size_t level) const { return {levels_[level].lo, levels_[level].lo + levels_[level].extent}; }
  /// What it stores where; null for a part of an array.
  const PatternHandle& pattern() const { return pattern_; }
  void zero();

 private:
  std::vector<spd_level> levels_;
  spd_array values_{};
  PatternHandle pattern_;
  size_t element_ = 0;  // bytes
  runtime::Device* device_;
};

/// How a leaf is called.
struct LeafOptions {
  /// Variables whose loops run around the leaf; their values come with each call.
  std::vector<IndexVar> outer = {};
  lower::Operands operands = lower::Operands::Whole;
  /// What the result holds before a call, where that is not what the statement says.
  std::optional<notation::Start> start = {};
  /// Results that are assembled have positions of 32 bits up to this many entries: tests take fewer than 2^31 - 1.
  int64_t largest_position = std::numeric_limits<int32_t>::max();
  /// Workspaces of larger dimensions may be hashed.
  int64_t largest_dense_workspace = lower::Options{}.largest_dense_workspace;
};

class Leaf;

/// What a leaf is called with: made once, changed where pieces and numbers change. The leaf stays where it is meanwhile.
class LeafInputs {
 public:
  using NumberOf = std::function<int64_t(const lower::RunTimeNumber&)>;

  /// One piece for each of the kernel's operands, in its order. `number` is asked for all numbers but sizes that are
  /// known, and is kept for `set_numbers`.
  LeafInputs(const Leaf& leaf, std::span<const Storage* const> operands, NumberOf number);

  /// The piece has index arrays as wide as the leaf was compiled for.
  void set_operand(size_t k, View piece);
  const View& operand(size_t k) const { return views_[k]; }
  /// Asks for all numbers again.
  void set_numbers();

 private:
  friend class Leaf;
  const Leaf* leaf_;
  NumberOf number_;
  std::vector<View> views_;
  std::vector<spd_tensor> tensors_;  // the result first
  std::vector<int64_t> numbers_;
};

/// A statement compiled for operands of certain widths; runs any number of times.
class Leaf {
 public:
  /// Loops over outer variables are taken out of the statement.
  Leaf(const notation::ConcreteStatement& statement, const Widths& widths, const LeafOptions& options = {});
  /// Index arrays of operands are as wide as in `storages`.
  Leaf(const notation::ConcreteStatement& statement, const Storages& storages, const LeafOptions& options = {});

  /// The optimised kernel. Of a result that is assembled, the one that is run instead of it has positions of 64 bits.
  const ir::Function& function() const { return function_; }
  const lower::Kernel& kernel() const { return kernel_; }
  /// The statement with the workspaces that were put in.
  const notation::ConcreteStatement& statement() const { return statement_; }
  /// Has the result a place for every element before the call? Otherwise the kernel assembles it.
  bool is_placed() const;
  /// Does it write every element of a dense result, whatever was there before?
  bool overwrites() const;

  /// Are a piece's index arrays as wide as those that operand k was compiled for?
  bool fits(size_t k, const Pattern& piece) const;

  /// `run` calls the kernel: compiled, or interpreted.
  using Run = std::function<void(spd_call&)>;

  /// Computes the result from whole tensors. For a statement that adds (+=) to a dense result, `storages` has what it
  /// held before.
  Storage compute(const Storages& storages, runtime::HostContext& context, const Run& run) const;
  /// The same into what the tensor held before. Of a leaf that overwrites.
  void compute_into(Storage& result, const Storages& storages, runtime::HostContext& context, const Run& run) const;
  /// Computes a piece of the result that covers these coordinates, one range for each dimension; it starts from zero.
  Storage compute(LeafInputs& inputs, const std::vector<Range>& bounds, runtime::HostContext& context,
                  const Run& run) const;
  /// Computes a piece of a placed result in place: zeroed first where that is needed, added to where the start is Old.
  void compute_into(View& result, LeafInputs& inputs, runtime::HostContext& context, const Run& run) const;
  /// What a placed result stores where; a shared pattern is that of its operand's piece.
  PatternHandle result_pattern(const LeafInputs& inputs, const std::vector<Range>& bounds) const;

 private:
  LeafInputs inputs_from(const Storages& storages) const;

  notation::ConcreteStatement statement_;
  notation::Start start_;
  lower::Kernel kernel_;
  std::vector<lower::IndexWidths> widths_;  // of the operands
  int64_t largest_position_;
  ir::Function function_;
};

}  // namespace spdistal
