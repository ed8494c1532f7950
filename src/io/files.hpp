// Reading tensors from files and writing them. The suffix of a name tells the format; a new format is one file here and
// one line in files.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/transport/transport.hpp"
#include "tensor/coordinates.hpp"
#include "tensor/home.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// What the reader wants beyond what the file says.
struct ReadOptions {
  std::optional<ScalarType> type;                  // values that it cannot hold are refused
  std::optional<std::vector<int64_t>> dims;        // for formats that do not record sizes; others must agree
  std::vector<std::optional<int64_t>> sizes = {};  // of dimensions, where known, for files that do not record theirs
  std::optional<Format> format = {};               // that it will have: files with another fill value are refused
};

/// A file holds entries in no particular order, or storage as it was.
using Contents = std::variant<Coordinates, Storage>;

struct FileFormat {
  std::string_view name;    // "Matrix Market"
  std::string_view suffix;  // ".mtx"
  /// Collective. On several ranks each gets some of the entries: those of rank 0, 1, … are the file's in order.
  Contents (*read)(runtime::Transport& transport, const std::string& path, const ReadOptions& options);
  /// Collective. Every element once, whoever holds it.
  void (*write)(runtime::Transport& transport, const std::string& path, const Home& home);
  bool gzip = false;              // also as suffix + ".gz"
  bool keeps_storage = false;     // holds arrays as they are in memory, not entries
  bool matrices = false;          // and nothing else: a vector is a matrix of one column
  std::string_view missing = {};  // what this build lacks for it, and how it is had
};

/// All file formats.
std::vector<const FileFormat*> all_file_formats();
/// The format of a file, by its name. Throws UserError that lists the formats, or says what this build lacks.
const FileFormat& file_format_of(std::string_view path);
/// Throws UserError where a file says what elements count as that are not stored, other than 0, and the reader means another
/// value. `type` is that of the file.
void check_fill(const std::string& path, const std::optional<Scalar>& said, ScalarType type,
                const ReadOptions& options);

/// Collective. This rank's part of the entries of a file, with the sizes of the whole; those of rank 0, 1, … together are
/// all entries in the order of the file. No rank reads more than its part, except that files ending in .gz are inflated
/// by the first and dealt out, that arrays of an .npz file that are compressed are inflated by every rank, and that a piece of
/// a native file is read by one rank. A fault is thrown on all ranks.
Coordinates read_part(runtime::Transport& transport, const std::string& path, const ReadOptions& options = {});
/// Drops dimensions of size 1, the last first, until the order is no more than wanted: a matrix of one column is a vector.
void squeeze(Coordinates& entries, size_t order);

/// All entries of a file. Throws UserError with file:line:column, what was expected and what was found.
Coordinates read_coordinates(const std::string& path, const ReadOptions& options = {});
/// A file as storage of a format. A matrix of one row or column is read as a vector where the format is one.
Storage read_storage(const std::string& path, const Format& format, const ReadOptions& options = {});
/// Refuses a file that cannot be written before there is anything to write: a name that tells no format, a folder that
/// does not exist or takes no files. Throws UserError.
void check_can_write(const std::string& path);
/// Collective. Writes a tensor: beside the name first, then renamed, so that a failure leaves nothing behind. Native files
/// are written by all ranks, each its pieces; text goes through the first rank in bounded portions, in storage order.
/// Where pieces share elements, or text needs another order than theirs, elements are moved into blocks of the first
/// stored level before.
void write_home(runtime::Transport& transport, const std::string& path, const Home& home);
/// The same of a tensor that one process has whole. Local.
void write_storage(const std::string& path, const Storage& storage);

}  // namespace spdistal
