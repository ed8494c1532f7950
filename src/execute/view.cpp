#include "execute/view.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/require.hpp"
#include "memory/copy.hpp"

namespace spdistal {

// Arrays are only read through a view unless they are results.
View::View(const Storage& storage, std::optional<memory::Place> device, const PatternHandle& seen)
    : values_{const_cast<std::byte*>(device ? storage.value_address() : storage.value_bytes()), storage.nnz(), nullptr},
      pattern_(storage.shared_pattern()),
      seen_(seen ? seen : pattern_),
      element_(size_of(storage.type())),
      on_device_(device),
      device_(&runtime::device_at(storage.place())) {
  if (device) values_.owner = &storage.value_mirror();
  auto array = [&](const IndexArray& a) -> spd_array {
    if (device) return {const_cast<void*>(a.address()), a.size(), a.mirror()};
    return {const_cast<void*>(a.data()), a.size(), nullptr};
  };
  for (const LevelArrays& level : seen_->levels()) {
    spd_level view{};
    view.extent = level.range.size();
    view.lo = level.range.lo;
    view.stride = level.range.size();
    view.end = level.positions;
    for (size_t n = 0; n < level.arrays.size(); n++) view.arrays[n] = array(level.arrays[n].array);
    levels_.push_back(view);
  }
}

View::View(Storage& result, std::optional<memory::Place> device) : View(std::as_const(result), device) {
  if (!device) values_.data = result.value_bytes();
}

View::View(std::span<const Range> ranges, std::span<const int64_t> strides, void* values, ScalarType type)
    : values_{values, 0, nullptr}, element_(size_of(type)), device_(&runtime::device_at(memory::host)) {
  require(ranges.size() == strides.size(), "every level of a view has a range and a stride");
  int64_t last = 0;  // the position of the last element
  bool empty = false;
  for (size_t k = 0; k < ranges.size(); k++) {
    spd_level view{};
    view.extent = ranges[k].size();
    view.lo = ranges[k].lo;
    view.stride = strides[k];
    last = last * strides[k] + view.extent - 1;
    view.end = last + 1;
    empty |= view.extent == 0;
    levels_.push_back(view);
  }
  values_.count = empty ? 0 : last + 1;
}

void View::fill(const Scalar& value) {
  std::visit(
      [&](const auto& v) {
        auto* bytes = reinterpret_cast<const std::byte*>(&v);
        fill({bytes, sizeof(v)});
      },
      static_cast<const ScalarVariant&>(value));
}

void View::fill(std::span<const std::byte> element) {
  require(element.size() == element_, "elements are filled with one of their type");
  // All values that are zero are zero byte by byte.
  bool zeros = std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte(0); });
  if (on_device_) {
    auto* mirror = static_cast<memory::Mirror*>(values_.owner);
    return zeros ? mirror->fill(*on_device_, std::byte(0)) : mirror->fill(*on_device_, element);
  }
  auto fill_run = [&](std::byte* first, int64_t elements) {
    if (zeros) device_->fill(first, std::byte(0), size_t(elements) * element_);
    else memory::repeat_bytes(first, element, size_t(elements) * element_);
  };
  auto* bytes = static_cast<std::byte*>(values_.data);
  // The innermost levels that lie without gaps are one run.
  int64_t run = 1;
  size_t k = levels_.size();
  while (k > 0) {
    run *= levels_[--k].extent;
    if (k > 0 && levels_[k].stride != levels_[k].extent) break;
  }
  if (run == 0 || values_.count == 0) return;
  if (pattern_ || k == 0) return fill_run(bytes, values_.count);
  std::function<void(size_t, int64_t)> nest = [&](size_t level, int64_t position) {
    for (int64_t c = 0; c < levels_[level].extent; c++) {
      int64_t at = level == 0 ? c : position * levels_[level].stride + c;
      if (level + 1 < k) nest(level + 1, at);
      else {
        for (size_t below = k; below < levels_.size(); below++) at *= levels_[below].stride;
        fill_run(bytes + size_t(at) * element_, run);
      }
    }
  };
  nest(0, 0);
}

}  // namespace spdistal
