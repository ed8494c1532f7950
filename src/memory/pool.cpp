#include "memory/pool.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/require.hpp"

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
