// Matrices of SciPy (.npz, scipy.sparse.save_npz): an archive of numpy's arrays.
//
//   format   'csr', 'csc' or 'coo'                shape   rows, columns
//   csr      indptr, indices, data                coo     row, col, data
//
// Every rank takes a part of the entries. Of stored arrays it reads just those; compressed ones, as SciPy writes them unless asked not to,
// are inflated by every rank, which keeps its part. Positions of lines (indptr) are read by all.
#include <fmt/format.h>

#include <algorithm>

#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/together.hpp"
#include "io/zip.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/values.hpp"

namespace spdistal {
namespace {

// An array of the archive.
class NpyArray {
 public:
  NpyArray(const ZipArchive& archive, std::string_view name) : archive_(archive), name_(name) {
    member_ = archive.find(name_ + ".npy");
    if (!member_) fail("it has no array of this name");
    ZipArchive::Part start = archive.part(*member_, 0, std::min(member_->bytes, longest_npy_header));
    std::string_view text(reinterpret_cast<const char*>(start.bytes().data()), start.bytes().size());
    Result<NpyHeader> header = read_npy_header(text);
    if (!header) fail(header.refusal().message);
    header_ = *header;
    uint64_t bytes = header_.width;
    for (int64_t n : header_.shape)
      if (__builtin_mul_overflow(bytes, uint64_t(n), &bytes)) fail("it is larger than any file");
    if (header_.width == 0 || bytes != member_->bytes - header_.bytes)
      fail(fmt::format("it has {} bytes of elements, its header tells of {}", member_->bytes - header_.bytes, bytes));
  }

  const NpyHeader& header() const { return header_; }
  /// How many elements a vector has.
  int64_t size() const {
    if (header_.shape.size() != 1) fail(fmt::format("it has {} dimensions, not one", header_.shape.size()));
    return header_.shape[0];
  }
  ScalarType type() const {
    Result<ScalarType> type = header_.type();
    if (!type) fail(type.refusal().message);
    return *type;
  }

  /// f(number of the element in the range, value)
  template <class F>
  void for_each(Range elements, F&& f) const {
    for_each_npy(header_, bytes(elements).bytes(), f);
  }
  /// Whole numbers, of those that fit.
  std::vector<int64_t> numbers(Range elements) const {
    std::vector<int64_t> out(size_t(elements.size()));
    copy_numbers(elements, out);
    return out;
  }
  void copy_numbers(Range elements, std::span<int64_t> to) const {
    if (header_.kind != 'i' && header_.kind != 'u') fail("its elements are no whole numbers");
    type();
    for_each(elements, [&]<class T>(size_t k, T value) {
      if constexpr (std::integral<T>) {
        if (!std::in_range<int64_t>(value)) fail("one of its numbers is larger than 2^63 - 1");
        to[k] = int64_t(value);
      }
    });
  }
  std::string text() const {
    if ((header_.kind != 'S' && header_.kind != 'U') || !header_.shape.empty()) fail("it is no text");
    std::string out;
    ZipArchive::Part all = archive_.part(*member_, header_.bytes, member_->bytes);
    for (std::byte b : all.bytes())
      if (b != std::byte(0)) out += char(b);  // numpy has 4 bytes for a character, or one
    return out;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: no sound .npz file: {}: {}", archive_.path(), name_, what));
  }

 private:
  ZipArchive::Part bytes(Range elements) const {
    return archive_.part(*member_, header_.bytes + uint64_t(elements.lo) * header_.width,
                         header_.bytes + uint64_t(elements.hi) * header_.width);
  }

