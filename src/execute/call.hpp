// Calling a leaf: with what, and what its result becomes.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compile/leaf.hpp"
#include "execute/view.hpp"
#include "runtime/device/host_context.hpp"

namespace spdistal {

/// Where each of a statement's arguments stands, for the kernels of a run.
std::vector<const void*> addresses_of(const std::vector<Scalar>& arguments);

/// Calls the kernel: compiled, or interpreted.
using RunKernel = std::function<void(spd_call&)>;

/// A piece that a leaf reads: with the index arrays of another pattern, where `seen` has one.
struct SeenPiece {
  const Storage* storage;
  PatternHandle seen = nullptr;
};

/// A leaf with what it is called with: made once, changed where pieces and numbers change. The leaf stays where it is
/// meanwhile.
class LeafCall {
 public:
  using NumberOf = std::function<int64_t(const lower::RunTimeNumber&)>;

  /// One piece for each of the kernel's operands, in its order. `number` is asked for all numbers but sizes that are
  /// known, and is kept for `set_numbers`. A leaf for GPUs is called on the one where that is.
  LeafCall(const Leaf& leaf, std::span<const SeenPiece> operands, NumberOf number, DevicePlace device = {});

  const Leaf& leaf() const { return *leaf_; }
  const DevicePlace& device() const { return device_; }
  /// The piece has index arrays as wide as the leaf was compiled for.
  void set_operand(size_t k, View piece);
  /// Asks for all numbers again.
  void set_numbers();

  /// Computes a piece of the result that covers these coordinates, one range for each dimension; it starts from zero.
  Storage compute(const std::vector<Range>& bounds, runtime::HostContext& context, const RunKernel& run);
  /// Computes a piece of a placed result in place: zeroed first where that is needed, added to where the start is Old.
  void compute_into(View& result, runtime::HostContext& context, const RunKernel& run);
  /// What a placed result stores where; a shared pattern is that of its operand's piece.
  PatternHandle result_pattern(const std::vector<Range>& bounds) const;

 private:
  Storage compute_placed(const std::vector<Range>& bounds, runtime::HostContext& context, const RunKernel& run);
  void launch(spd_array* lists, runtime::HostContext& context, const RunKernel& run);

  const Leaf* leaf_;
  NumberOf number_;
  DevicePlace device_;
  std::vector<View> views_;
  std::vector<spd_tensor> tensors_;  // the result first
  std::vector<int64_t> numbers_;
};

/// Computes the result from whole tensors. For a statement that adds (+=) to a dense result, `storages` has what it held
/// before.
Storage compute(const Leaf& leaf, const Storages& storages, runtime::HostContext& context, const RunKernel& run,
                DevicePlace device = {});
/// The same into what the tensor held before. Of a leaf that overwrites.
void compute_into(Storage& result, const Leaf& leaf, const Storages& storages, runtime::HostContext& context,
                  const RunKernel& run, DevicePlace device = {});

}  // namespace spdistal
