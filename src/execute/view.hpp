// A tensor as a kernel sees it; the arrays are whoever's they are.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "runtime/device/device.hpp"
#include "spdistal/abi.h"
#include "tensor/storage.hpp"

namespace spdistal {

class View {
 public:
  /// A stored piece, all of it, for a kernel of the host; or of a device, which finds its copies there. Index arrays are those
  /// of `seen`, where there is one.
  explicit View(const Storage& storage, std::optional<memory::Place> device = {}, const PatternHandle& seen = nullptr);
  /// The same of a result: what devices have of it is old when the host has written it.
  explicit View(Storage& result, std::optional<memory::Place> device = {});
  /// A dense piece within a larger array: the coordinates that each level covers, and how far apart neighbours in the
  /// level above stand, outermost level first. `values` points to its first element, in memory of the host.
  View(std::span<const Range> ranges, std::span<const int64_t> strides, void* values, ScalarType type);

  spd_tensor tensor() const { return {const_cast<spd_level*>(levels_.data()), values_}; }
  Range range(size_t level) const { return {levels_[level].lo, levels_[level].lo + levels_[level].extent}; }
  /// What it stores where; null for a part of an array.
  const PatternHandle& pattern() const { return pattern_; }
  /// Whose index arrays it has; null likewise.
  const PatternHandle& seen() const { return seen_; }
  /// All elements have this value from now on.
  void fill(const Scalar& value);

 private:
  void fill(std::span<const std::byte> element);

  std::vector<spd_level> levels_;
  spd_array values_{};
  PatternHandle pattern_, seen_;
  size_t element_ = 0;  // bytes
  std::optional<memory::Place> on_device_ = {};
  runtime::Device* device_;
};

}  // namespace spdistal
