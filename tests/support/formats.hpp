// The formats of several tensors as one text.
#pragma once
#include <string>
#include <string_view>

#include "spdistal/format.hpp"

namespace spdistal::test {

/// That of a tensor in "A:ds B:ds:1,0"; tensors that are not listed are dense.
Format format_of(const std::string& formats, std::string_view tensor, size_t order);

}  // namespace spdistal::test
