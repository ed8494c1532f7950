// Matrices and vectors of PETSc (MatView, VecView into a binary viewer), big-endian:
//
//   matrix   1211216 | rows | columns | non-zeros | how many each row has | columns of all entries | values
//            non-zeros -1: a dense matrix, whose values follow row by row
//   vector   1211214 | elements | values
//
// Numbers that are not values have 4 bytes, or all 8 where PETSc was built for that: the first one tells. Values are doubles; where PETSc was built
// otherwise, complex ones or floats, the length of the file tells. Of several objects in a file the first is read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/hash.hpp"
#include "format/fill.hpp"
#include "io/byte_order.hpp"
#include "io/formats.hpp"
#include "io/source.hpp"
#include "io/together.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/values.hpp"

namespace spdistal {
namespace {

constexpr int64_t matrix_mark = 1211216, vector_mark = 1211214;
constexpr std::array<int64_t, 4> marks{matrix_mark, vector_mark, 1211218, 1211219};  // of index sets and bags too
constexpr std::array value_types{ScalarType::Float64, ScalarType::Complex128, ScalarType::Float32};

template <class T>
T big_endian(T value) {
  return std::endian::native == std::endian::big ? value : of_other_byte_order(value);
}

class PetscReader {
 public:
  explicit PetscReader(const std::string& path) : path_(path), file_(map_file(path)) {
    const size_t bytes = file_.bytes.size();
    bool narrow = bytes >= 4 && is_mark(word<int32_t>(0)), wide = !narrow && bytes >= 8 && is_mark(word<int64_t>(0));
    if (!narrow && !wide) damaged("it does not start as a matrix or a vector does");
    width_ = narrow ? 4 : 8;
    int64_t mark = number(0);
    if (mark != matrix_mark && mark != vector_mark) damaged("it holds neither a matrix nor a vector");
    size_t head = mark == matrix_mark ? 4 : 2;
    if (bytes < head * width_) damaged("it ends too early");
    for (size_t k = 1; k < head; k++) sizes_.push_back(number(k * width_));
    dense_ = head == 4 && sizes_[2] == -1;
    if (sizes_[0] < 0 || (head == 4 && (sizes_[1] < 0 || (sizes_[2] < 0 && !dense_))))
      damaged("one of its sizes is negative");
    counts_ = head * width_;
    place();
  }

  bool is_matrix() const { return sizes_.size() == 3; }
  std::vector<int64_t> dims() const { return is_matrix() ? std::vector{sizes_[0], sizes_[1]} : std::vector{sizes_[0]}; }
  ScalarType type() const { return type_; }
  int64_t entries() const { return entries_; }
  uint64_t hash() const {
    Hasher out;
    out.all(std::span<const int64_t>(sizes_));
    out.word(file_.bytes.size()), out.word(width_);
    return out.value();
  }

  Coordinates part(int64_t rank, int64_t ranks) const {
    Range mine = block(entries_, ranks, rank);
    Coordinates out(dims(), type_);
    out.resize(mine.size());
    if (!is_matrix()) {
      for (int64_t e = mine.lo; e < mine.hi; e++) out.column(0)[size_t(e - mine.lo)] = e;
    } else if (dense_) {
      for (int64_t e = mine.lo; e < mine.hi; e++) {
        out.column(0)[size_t(e - mine.lo)] = e / sizes_[1];
        out.column(1)[size_t(e - mine.lo)] = e % sizes_[1];
      }
    } else {
      fill_rows(mine, out.column(0));
      for (int64_t e = mine.lo; e < mine.hi; e++)
        out.column(1)[size_t(e - mine.lo)] = number(columns_ + size_t(e) * width_);
    }
    with_type(type_, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t e = mine.lo; e < mine.hi; e++)
        out.values<T>()[size_t(e - mine.lo)] = word<T>(values_ + size_t(e) * sizeof(T));
    });
    if (auto inside = out.check(); !inside) throw UserError(fmt::format("{}: {}", path_, inside.refusal().message));
    return out;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw UserError(fmt::format("{}: no sound file of PETSc: {}", path_, what));
  }
  static bool is_mark(int64_t value) { return std::find(marks.begin(), marks.end(), value) != marks.end(); }
  template <class T>
  T word(size_t at) const {
    return big_endian(memory::load<T>(file_.bytes.data() + at));
  }
  int64_t number(size_t at) const { return width_ == 4 ? word<int32_t>(at) : word<int64_t>(at); }

