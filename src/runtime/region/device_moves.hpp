// Moving elements where they lie on devices, as selections do in memory of the host. Who can make kernels for devices brings an
// implementation.
#pragma once
#include "memory/buffer.hpp"
#include "runtime/transport/transport.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal::runtime {

/// Some elements of an array, by their places: int32_t where they are narrow, else int64_t.
struct PlacesOn {
  memory::Place device;
  ScalarType type;
  memory::Mirror& array;
  const memory::Buffer& places;
  bool narrow;
  int64_t count;
};

/// Each is asked for on one device, and finds there what was asked for before.
class DeviceMoves {
 public:
  virtual ~DeviceMoves() = default;
  /// to[k] = array[place k].
  virtual void gather(const PlacesOn& from, memory::Buffer& to) = 0;
  /// array[place k] = from[k]. No place comes twice.
  virtual void scatter(const memory::Buffer& from, const PlacesOn& to) = 0;
  /// array[place k] = array[place k] op from[k]; likewise.
  virtual void combine(const memory::Buffer& from, const PlacesOn& to, ReduceOp op) = 0;
};

}  // namespace spdistal::runtime
