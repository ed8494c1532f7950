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

/// What `f` returns. Memory that it does not get was for `purpose()`, unless somebody inside knew better.
template <class Purpose, class F>
decltype(auto) naming(const Purpose& purpose, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const OutOfMemory& e) {
    if (!e.purpose().empty()) throw;
    throw OutOfMemory(e.bytes(), e.place(), purpose());
  } catch (const std::bad_alloc&) { throw OutOfMemory(0, host, purpose()); }
}

}  // namespace spdistal::memory

namespace spdistal {
using memory::describe_bytes;
using memory::physical_memory;
}  // namespace spdistal
