// For tests: memory that nobody asked to be zero is filled with a pattern, so that whoever reads what he never wrote
// computes something wrong every time, and not only sometimes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace spdistal::memory {

/// NaN as double and as float; as an index, of 32 bits or of 64, larger than any tensor.
constexpr uint64_t poison_pattern = 0x7FF9'A5A5'7FC5'A5A5;

enum class Poison : uint8_t { Off, On };

/// From now on, in all threads. Off at first.
void set_poison(Poison poison);
Poison poison();

/// Fills host memory that was just handed out, if poison is on.
void poison_fresh(std::span<std::byte> memory);

}  // namespace spdistal::memory
