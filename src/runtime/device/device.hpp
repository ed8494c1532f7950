// What runs kernels and has memory of its own, or shares the host's: the one interface between plans and hardware. The
// host is a device like the others (`host.hpp`), which does everything at once.
//
// Things happen in streams: what is put into one happens in order, different streams do not wait for each other unless an
// event says so. Every call may return before what it asks for has happened; `wait` returns when it has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "memory/buffer.hpp"
#include "spdistal/abi.h"

namespace spdistal::runtime {

// ---- code ---------------------------------------------------------------------------------------------------------------

/// A file with the function `int function(spd_call*)`: what the host loads.
struct SharedLibrary {
  std::string path, function;
};
/// Machine code of a device, with the name of a kernel in it. Kernels of one image share its bytes.
struct DeviceImage {
  std::shared_ptr<const std::string> bytes;
  std::string function;
};
/// Something of this process that does what a kernel would.
struct HostFunction {
  std::function<int(spd_call&)> function;
};
using Code = std::variant<SharedLibrary, DeviceImage, HostFunction>;

/// A kernel that a device has loaded, and runs only there.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
};

// ---- order --------------------------------------------------------------------------------------------------------------

/// Of one device. The first is always there.
struct Stream {
  int number = 0;
};
/// A moment: when what was in a stream by then has happened.
struct Event {
  Stream stream;
  uint64_t number = 0;
};

/// One run of a kernel.
struct Launch {
  /// What kernels of the host take.
  spd_call* call = nullptr;
  /// What kernels of other devices take instead: where each of their parameters stands, a number or a pointer to an array.
  std::span<const void* const> arguments = {};
  /// The arrays among them.
  std::span<const spd_array> arrays = {};
  /// The grid of such kernels.
  int64_t blocks = 1;
  int threads = 1;          // of a block
  size_t shared_bytes = 0;  // of a block, beyond what the kernel says itself
};

// ---- devices ------------------------------------------------------------------------------------------------------------

/// Called by one thread at a time, except where a function says otherwise. What fails throws SystemError.
class Device {
 public:
  virtual ~Device() = default;

  /// Where its memory is.
  virtual memory::Place place() const = 0;
  /// Not initialised; throws memory::OutOfMemory. From any thread.
  memory::Buffer allocate(size_t bytes) const { return memory::Buffer::uninitialized(bytes, place()); }

  /// Between memory of this device and memory of it or of the host, which stays as it is until that has happened.
  virtual void copy(void* to, const void* from, size_t bytes, Stream stream = {}) = 0;
  /// Memory of this device.
  virtual void fill(void* to, std::byte value, size_t bytes, Stream stream = {}) = 0;

  /// Throws SystemError for code of another kind of device. From any thread.
  virtual std::shared_ptr<const LoadedKernel> load(const Code& code) = 0;
  /// Runs a kernel that this device has loaded. The code that it returns, where it is done when this returns; else 0.
  virtual int launch(const LoadedKernel& kernel, const Launch& launch, Stream stream = {}) = 0;

  /// Another stream.
  virtual Stream stream() = 0;
  /// When all that is in the stream now has happened.
  virtual Event record(Stream stream) = 0;
  /// What is put into the stream from now on happens after the event, which may be of another stream.
  virtual void after(Event event, Stream stream) = 0;
  /// Until it has happened.
  virtual void wait(Event event) = 0;
  virtual void wait(Stream stream) = 0;
};

/// The device whose memory lies at a place; pinned memory is the host's. Throws InternalError where there is none.
Device& device_at(memory::Place place);
/// From now on and for good.
void add_device(std::unique_ptr<Device> device);

}  // namespace spdistal::runtime
