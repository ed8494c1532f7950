// The file formats, one per file.
#pragma once
#include "io/files.hpp"

namespace spdistal {

extern const FileFormat matrix_market, frostt, npz, binsparse, binsparse_long, petsc, native;

}  // namespace spdistal
