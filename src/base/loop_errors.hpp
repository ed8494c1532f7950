// Errors of parallel loops: none may leave one, or the program ends on the spot.
#pragma once
#include <exception>
#include <mutex>

namespace spdistal {

/// Runs the bodies of a parallel loop; the first error is kept and thrown behind it.
class LoopErrors {
 public:
  template <class F>
  void operator()(F&& body) noexcept {
    try {
      body();
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
  }
  void raise() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace spdistal
