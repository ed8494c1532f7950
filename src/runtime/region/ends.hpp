// One end of what is moved: some elements of an instance, where those are up to date, on the host or on a device. Between two ends
// elements stand one behind the other in a buffer, of which there is a copy wherever somebody looks at it: what is not sent does not
// travel, and what stays on a device does not leave it.
#pragma once
#include <optional>

#include "runtime/region/device_moves.hpp"
#include "runtime/region/instance.hpp"
#include "runtime/region/selection.hpp"

namespace spdistal::runtime {

class End {
 public:
  explicit End(DeviceMoves* moves = nullptr) : moves_(moves) {}

  /// Where the elements of an instance are up to date, the wished for device before others; none: on the host alone.
  static std::optional<memory::Place> device_of(const Instance& instance, std::optional<memory::Place> wish = {});

  /// To memory of the host: from there where it is up to date.
  void gather_to_host(const Instance& from, const Selection& elements, Buffer& between, std::byte* to);
  /// To wherever it is looked for next: from the device where that is up to date.
  void gather(const Instance& from, const Selection& elements, Buffer& to, std::optional<memory::Place> wish);
  void scatter(const Buffer& from, const Instance& to, const Selection& elements);
  void combine(const Buffer& from, const Instance& to, const Selection& elements, ReduceOp op);

 private:
  PlacesOn places_on(memory::Place device, const Instance& instance, const Selection& elements);
  void gather_on(memory::Place device, const Instance& from, const Selection& elements, Buffer& to);

  DeviceMoves* moves_;
  Buffer places_ = {};  // made when a device first asks for them
};

/// What elements stand in between two ends.
inline Buffer between(const Selection& elements) {
  return Buffer::uninitialized(size_t(elements.bytes()), memory::pinned);
}

/// A copy within the rank, on a device where both ends are up to date there, else from one to the other through `between`.
void copy_elements(const LocalCopy& copy, const Instance& from, const Selection& from_elements, End& from_end,
                   const Instance& to, const Selection& to_elements, End& to_end, Buffer& between);

}  // namespace spdistal::runtime
