// What happens when there is no more memory: an error that says for what it was wanted, how much, and how much there is.
#pragma once
#include <cstddef>
#include <new>
#include <string>
#include <utility>

#include "memory/place.hpp"
#include "spdistal/error.hpp"

namespace spdistal::memory {

/// "80 B", "12.5 MiB".
std::string describe_bytes(double bytes);
/// The memory of this machine.
size_t physical_memory();
/// What the buffers of this process hold by now, wherever they are.
size_t bytes_held();
/// Buffers that would hold more than this together are refused; there is no limit at first.
void set_limit(size_t bytes);

class OutOfMemory : public SystemError {
 public:
  /// `purpose` completes "… takes 8.0 TiB"; empty where nobody knows yet.
  OutOfMemory(size_t bytes, Place place, std::string purpose = {});

  size_t bytes() const { return bytes_; }
  Place place() const { return place_; }
  const std::string& purpose() const { return purpose_; }

 private:
  size_t bytes_;
  Place place_;
  std::string purpose_;
};

/// What memory is for that this thread asks for while it lives; one inside another knows better.
class Purpose {
 public:
  /// `what` completes "… takes 8.0 TiB", and is asked only when there is no more memory. It outlives the purpose.
  template <class What>
  explicit Purpose(const What& what)
      : what_(&what), text_([](const void* w) -> std::string { return (*static_cast<const What*>(w))(); }) {
    enter();
  }
  ~Purpose() { leave(); }
  Purpose(const Purpose&) = delete;
  Purpose& operator=(const Purpose&) = delete;

  /// The innermost one's; empty where there is none.
  static std::string current();

 private:
  void enter();
  void leave();

  const void* what_;
  std::string (*text_)(const void*);
  const Purpose* outer_ = nullptr;
};

/// What `f` returns. Memory that it does not get was for `what()`, unless somebody inside knows better.
template <class What, class F>
decltype(auto) naming(const What& what, F&& f) {
  Purpose purpose(what);
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) { throw OutOfMemory(0, host, what()); }
}

}  // namespace spdistal::memory

namespace spdistal {
using memory::describe_bytes;
using memory::physical_memory;
}  // namespace spdistal
