#include "memory/mirror.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "memory/buffer.hpp"
#include "memory/pool.hpp"

namespace spdistal::memory {
namespace {
std::atomic<int64_t> to_devices = 0, to_host = 0, between_devices = 0;
}  // namespace

struct Mirror::Side {
  Buffer memory;
  bool up_to_date = false;

  Place place() const { return memory.place(); }
};

Travelled travelled() { return {to_devices.load(), to_host.load(), between_devices.load()}; }

Mirror::Mirror(std::span<std::byte> memory) : host_(memory) {}
Mirror::~Mirror() = default;

const Mirror::Side& Mirror::newest_side() const {
  auto newest = std::find_if(sides_.begin(), sides_.end(), [](const Side& side) { return side.up_to_date; });
  require(newest != sides_.end(), "some place has what was written last");
  return *newest;
}

void Mirror::fetch() {
  std::lock_guard lock(mutex_);
  if (newest_.load(std::memory_order_acquire) != Newest::Devices) return;  // another thread has
  const Side& from = newest_side();
  if (!host_.empty()) pool_of(from.place()).copy_out(host_.data(), from.memory.data(), host_.size());
  to_host += int64_t(host_.size());
  newest_.store(Newest::Both, std::memory_order_release);
}

Mirror::Side& Mirror::side_at(Place place) {
  require(!place.is_visible(), "the copy of memory of the host is on a device");
  auto found = std::find_if(sides_.begin(), sides_.end(), [&](const Side& side) { return side.place() == place; });
  if (found != sides_.end()) return *found;
  return sides_.emplace_back(Side{Buffer::uninitialized(host_.size(), place)});
}

Mirror::Side& Mirror::up_to_date(Place place) {
  Side& side = side_at(place);
  if (newest_ == Newest::Host)
    for (Side& old : sides_) old.up_to_date = false;
  if (side.up_to_date) return side;
  if (newest_ != Newest::Devices) {
    if (!host_.empty()) pool_of(place).copy_in(side.memory.data(), host_.data(), host_.size());
    to_devices += int64_t(host_.size());
    newest_ = Newest::Both;
  } else {
    const Side& from = newest_side();
    if (!host_.empty())
      pool_of(place).copy_across(side.memory.data(), pool_of(from.place()), from.memory.data(), host_.size());
    between_devices += int64_t(host_.size());
  }
  side.up_to_date = true;
  return side;
}

Mirror::Side& Mirror::alone_up_to_date(Side& side) {
  for (Side& other : sides_) other.up_to_date = false;
  side.up_to_date = true;
  newest_ = Newest::Devices;
  return side;
}

std::byte* Mirror::to_read(Place place) {
  std::lock_guard lock(mutex_);
  return up_to_date(place).memory.data();
}

std::byte* Mirror::to_change(Place place) {
  std::lock_guard lock(mutex_);
  return alone_up_to_date(up_to_date(place)).memory.data();
}

std::byte* Mirror::to_overwrite(Place place) {
  std::lock_guard lock(mutex_);
  return alone_up_to_date(side_at(place)).memory.data();
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

std::optional<Place> Mirror::device_up_to_date(std::optional<Place> wish) const {
  std::lock_guard lock(mutex_);
  if (newest_ == Newest::Host) return {};
  for (const Side& side : sides_)
    if (side.up_to_date && side.place() == wish) return wish;
  return newest_side().place();
}

std::optional<Buffer> Mirror::newer() const {
  std::lock_guard lock(mutex_);
  if (newest_ != Newest::Devices) return {};
  const Side& from = newest_side();
  Buffer out = Buffer::uninitialized(host_.size(), from.place());
  if (!host_.empty()) pool_of(from.place()).copy(out.data(), from.memory.data(), host_.size());
  return out;
}

void Mirror::adopt(Buffer device) {
  require(!device.place().is_visible() && device.size() >= host_.size(), "all of it is on a device");
  std::lock_guard lock(mutex_);
  std::erase_if(sides_, [&](const Side& side) { return side.place() == device.place(); });
  alone_up_to_date(sides_.emplace_back(Side{std::move(device)}));
}

}  // namespace spdistal::memory
