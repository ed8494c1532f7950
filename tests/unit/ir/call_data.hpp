// Test support: an spd_call put together from vectors.
#pragma once
#include <deque>
#include <vector>

#include "runtime/device/host_context.hpp"
#include "spdistal/abi.h"

namespace spdistal::testing {

/// Tensors, arrays and scalars of one call. Vectors are passed by reference and used in place.
class CallData {
 public:
  explicit CallData(int64_t threads = 1) : context_(threads) {}

  struct Level {
    int64_t extent = 0, lo = 0, stride = 0, begin = 0, end = 0;
    spd_array pos{}, crd{};
  };

  template <class T>
  static spd_array view(std::vector<T>& v) {
    return {v.data(), int64_t(v.size()), nullptr};
  }
  /// An array that the kernel sizes itself; `array<T>` reads it.
  spd_array growing() { return {nullptr, 0, &buffers_.emplace_back()}; }
  template <class T>
  static std::vector<T> contents(const spd_array& a) {
    return {static_cast<T*>(a.data), static_cast<T*>(a.data) + a.count};
  }

  size_t tensor(std::vector<Level> levels, spd_array vals) {
    auto& kept = levels_.emplace_back();
    for (const Level& l : levels) kept.push_back({l.extent, l.lo, l.stride, l.begin, l.end, {l.pos, l.crd}});
    tensors_.push_back({kept.data(), vals});
    return tensors_.size() - 1;
  }
  void array(spd_array a) { arrays_.push_back(a); }
  void scalar(int64_t s) { scalars_.push_back(s); }
  template <class T>
  void argument(const T& value) {
    arguments_.push_back(&value);
  }

  spd_tensor& tensor(size_t t) { return tensors_[t]; }
  spd_call& get() {
    call_ = {&context_, tensors_.data(), arrays_.data(), scalars_.data(), arguments_.data()};
    return call_;
  }

 private:
  runtime::HostContext context_;
  std::deque<std::vector<spd_level>> levels_;
  std::deque<runtime::ResultArray> buffers_;
  std::vector<spd_tensor> tensors_;
  std::vector<spd_array> arrays_;
  std::vector<int64_t> scalars_;
  std::vector<const void*> arguments_;
  spd_call call_{};
};

}  // namespace spdistal::testing
