// Reading tensors from files and writing them. The suffix of a name tells the format; a new format is one file here and
// one line in files.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/coordinates.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// What the reader wants beyond what the file says.
struct ReadOptions {
  std::optional<ScalarType> type;            // converted as C++ would; complex into real is refused
  std::optional<std::vector<int64_t>> dims;  // for formats that do not record sizes; others must agree
};

/// A file holds entries in no particular order, or storage as it was.
using Contents = std::variant<Coordinates, Storage>;

struct FileFormat {
  std::string_view name;    // "Matrix Market"
  std::string_view suffix;  // ".mtx"
  bool gzip;                // also as suffix + ".gz"
  Contents (*read)(const std::string& path, const ReadOptions& options);
  void (*write)(const std::string& path, const Storage& storage);
};

/// All file formats.
std::vector<const FileFormat*> all_file_formats();
/// The format of a file, by its name. Throws UserError that lists the formats.
const FileFormat& file_format_of(std::string_view path);

/// All entries of a file. Throws UserError with file:line:column, what was expected and what was found.
Coordinates read_coordinates(const std::string& path, const ReadOptions& options = {});
/// A file as storage of a format. A matrix of one row or column is read as a vector where the format is one.
Storage read_storage(const std::string& path, const Format& format, const ReadOptions& options = {});
/// Refuses a file that cannot be written before there is anything to write: a name that tells no format, a folder that
/// does not exist or takes no files. Throws UserError.
void check_can_write(const std::string& path);
/// Writes a tensor: beside the name first, then renamed, so that a failure leaves nothing behind.
void write_storage(const std::string& path, const Storage& storage);

}  // namespace spdistal
