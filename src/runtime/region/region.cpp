#include "runtime/region/region.hpp"

#include "memory/copy.hpp"
#include "runtime/task/mapping.hpp"

namespace spdistal::runtime {

Layout layout_of(const Space& set, LayoutKind kind) {
  switch (kind) {
    case LayoutKind::Compact: return Layout::compact(set);
    case LayoutKind::Box: return Layout::box(set);
    default: return Layout::hardly_larger(set);
  }
}

Region::Region(const Transport& transport, std::string name, ScalarType type, Partition held, LayoutKind kind)
    : name_(std::move(name)),
      type_(type),
      held_(held.restricted(Mapping(held.colours(), transport.size()).colours_of(transport.rank()))),
      instances_(held_.known()) {
  for (int64_t c = colours().lo; c < colours().hi; c++) instances_.add(Instance(type, layout_of(held_[c], kind)));
}

Region::Region(std::string name, ScalarType type, Partition held, Instances instances)
    : name_(std::move(name)),
      type_(type),
      held_(held.restricted(instances.colours())),
      instances_(std::move(instances)) {
  for (int64_t c = colours().lo; c < colours().hi; c++)
    require(contains(instances_[c].layout().where(), held_[c]) && instances_[c].type() == type_,
            "an instance holds its piece");
}

void Region::zero() {
  for (const Instance& instance : instances_)
    if (size_t bytes = size_t(instance.layout().extent()) * size_of(type_)) memory::zero_bytes(instance.data(), bytes);
  changed();
}

}  // namespace spdistal::runtime
