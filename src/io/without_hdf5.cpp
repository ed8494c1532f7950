// In the place of binsparse_file.cpp and hdf5.cpp where there is no HDF5: files are known by their names, and refused.
#include "io/formats.hpp"

namespace spdistal {

constexpr std::string_view missing = "HDF5: install libhdf5-dev, and configure and build spdistal again";
const FileFormat binsparse{"binsparse", ".h5", false, false, false, nullptr, nullptr, missing};
const FileFormat binsparse_long{"binsparse", ".hdf5", false, false, false, nullptr, nullptr, missing};

}  // namespace spdistal
