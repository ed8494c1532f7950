// Where memory lies.
#pragma once
#include <cstdint>
#include <string>

namespace spdistal::memory {

struct Place {
  enum class Kind : uint8_t {
    Host,    // of this process
    Pinned,  // likewise, and devices copy from and to it by themselves
    Device   // of one device; this process cannot look at it
  };
  Kind kind = Kind::Host;
  int device = 0;  // of Kind::Device: which

  auto operator<=>(const Place&) const = default;
  /// May the host read and write there?
  bool is_visible() const { return kind != Kind::Device; }
  /// "the host", "pinned memory of the host", "device 2".
  std::string str() const;
};

constexpr Place host{Place::Kind::Host};
constexpr Place pinned{Place::Kind::Pinned};
constexpr Place device(int number) { return {Place::Kind::Device, number}; }

}  // namespace spdistal::memory
