// Copies on devices of memory of the host, one for each device that has looked. Each place is brought up to date when somebody looks
// there: the host through its Buffer, kernels through `to_read`, `to_change` and `to_overwrite`. What nobody looks at does not travel.
//
//   look        here is brought up to date, from the host where that is, else from a device that is; others stay as they are
//   change      the same, and all others are out of date
//   overwrite   all others are out of date; nothing travels
//
// Always holds: one place at least is up to date, and all that are hold the same.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "memory/place.hpp"

namespace spdistal::memory {

class Buffer;

/// How much has travelled since the process began: from the host to all devices, back, and from one device to another.
struct Travelled {
  int64_t to_devices = 0, to_host = 0, between_devices = 0;  // bytes
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
    if (newest_.load(std::memory_order_acquire) == Newest::Devices) fetch();
  }
  /// What is there may be read and changed.
  void change() {
    look();
    newest_.store(Newest::Host, std::memory_order_release);
  }

  /// Is it up to date?
  bool is_up_to_date() const { return newest_.load(std::memory_order_acquire) != Newest::Devices; }

  // ---- a device's side: throws OutOfMemory where that has no room ----
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

  /// A device that is up to date, where one is: the wished for before others.
  std::optional<Place> device_up_to_date(std::optional<Place> wish = {}) const;
  /// A copy of what is on a device, there, where that is newer than what the host has.
  std::optional<Buffer> newer() const;

  size_t bytes() const { return host_.size(); }
  /// The first bytes are all there is from now on.
  void shrink(size_t bytes) { host_ = host_.first(bytes); }

 private:
  // Who has what was written last: the host alone, devices alone, or both.
  enum class Newest : uint8_t { Host, Devices, Both };
  // Of a device. Where the host alone has what was written last, nobody is up to date, whatever stands here.
  struct Side;

  void fetch();
  Side& side_at(Place place);
  Side& up_to_date(Place place);
  Side& alone_up_to_date(Side& side);
  const Side& newest_side() const;

  std::span<std::byte> host_;
  std::atomic<Newest> newest_ = Newest::Host;
  mutable std::mutex mutex_;  // of all but that
  std::vector<Side> sides_;
};

}  // namespace spdistal::memory
