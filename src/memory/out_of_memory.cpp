#include "memory/out_of_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iterator>
#include <utility>

namespace spdistal::memory {
namespace {

thread_local const Purpose* innermost = nullptr;

std::string message(size_t bytes, Place place, const std::string& purpose) {
  std::string wanted = purpose.empty() ? "" : bytes == 0 ? fmt::format("for {}: ", purpose) : purpose + " takes ";
  if (bytes > 0) wanted += describe_bytes(double(bytes)) + (purpose.empty() ? " are wanted" : "") + ", ";
  std::string where = place.kind == Place::Kind::Host ? "" : fmt::format(" on {}", place.str());
  return fmt::format("out of memory{}: {}tensors of this process hold {} already", where, wanted,
                     describe_bytes(double(bytes_held())));
}

}  // namespace

OutOfMemory::OutOfMemory(size_t bytes, Place place, std::string purpose)
    : SystemError(message(bytes, place, purpose)), bytes_(bytes), place_(place), purpose_(std::move(purpose)) {}

void Purpose::enter() { outer_ = std::exchange(innermost, this); }
void Purpose::leave() { innermost = outer_; }
std::string Purpose::current() { return innermost ? innermost->text_(innermost->what_) : ""; }

std::string describe_bytes(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) bytes /= 1024, unit++;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

size_t physical_memory() {
  static const size_t bytes = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace spdistal::memory
