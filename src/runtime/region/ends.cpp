#include "runtime/region/ends.hpp"

#include "base/require.hpp"
#include "memory/copy.hpp"
#include "runtime/device/device.hpp"

namespace spdistal::runtime {

using memory::Place;

std::optional<Place> End::device_of(const Instance& instance, std::optional<Place> wish) {
  return instance.mirror() ? instance.mirror()->device_up_to_date(wish) : std::nullopt;
}

PlacesOn End::places_on(Place device, const Instance& instance, const Selection& elements) {
  require(moves_ != nullptr, "elements on devices are moved there");
  if (places_.size() == 0) places_ = elements.places();
  return {device, instance.type(), *instance.mirror(), places_, elements.has_narrow_places(), elements.count()};
}

// A run needs no list.
void End::gather_on(Place device, const Instance& from, const Selection& elements, Buffer& to) {
  Run run = elements.single();
  if (run.length == 0) return moves_->gather(places_on(device, from, elements), to);
  const std::byte* array = from.mirror()->to_read(device);
  device_at(device).copy(to.mirror().to_overwrite(device), array + size_t(run.offset) * size_of(from.type()),
                         size_t(elements.bytes()));
}

void End::gather_to_host(const Instance& from, const Selection& elements, Buffer& between, std::byte* to) {
  std::optional<Place> device = device_of(from);
  if (!device || from.mirror()->is_up_to_date()) return elements.gather(from.to_read(), to);
  gather_on(*device, from, elements, between);
  memory::copy_bytes(to, std::as_const(between).data(), between.size());
}

void End::gather(const Instance& from, const Selection& elements, Buffer& to, std::optional<Place> wish) {
  if (elements.count() == 0) return;
  if (std::optional<Place> device = device_of(from, wish)) gather_on(*device, from, elements, to);
  else elements.gather(from.to_read(), to.data());
}

void End::scatter(const Buffer& from, const Instance& to, const Selection& elements) {
  if (elements.count() == 0) return;
  std::optional<Place> device = device_of(to);
  if (!device) return elements.scatter(from.data(), to.to_change());
  Run run = elements.single();
  if (run.length == 0) return moves_->scatter(from, places_on(*device, to, elements));
  std::byte* array = to.mirror()->to_change(*device);
  device_at(*device).copy(array + size_t(run.offset) * size_of(to.type()), from.mirror().to_read(*device),
                          size_t(elements.bytes()));
}

// What is added to goes to the device that adds, and is there the next time.
void End::combine(const Buffer& from, const Instance& to, const Selection& elements, ReduceOp op) {
  if (elements.count() == 0) return;
  std::optional<Place> device = device_of(to);
  if (!device && to.mirror()) device = from.mirror().device_up_to_date();
  if (device) moves_->combine(from, places_on(*device, to, elements), op);
  else elements.combine(from.data(), to.to_change(), op);
}

void copy_elements(const LocalCopy& copy, const Instance& from, const Selection& from_elements, End& from_end,
                   const Instance& to, const Selection& to_elements, End& to_end, Buffer& between) {
  constexpr size_t few = 16;  // stretches, for which a copy each is no more than lists of places
  if (from_elements.count() == 0) return;
  std::optional<Place> target = End::device_of(to), source = End::device_of(from, target);
  if (!target && (!source || from.mirror()->is_up_to_date())) return copy.run(from.to_read(), to.to_change());
  if (target && source == target && copy.steps().size() <= few) {
    size_t size = size_of(from.type());
    const std::byte* out = from.mirror()->to_read(*target);
    std::byte* in = to.mirror()->to_change(*target);
    for (const LocalCopy::Step& step : copy.steps())
      device_at(*target).copy(in + size_t(step.to) * size, out + size_t(step.from) * size, size_t(step.length) * size);
    return;
  }
  if (between.size() == 0) between = runtime::between(from_elements);
  from_end.gather(from, from_elements, between, target);
  to_end.scatter(between, to, to_elements);
}

}  // namespace spdistal::runtime
