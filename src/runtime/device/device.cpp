#include "runtime/device/device.hpp"

#include <map>
#include <mutex>

#include "base/require.hpp"
#include "runtime/device/host.hpp"

namespace spdistal::runtime {
namespace {

struct Devices {
  std::mutex mutex;
  std::map<memory::Place, std::unique_ptr<Device>> at;
};

Devices& devices() {
  static auto* all = new Devices;  // never destroyed: kernels of other static objects may come later
  return *all;
}

}  // namespace

Device& device_at(memory::Place place) {
  if (place.is_visible()) return host_device();
  std::lock_guard lock(devices().mutex);
  auto found = devices().at.find(place);
  require(found != devices().at.end(), "devices are asked for that are there");
  return *found->second;
}

void add_device(std::unique_ptr<Device> device) {
  memory::Place place = device->place();
  std::lock_guard lock(devices().mutex);
  bool added = !place.is_visible() && devices().at.emplace(place, std::move(device)).second;
  require(added, "a place is of one device");
}

}  // namespace spdistal::runtime
