// A checksum against damage on the way (not against malice): 64 bits, several bytes per cycle, the same everywhere.
#pragma once
#include <cstddef>
#include <cstdint>

namespace spdistal {

/// Of one array, in parallel. With `copy_to`, the bytes are copied there on the way.
uint64_t checksum(const std::byte* data, size_t bytes, std::byte* copy_to = nullptr);

}  // namespace spdistal
