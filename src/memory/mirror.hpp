// A copy on a device of memory of the host. Each side is brought up to date when somebody looks at it: the host through
// its Buffer, kernels through `to_read`, `to_change` and `to_overwrite`. What nobody looks at does not travel.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "memory/place.hpp"

namespace spdistal::memory {

class Buffer;

/// How much has travelled since the process began: between the host and all devices.
struct Travelled {
  int64_t to_devices = 0, to_host = 0;  // bytes
};
Travelled travelled();

class Mirror {
 public:
  /// Of memory that stays where it is.
  explicit Mirror(std::span<std::byte> memory);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  // ---- the host's side: any thread ----
  /// What is there may be read.
  void look() {
    if (state_.load(std::memory_order_acquire) == State::DeviceNewer) fetch();
  }
  /// What is there may be read and changed.
  void change() {
    look();
    state_.store(State::HostNewer, std::memory_order_release);
  }

  // ---- the device's side: throws OutOfMemory where it has no room ----
  /// For kernels that read it.
  std::byte* to_read(Place place);
  /// For kernels that read and change it.
  std::byte* to_change(Place place);
  /// For kernels that write all of it: what was there is lost.
  std::byte* to_overwrite(Place place);
  /// All bytes have this value, on the device.
  void fill(Place place, std::byte value);
  /// Element after element has these bytes, on the device.
  void fill(Place place, std::span<const std::byte> element);
  /// Takes memory of a device that holds what the host's side is to hold.
  void adopt(Buffer device);

  /// A copy of what is on the device, there, where that is newer than what the host has.
  std::optional<Buffer> newer() const;

  size_t bytes() const { return host_.size(); }
  /// The first bytes are all there is from now on.
  void shrink(size_t bytes) { host_ = host_.first(bytes); }

 private:
  enum class State : uint8_t { HostNewer, DeviceNewer, Same };

  void fetch();
  void room(Place place);

  std::span<std::byte> host_;
  std::atomic<State> state_ = State::HostNewer;
  std::mutex fetching_;
  struct Side;
  std::unique_ptr<Side> device_;
};

}  // namespace spdistal::memory
