// Regions: typed arrays over index spaces, distributed: each rank has the instances of its own colours of the partition
// that is held. Elements that several pieces hold are owned by the lowest colour; the other copies are replicas.
//
// The version grows with every change of the values, on all ranks alike; who keeps copies compares it.
#pragma once
#include <string>

#include "runtime/partition/partition.hpp"
#include "runtime/region/instance.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// How the elements of a piece are laid out.
enum class LayoutKind {
  Compact,       // the set itself
  Box,           // the bounding rectangle
  HardlyLarger,  // the bounding rectangle where it is hardly larger than the set, else compact
};
Layout layout_of(const Space& set, LayoutKind kind);

class Region {
 public:
  /// Instances of zeros for the colours of this rank.
  Region(const Transport& transport, std::string name, ScalarType type, Partition held,
         LayoutKind kind = LayoutKind::HardlyLarger);
  /// Over instances that are there; each holds at least its piece.
  Region(std::string name, ScalarType type, Partition held, Instances instances);

  const std::string& name() const { return name_; }
  ScalarType type() const { return type_; }
  /// Known for the colours of this rank.
  const Partition& held() const { return held_; }
  Range colours() const { return instances_.colours(); }
  const Instances& instances() const { return instances_; }
  const Instance& operator[](int64_t colour) const { return instances_[colour]; }

  uint64_t version() const { return version_; }
  void changed() { version_++; }
  /// Sets every element to zero, those between the elements of a box included.
  void zero();

 private:
  std::string name_;
  ScalarType type_;
  Partition held_;
  Instances instances_;
  uint64_t version_ = 1;
};

}  // namespace spdistal::runtime
