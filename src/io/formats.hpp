// The file formats, one per file.
#pragma once
#include "io/files.hpp"

namespace spdistal {

extern const FileFormat matrix_market, frostt, npz, petsc, native;

}  // namespace spdistal
