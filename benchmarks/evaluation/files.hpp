// Matrices and tensors of real files. Of matrices, what is stored where: many files have no values, and those that are made are such
// that sums do not cancel.
#pragma once
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace evaluation {

inline bool ends_with(const std::string& name, const std::string& end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}
inline bool is_matrix_file(const std::string& name) { return ends_with(name, ".mtx") || ends_with(name, ".mtx.gz"); }
inline bool is_tensor_file(const std::string& name) { return ends_with(name, ".tns") || ends_with(name, ".tns.gz"); }

/// The lines of a file, compressed or not.
class Lines {
 public:
  explicit Lines(const std::string& path) : file_(gzopen(path.c_str(), "rb"), gzclose), path_(path) {
    if (!file_) throw std::invalid_argument("cannot read " + path);
    gzbuffer(file_.get(), 1 << 20);
  }
  /// The next, comments too; none at the end.
  const char* any() { return gzgets(file_.get(), line_.data(), int(line_.size())); }
  /// The next that is no comment.
  const char* next() {
    while (const char* line = any())
      if (line[0] != '#' && line[0] != '%' && line[0] != '\n') return line;
    return nullptr;
  }
  [[noreturn]] void refuse(const std::string& why) const { throw std::invalid_argument(path_ + ": " + why); }

 private:
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::string path_;
  std::array<char, 1 << 12> line_;
};

/// Numbers of a line, coordinates from 0; `rest` is what follows them.
template <size_t n>
std::array<int64_t, n> coordinates_of(const char* line, char** rest = nullptr) {
  std::array<int64_t, n> out;
  char* at = const_cast<char*>(line);
  for (int64_t& x : out) x = std::strtoll(at, &at, 10) - 1;
  if (rest) *rest = at;
  return out;
}

struct MatrixFile {
  int64_t rows, columns;
  std::vector<std::array<int64_t, 2>> at;
};

/// A matrix in coordinates; both halves of one that is symmetric.
inline MatrixFile read_matrix(const std::string& path) {
  Lines lines(path);
  const char* head = lines.any();
  std::string banner = head ? head : "";
  if (banner.rfind("%%MatrixMarket matrix coordinate", 0) != 0) lines.refuse("no Matrix Market file of coordinates");
  bool symmetric = banner.find("general") == std::string::npos;
  const char* size = lines.next();
  if (!size) lines.refuse("it has no sizes");
  auto [rows, columns, stored] = coordinates_of<3>(size);
  MatrixFile out{rows + 1, columns + 1, {}};
  out.at.reserve(size_t(stored + 1) * (symmetric ? 2 : 1));
  while (const char* line = lines.next()) {
    auto [i, j] = coordinates_of<2>(line);
    out.at.push_back({i, j});
    if (symmetric && i != j) out.at.push_back({j, i});
  }
  return out;
}

struct TensorFile {
  struct Entry {
    std::array<int64_t, 3> at;
    double value;
  };
  std::array<int64_t, 3> dims{0, 0, 0};
  std::vector<Entry> entries;
};

/// Three coordinates and a value in each line.
inline TensorFile read_tensor(const std::string& path) {
  Lines lines(path);
  TensorFile out;
  while (const char* line = lines.next()) {
    char *rest, *end;
    TensorFile::Entry entry{coordinates_of<3>(line, &rest), 0};
    entry.value = std::strtod(rest, &end);
    if (end == rest || end[std::strspn(end, " \t\r\n")] != 0) lines.refuse("it is not of order 3");
    for (size_t d = 0; d < 3; d++) out.dims[d] = std::max(out.dims[d], entry.at[d] + 1);
    out.entries.push_back(entry);
  }
  return out;
}

}  // namespace evaluation
