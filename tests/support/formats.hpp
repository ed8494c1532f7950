// The formats of several tensors as one text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spdistal/format.hpp"

namespace spdistal::test {

/// That of a tensor in "A:ds B:ds:1,0"; tensors that are not listed are dense.
Format format_of(const std::string& formats, std::string_view tensor, size_t order);

/// Can a tensor of these sizes be one of blocks: are its last dimensions, half of all, those of blocks that hold something?
bool may_be_blocks(const std::vector<int64_t>& dims);
/// With these as the sizes of blocks.
Format in_blocks(const Format& format, const std::vector<int64_t>& dims);
/// Stored in the same way, with or without fill value, of no blocks and at no place.
Format without_blocks(const Format& format);

}  // namespace spdistal::test
