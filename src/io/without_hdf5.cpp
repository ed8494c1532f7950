// In the place of binsparse_file.cpp and hdf5.cpp where there is no HDF5: files are known by their names, and refused.
#include "io/formats.hpp"

namespace spdistal {

constexpr std::string_view missing = "HDF5: install libhdf5-dev, and configure and build spdistal again";
const FileFormat binsparse{.name = "binsparse", .suffix = ".h5", .read = nullptr, .write = nullptr, .missing = missing};
const FileFormat binsparse_long{
    .name = "binsparse", .suffix = ".hdf5", .read = nullptr, .write = nullptr, .missing = missing};

}  // namespace spdistal