  const ZipArchive& archive_;
  std::string name_;
  const ZipMember* member_;
  NpyHeader header_;
};

// The line of each of some entries, from where all lines begin.
void fill_lines(const NpyArray& begins, int64_t lines, int64_t entries, Range mine, std::span<int64_t> to) {
  if (begins.size() - 1 != lines)
    begins.fail(fmt::format("it has {} elements for {} rows or columns, not one more", begins.size(), lines));
  int64_t before = 0;
  begins.for_each({0, lines + 1}, [&]<class T>(size_t k, T value) {
    if constexpr (std::integral<T>) {
      if (!std::in_range<int64_t>(value) || int64_t(value) < before || int64_t(value) > entries ||
          (k == 0 && value != 0))
        begins.fail(fmt::format("element {} is {} after {}, of {} entries", k, value, before, entries));
      Range line = {std::max(before, mine.lo), std::min(int64_t(value), mine.hi)};
      for (int64_t e = line.lo; e < line.hi; e++) to[size_t(e - mine.lo)] = int64_t(k) - 1;
      before = int64_t(value);
    }
  });
  if (before != entries) begins.fail(fmt::format("it ends with {}, of {} entries", before, entries));
}

void copy_values(const NpyArray& data, Range mine, Coordinates& to) {
  with_type(to.type(), [&](auto zero) {
    using V = decltype(zero);
    std::span<V> values = to.values<V>();
    data.for_each(mine, [&]<class T>(size_t k, T value) {
      if constexpr (std::same_as<T, uint64_t>)
        if (!std::in_range<int64_t>(value)) data.fail("one of its numbers is larger than 2^63 - 1");
      if constexpr (is_complex_type<V> || !is_complex_type<T>) values[k] = convert_value<V>(value);
    });
  });
}

Coordinates read_matrix(const ZipArchive& archive, int64_t rank, int64_t ranks) {
  NpyArray format(archive, "format"), shape(archive, "shape"), data(archive, "data");
  std::string kind = format.text();
  if (kind != "csr" && kind != "csc" && kind != "coo")
    throw UserError(fmt::format("{}: the matrix is in SciPy's format '{}'", archive.path(), kind),
                    "formats csr, csc and coo are read: save_npz(name, A.tocsr())");
  if (shape.size() != 2) shape.fail(fmt::format("the matrix has {} dimensions, not two", shape.size()));
  std::vector<int64_t> dims = shape.numbers({0, 2});
  Coordinates out(dims, data.type());
  Range mine = block(data.size(), ranks, rank);
  out.resize(mine.size());
  if (kind == "coo") {
    for (size_t d = 0; d < 2; d++) {
      NpyArray column(archive, d == 0 ? "row" : "col");
      if (column.size() != data.size())
        column.fail(fmt::format("it has {} elements for {} values", column.size(), data.size()));
      column.copy_numbers(mine, out.column(d));
    }
  } else {
    size_t lines = kind == "csr" ? 0 : 1;
    NpyArray indices(archive, "indices"), begins(archive, "indptr");
    if (indices.size() != data.size())
      indices.fail(fmt::format("it has {} elements for {} values", indices.size(), data.size()));
    if (begins.header().kind != 'i' && begins.header().kind != 'u') begins.fail("its elements are no whole numbers");
    begins.type();
    fill_lines(begins, dims[lines], data.size(), mine, out.column(lines));
    indices.copy_numbers(mine, out.column(1 - lines));
  }
  copy_values(data, mine, out);
  if (auto inside = out.check(); !inside)
    throw UserError(fmt::format("{}: {}", archive.path(), inside.refusal().message));
  return out;
}

Contents read(runtime::Transport& transport, const std::string& path, const ReadOptions&) {
  ZipArchive archive = runtime::together(
      transport, [&] { return ZipArchive(path); }, runtime::NameRank::No);
  archive.check(transport);
  return runtime::together(
      transport, [&] { return Contents(read_matrix(archive, transport.rank(), transport.size())); },
      runtime::NameRank::No);
}

// ---- writing -----------------------------------------------------------------------------------------------------------

template <class T>
void add(std::vector<std::byte>& to, std::span<const T> elements) {
  auto bytes = std::as_bytes(elements);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// A member of which the first rank has the header, and every rank some elements.
template <class T>
NewZipMember member(runtime::Transport& transport, std::string name, std::string_view descr,
                    std::optional<int64_t> size, std::span<const T> mine) {
  NewZipMember out{std::move(name) + ".npy", {}};
  std::string header = npy_header(descr, size);
  if (transport.rank() == 0) add(out.mine, std::span<const char>(header));
  add(out.mine, mine);
  return out;
}

// Indices as SciPy has them: of 32 bits where these suffice.
NewZipMember index_member(runtime::Transport& transport, std::string name, ScalarType type, int64_t size,
                          std::span<const int64_t> mine) {
  if (type == ScalarType::Int64) return member(transport, std::move(name), npy_descr(type), size, mine);
  std::vector<int32_t> narrow(mine.begin(), mine.end());
  return member(transport, std::move(name), npy_descr(type), size, std::span<const int32_t>(narrow));
}

void write(runtime::Transport& transport, const std::string& path, const Home& home) {
  if (home.order() != 1 && home.order() != 2)
    throw UserError(fmt::format("{}: a tensor of order {} is no matrix", path, home.order()),
                    ".tns and .spd files hold tensors of any order");
  // A vector becomes a matrix of one column.
  bool vector = home.order() == 1, by_columns = home.format().mode_order() == CSC.mode_order();
  bool lists = vector || home.format().levels() == COO(2).levels();
  size_t line = by_columns ? 1 : 0;
  LinesPart part = lines_part(transport, home, vector ? Format({Compressed}) : by_columns ? CSC : CSR);
  std::vector<int64_t> shape = home.dims();
  if (vector) shape.push_back(1);
  bool narrow = std::max({shape[0], shape[1], part.all}) <= INT32_MAX;
  ScalarType index = narrow ? ScalarType::Int32 : ScalarType::Int64;
  auto first = [&](auto elements) { return transport.rank() == 0 ? elements : elements.first(0); };

  std::vector<NewZipMember> members;
  if (lists) {
    std::vector<int64_t> zeros(vector ? size_t(part.entries.size()) : 0, 0);
    const Coordinates& entries = part.entries;
    members.push_back(index_member(transport, "row", index, part.all, entries.column(0)));
    members.push_back(
        index_member(transport, "col", index, part.all, vector ? std::span<const int64_t>(zeros) : entries.column(1)));
  } else {
    std::vector<int64_t> begins;
    int64_t at = part.before;
    for (int64_t count : part.counts(line)) begins.push_back(std::exchange(at, at + count));
    if (transport.rank() == transport.size() - 1) begins.push_back(part.all);
    const Coordinates& entries = part.entries;
    members.push_back(index_member(transport, "indices", index, part.all, entries.column(1 - line)));
    members.push_back(index_member(transport, "indptr", index, shape[line] + 1, begins));
  }
  std::string_view kind = lists ? "coo" : by_columns ? "csc" : "csr";
  members.push_back(member(transport, "format", "|S3", std::nullopt, first(std::span<const char>(kind))));
  members.push_back(
      member(transport, "shape", npy_descr(ScalarType::Int64), 2, first(std::span<const int64_t>(shape))));
  std::span<const std::byte> values(part.entries.value_bytes(), size_t(part.entries.size()) * size_of(home.type()));
  members.push_back(member(transport, "data", npy_descr(home.type()), part.all, values));
  write_zip(transport, path, members);
}

}  // namespace

const FileFormat npz{.name = "SciPy", .suffix = ".npz", .read = read, .write = write, .matrices = true};

}  // namespace spdistal
