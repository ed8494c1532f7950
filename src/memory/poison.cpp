#include "memory/poison.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace spdistal::memory {
namespace {
std::atomic<Poison> is_on = Poison::Off;
}  // namespace

void set_poison(Poison poison) { is_on = poison; }
Poison poison() { return is_on.load(std::memory_order_relaxed); }

void poison_fresh(std::span<std::byte> memory) {
  if (poison() == Poison::Off) return;
  for (size_t at = 0; at < memory.size(); at += sizeof poison_pattern)
    std::memcpy(memory.data() + at, &poison_pattern, std::min(sizeof poison_pattern, memory.size() - at));
}

}  // namespace spdistal::memory
