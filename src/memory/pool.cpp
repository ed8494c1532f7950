#include "memory/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/require.hpp"
#include "memory/buffer.hpp"

namespace spdistal::memory {
namespace {

struct Pools {
  std::mutex mutex;
  std::map<Place, std::unique_ptr<Pool>> of;
};

Pools& pools() {
  static auto* all = new Pools;  // never destroyed: buffers of other static objects may come later
  return *all;
}

}  // namespace

std::string Place::str() const {
  switch (kind) {
    case Kind::Host: return "the host";
    case Kind::Pinned: return "pinned memory of the host";
    default: return fmt::format("device {}", device);
  }
}

void Pool::copy_across(std::byte* to, Pool& other, const std::byte* from, size_t bytes) {
  constexpr size_t part = size_t(4) << 20;
  Buffer between = Buffer::uninitialized(std::min(part, bytes), pinned);
  for (size_t at = 0; at < bytes; at += part) {
    size_t next = std::min(part, bytes - at);
    other.copy_out(between.data(), from + at, next);
    copy_in(to + at, between.data(), next);
  }
}

Pool& pool_of(Place place) {
  if (place == host) return host_pool();
  std::lock_guard lock(pools().mutex);
  auto found = pools().of.find(place);
  if (found != pools().of.end()) return *found->second;
  require(place == pinned, "memory is asked for on devices that are there");
  return host_pool();
}

void add_pool(Place place, std::unique_ptr<Pool> pool) {
  std::lock_guard lock(pools().mutex);
  bool added = place != host && pools().of.emplace(place, std::move(pool)).second;
  require(added, "a place has one pool");
}

}  // namespace spdistal::memory