  // Where its arrays are; the file must have room for them.
  void place() {
    uint64_t entries = 0, bytes = 0;
    bool fits = true;
    if (!is_matrix()) entries = uint64_t(sizes_[0]);
    else if (dense_) fits = !__builtin_mul_overflow(uint64_t(sizes_[0]), uint64_t(sizes_[1]), &entries);
    else entries = uint64_t(sizes_[2]);
    const uint64_t all = file_.bytes.size();
    fits = fits && entries <= all && (dense_ || !is_matrix() || uint64_t(sizes_[0]) <= all);
    if (!fits) damaged(fmt::format("it is too short for what its first {} bytes tell of", counts_));
    entries_ = int64_t(entries);
    columns_ = counts_ + (is_matrix() && !dense_ ? uint64_t(sizes_[0]) * width_ : 0);
    values_ = columns_ + (is_matrix() && !dense_ ? entries * width_ : 0);
    for (ScalarType type : value_types) {
      bytes = values_ + entries * size_of(type);
      bool another =
          bytes < all && all - bytes >= width_ && is_mark(width_ == 4 ? word<int32_t>(bytes) : word<int64_t>(bytes));
      if (bytes == all || another) {
        type_ = type;
        return;
      }
    }
    damaged(fmt::format("it has {} bytes, not those of {} values behind the first {}", all, entries, values_));
  }

  void fill_rows(Range mine, std::span<int64_t> to) const {
    int64_t before = 0;
    for (int64_t row = 0; row < sizes_[0]; row++) {
      int64_t count = number(counts_ + size_t(row) * width_);
      if (count < 0 || count > entries_ - before)
        damaged(fmt::format("row {} has {} entries, where {} are left", row, count, entries_ - before));
      Range own = {std::max(before, mine.lo), std::min(before + count, mine.hi)};
      for (int64_t e = own.lo; e < own.hi; e++) to[size_t(e - mine.lo)] = row;
      before += count;
    }
    if (before != entries_) damaged(fmt::format("its rows have {} entries together, not {}", before, entries_));
  }

  std::string path_;
  MappedFile file_;
  size_t width_ = 4;
  std::vector<int64_t> sizes_;  // rows, columns and non-zeros, or elements
  bool dense_ = false;
  int64_t entries_ = 0;
  size_t counts_ = 0, columns_ = 0, values_ = 0;  // where they begin
  ScalarType type_{};
};

Contents read(runtime::Transport& transport, const std::string& path, const ReadOptions&) {
  return read_together(transport, path, [&] { return PetscReader(path); });
}

// ---- writing -----------------------------------------------------------------------------------------------------------

template <class T>
void put(std::vector<std::byte>& to, T value) {
  value = big_endian(value);
  auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> numbers(std::span<const int64_t> from, size_t width) {
  std::vector<std::byte> out;
  out.reserve(from.size() * width);
  for (int64_t n : from) width == 4 ? put(out, int32_t(n)) : put(out, n);
  return out;
}

void write(runtime::Transport& transport, const std::string& path, const Home& home) {
  if (home.order() != 1 && home.order() != 2)
    throw UserError(fmt::format("{}: a tensor of order {} is neither a matrix nor a vector", path, home.order()),
                    ".tns and .spd files hold tensors of any order");
  const bool matrix = home.order() == 2;
  const ScalarType type = is_complex(home.type()) ? ScalarType::Complex128 : ScalarType::Float64;
  LinesPart part = lines_part(transport, home, filled_like(matrix ? CSR : Format({Dense}), home.format()));
  part.entries = runtime::together(transport, [&] { return std::move(part.entries).converted(type); });

  std::vector<int64_t> head{matrix_mark, home.dims()[0]};
  if (matrix) head.insert(head.end(), {home.dims()[1], part.all});
  else head[0] = vector_mark;
  const size_t width = *std::max_element(head.begin(), head.end()) <= INT32_MAX ? 4 : 8;
  const size_t counts = head.size() * width, columns = counts + (matrix ? size_t(home.dims()[0]) * width : 0);
  const size_t values = columns + (matrix ? size_t(part.all) * width : 0), bytes = size_of(type);

  write_together(transport, path, values + size_t(part.all) * bytes, [&](FilePart& file) {
    auto write_at = [&](size_t at, const std::vector<std::byte>& from) { file.write(from.data(), from.size(), at); };
    if (transport.rank() == 0) write_at(0, numbers(head, width));
    if (matrix) {
      write_at(counts + size_t(part.lines.lo) * width, numbers(part.counts(0), width));
      write_at(columns + size_t(part.before) * width, numbers(part.entries.column(1), width));
    }
    std::vector<std::byte> own;
    with_type(type, [&](auto zero) {
      for (auto value : part.entries.values<decltype(zero)>()) put(own, value);
    });
    write_at(values + size_t(part.before) * bytes, own);
  });
}

}  // namespace

const FileFormat petsc{.name = "PETSc", .suffix = ".petsc", .read = read, .write = write};

}  // namespace spdistal
