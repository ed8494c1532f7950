#pragma once
#include <string_view>

namespace spdistal {

/// Of the library: "0.1.0".
std::string_view version();

}  // namespace spdistal
