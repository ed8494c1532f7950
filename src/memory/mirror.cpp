#include "memory/mirror.hpp"

#include "base/require.hpp"
#include "memory/buffer.hpp"
#include "memory/pool.hpp"

namespace spdistal::memory {
namespace {
std::atomic<int64_t> to_devices = 0, to_host = 0;
}  // namespace

struct Mirror::Side {
  Buffer memory;
};

Travelled travelled() { return {to_devices.load(), to_host.load()}; }

Mirror::Mirror(std::span<std::byte> memory) : host_(memory) {}
Mirror::~Mirror() = default;

void Mirror::fetch() {
  std::lock_guard lock(fetching_);
  if (state_.load(std::memory_order_acquire) != State::DeviceNewer) return;  // another thread has
  if (!host_.empty()) pool_of(device_->memory.place()).copy_out(host_.data(), device_->memory.data(), host_.size());
  to_host += int64_t(host_.size());
  state_.store(State::Same, std::memory_order_release);
}

// Memory on a device; what another one holds comes to the host first.
void Mirror::room(Place place) {
  require(!place.is_visible(), "the copy of memory of the host is on a device");
  if (device_ && device_->memory.place() == place && device_->memory.size() >= host_.size()) return;
  look();
  state_ = State::HostNewer;
  device_ = std::make_unique<Side>(Side{Buffer::uninitialized(host_.size(), place)});
}

std::byte* Mirror::to_read(Place place) {
  room(place);
  if (state_ == State::HostNewer) {
    if (!host_.empty()) pool_of(place).copy_in(device_->memory.data(), host_.data(), host_.size());
    to_devices += int64_t(host_.size());
    state_ = State::Same;
  }
  return device_->memory.data();
}

std::byte* Mirror::to_change(Place place) {
  std::byte* out = to_read(place);
  state_ = State::DeviceNewer;
  return out;
}

std::byte* Mirror::to_overwrite(Place place) {
  room(place);
  state_ = State::DeviceNewer;
  return device_->memory.data();
}

void Mirror::fill(Place place, std::byte value) {
  std::byte* to = to_overwrite(place);
  if (!host_.empty()) pool_of(place).fill(to, value, host_.size());
}

void Mirror::fill(Place place, std::span<const std::byte> element) {
  std::byte* to = to_overwrite(place);
  for (size_t done = 0; done < host_.size();) {
    size_t next = std::min(done == 0 ? element.size() : done, host_.size() - done);
    if (done == 0) pool_of(place).copy_in(to, element.data(), next);
    else pool_of(place).copy(to + done, to, next);
    done += next;
  }
}

std::optional<Buffer> Mirror::newer() const {
  if (state_.load(std::memory_order_acquire) != State::DeviceNewer) return {};
  Place place = device_->memory.place();
  Buffer out = Buffer::uninitialized(host_.size(), place);
  if (!host_.empty()) pool_of(place).copy(out.data(), device_->memory.data(), host_.size());
  return out;
}

void Mirror::adopt(Buffer device) {
  require(!device.place().is_visible() && device.size() >= host_.size(), "all of it is on a device");
  device_ = std::make_unique<Side>(Side{std::move(device)});
  state_ = State::DeviceNewer;
}

}  // namespace spdistal::memory
