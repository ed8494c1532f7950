// The file formats, one per file.
#pragma once
#include "io/files.hpp"

namespace spdistal {

extern const FileFormat matrix_market, frostt, native;

}  // namespace spdistal
