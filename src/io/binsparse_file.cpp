// binsparse in HDF5 (.h5, .bsp.h5): arrays with names and a descriptor (binsparse.hpp).
//
// Every rank takes a part of the values, and finds the coordinates of each from the innermost level out: those of a sparse level are
// read for its positions alone, where they belong below the level above (pointers) is read by all. New files are laid out by the
// first rank, and every rank writes what it has of each array.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/hash.hpp"
#include "base/require.hpp"
#include "format/fill.hpp"
#include "io/binsparse.hpp"
#include "io/formats.hpp"
#include "io/hdf5.hpp"
#include "io/together.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/distribute.hpp"
#include "tensor/values.hpp"

namespace spdistal {
namespace {

constexpr const char* attribute = "binsparse";
std::string pointers_name(size_t dimension) { return fmt::format("pointers_to_{}", dimension); }
std::string indices_name(size_t dimension) { return fmt::format("indices_{}", dimension); }

// ---- reading -----------------------------------------------------------------------------------------------------------

class BinsparseReader {
 public:
  explicit BinsparseReader(const std::string& path) : file_(path), text_(file_.text(attribute)) {
    Result<BinsparseDescriptor> descriptor = BinsparseDescriptor::parse(text_);
    if (!descriptor)
      throw UserError(
          fmt::format("{}: no sound binsparse file: its descriptor: {}", path, descriptor.refusal().message));
    of_ = std::move(*descriptor);
    check_sizes();
  }

  uint64_t hash() const { return hash_bytes(text_.data(), text_.size()); }
  ScalarType type() const { return type_; }

  /// What elements count as that are not there, where the file tells.
  std::optional<Scalar> fill() const {
    if (!of_.filled) return std::nullopt;
    Hdf5File::Array array = file_.array("fill_value");
    BinsparseType type = type_in(array, "fill_value");
    Coordinates one({}, element_type(array, type));
    one.resize(1);
    read_values(array, type, {0, 1}, one);
    return with_type(one.type(), [&](auto zero) { return Scalar(one.values<decltype(zero)>()[0]); });
  }

  Coordinates part(int64_t rank, int64_t ranks) const {
    Range mine = block(of_.stored, ranks, rank);
    Coordinates out(of_.dims, type_);
    out.resize(mine.size());
    std::vector<int64_t> at(size_t(mine.size()));  // the position of each value, at the level under way
    std::iota(at.begin(), at.end(), mine.lo);
    size_t end = of_.dims.size();
    for (size_t k = of_.levels.size(); k-- > 0;) {
      end -= of_.levels[k].rank;
      if (of_.levels[k].sparse) leave_sparse(end, k, at, out);
      else leave_dense(end, of_.levels[k].rank, at, out);
    }
    read_values(file_.array("values"), values_, mine, out);
    if (auto inside = out.check(); !inside) fail(inside.refusal().message);
    return of_.symmetry == Symmetry::General ? std::move(out) : mirrored(std::move(out));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: no sound binsparse file: {}", file_.path(), what));
  }

  BinsparseType type_in(const Hdf5File::Array& array, std::string_view name) const {
    Result<BinsparseType> type = of_.type_of(name);
    if (!type) array.fail(type.refusal().message);
    return *type;
  }
  static ScalarType element_type(const Hdf5File::Array& array, const BinsparseType& type) {
    if (type.truth()) return ScalarType::Bool;
    if (!type.complex) return array.type();
    if (is_integral(array.type())) array.fail("complex numbers are made of floating point numbers");
    return array.type() == ScalarType::Float32 ? ScalarType::Complex64 : ScalarType::Complex128;
  }

  // How many positions each level has, and that all arrays have just as many elements.
  void check_sizes() {
    int64_t positions = 1;
    size_t dimension = 0;
    for (const BinsparseLevel& level : of_.levels) {
      if (!level.sparse) {
        for (size_t d = dimension; d < dimension + level.rank; d++)
          if (__builtin_mul_overflow(positions, size_of_level(d), &positions)) fail("it is larger than any file");
      } else {
        if (dimension > 0) expect(pointers_name(dimension), positions + 1);
        positions = file_.array(indices_name(dimension)).size();
        for (size_t d = dimension; d < dimension + level.rank; d++) expect(indices_name(d), positions);
      }
      dimension += level.rank;
    }
    Hdf5File::Array values = file_.array("values");
    values_ = type_in(values, "values");
    type_ = element_type(values, values_);
    if (of_.stored != positions)
      fail(fmt::format("its descriptor tells of {} values, its levels have {}", of_.stored, positions));
    expect("values", (values_.same ? std::min<int64_t>(1, positions) : positions) * (values_.complex ? 2 : 1));
    if (of_.filled && file_.array("fill_value").size() < 1) fail("fill_value has no element");
    if (of_.symmetry == Symmetry::Hermitian && !values_.complex) fail("a hermitian matrix of real numbers");
  }
  void expect(const std::string& name, int64_t size) const {
    Hdf5File::Array array = file_.array(name);
    bool enough = name == "values" && values_.same ? array.size() >= size : array.size() == size;
    if (!enough) array.fail(fmt::format("it has {} elements, where {} belong", array.size(), size));
  }
  int64_t size_of_level(size_t dimension) const { return of_.dims[size_t(of_.order[dimension])]; }

  // From the positions of a level to those of the level above; coordinates are found on the way.
  void leave_dense(size_t first, size_t rank, std::span<int64_t> at, Coordinates& out) const {
    for (size_t d = first + rank; d-- > first;) {
      std::span<int64_t> column = out.column(size_t(of_.order[d]));
      const int64_t size = size_of_level(d);
      for (size_t e = 0; e < at.size(); e++) column[e] = at[e] % size, at[e] /= size;
    }
  }
  void leave_sparse(size_t first, size_t k, std::span<int64_t> at, Coordinates& out) const {
    Range range = at.empty() ? Range{0, 0} : Range{at.front(), at.back() + 1};
    std::vector<int64_t> indices(size_t(range.size()));
    for (size_t d = first; d < first + of_.levels[k].rank; d++) {
      file_.array(indices_name(d)).read(range, indices);
      std::span<int64_t> column = out.column(size_t(of_.order[d]));
      for (size_t e = 0; e < at.size(); e++) column[e] = indices[size_t(at[e] - range.lo)] - of_.index_base;
    }
    if (k > 0) fill_parents(file_.array(pointers_name(first)), file_.array(indices_name(first)).size(), range, indices);
    for (int64_t& position : at) position = k > 0 ? indices[size_t(position - range.lo)] : 0;
  }
  // The position above each of some positions, from where the positions below each begin.
  void fill_parents(const Hdf5File::Array& pointers, int64_t positions, Range mine, std::span<int64_t> to) const {
    constexpr int64_t portion = 1 << 16;
    std::vector<int64_t> begins;
    int64_t before = 0;
    for (int64_t from = 0; from < pointers.size(); from += portion) {
      Range next{from, std::min(from + portion, pointers.size())};
      begins.resize(size_t(next.size()));
      pointers.read(next, begins);
      for (size_t n = 0; n < begins.size(); n++) {
        const int64_t number = from + int64_t(n), begin = begins[n] - of_.index_base;
        if (begin < before || begin > positions || (number == 0 && begin != 0))
          pointers.fail(fmt::format("element {} is {} after {}, of {} positions", number, begin, before, positions));
        Range below{std::max(before, mine.lo), std::min(begin, mine.hi)};
        for (int64_t p = below.lo; p < below.hi; p++) to[size_t(p - mine.lo)] = number - 1;
        before = begin;
      }
    }
    if (before != positions) pointers.fail(fmt::format("it ends with {}, of {} positions", before, positions));
  }

  static void read_values(const Hdf5File::Array& from, const BinsparseType& type, Range mine, Coordinates& to) {
    if (to.size() == 0) return;
    const int64_t per = type.complex ? 2 : 1;
    Range wanted = type.same ? Range{0, per} : Range{mine.lo * per, mine.hi * per};
    if (type.truth()) {
      std::vector<int64_t> numbers(size_t(wanted.size()));
      from.read(wanted, numbers);
      for (size_t e = 0; e < numbers.size(); e++) to.values<bool>()[e] = numbers[e] != 0;
    } else {
      from.read(wanted, to.value_bytes());
    }
    if (!type.same) return;
    with_type(to.type(), [&](auto zero) {
      auto values = to.values<decltype(zero)>();
      std::fill(values.begin() + 1, values.end(), values[0]);
    });
  }

  Coordinates mirrored(Coordinates entries) const {
    std::span<const int64_t> i = entries.column(0), j = entries.column(1);
    for (size_t e = 0; e < i.size(); e++)
      if (of_.triangle == Triangle::Lower ? i[e] < j[e] : i[e] > j[e])
        fail(fmt::format("an element at {}, {} is not in the {} triangle", i[e], j[e],
                         of_.triangle == Triangle::Lower ? "lower" : "upper"));
    return mirror(of_.symmetry, std::move(entries));
  }

  Hdf5File file_;
  std::string text_;
  BinsparseDescriptor of_;
  BinsparseType values_;
  ScalarType type_{};
};

Contents read(runtime::Transport& transport, const std::string& path, const ReadOptions& options) {
  return read_together(transport, path, [&] {
    BinsparseReader in(path);
    check_fill(path, in.fill(), in.type(), options);
    return in;
  });
}

// ---- writing -----------------------------------------------------------------------------------------------------------

std::string_view number_name(ScalarType type) {
  switch (type) {
    case ScalarType::Bool: return "bint8";
    case ScalarType::Int32: return "int32";
    case ScalarType::Int64: return "int64";
    case ScalarType::Float32:
    case ScalarType::Complex64: return "float32";
    default: return "float64";
  }
}
std::string type_name(ScalarType type) {
  return is_complex(type) ? fmt::format("complex[{}]", number_name(type)) : std::string(number_name(type));
}
ScalarType number_type(ScalarType type) {
  if (!is_complex(type)) return type;
  return type == ScalarType::Complex64 ? ScalarType::Float32 : ScalarType::Float64;
}

// The arrays of a new file, and what a rank has of each.
class NewArrays {
 public:
  explicit NewArrays(ScalarType index) : index_(index) {}

  /// `size` elements of all ranks, of which this rank's begin at `before`.
  void add(std::string name, ScalarType type, int64_t size, int64_t before, std::span<const std::byte> mine) {
    types_.emplace_back(name, type_name(type));
    arrays_.push_back({std::move(name), number_type(type), size * (is_complex(type) ? 2 : 1)});
    before_.push_back(uint64_t(before) * size_of(type));
    mine_.push_back(mine);
  }
  void add_indices(std::string name, int64_t size, int64_t before, const std::vector<int64_t>& mine) {
    runtime::Writer out;
    out.reserve(mine.size() * size_of(index_));
    if (index_ == ScalarType::Int64) out.put_all(std::span<const int64_t>(mine));
    else
      for (int64_t number : mine) out.put(int32_t(number));
    add(std::move(name), index_, size, before, owned_.emplace_back(out.take()));
  }

  const std::vector<std::pair<std::string, std::string>>& types() const { return types_; }
  std::span<const NewHdf5Array> arrays() const { return arrays_; }
  void write(FilePart& file, std::span<const uint64_t> places) const {
    for (size_t n = 0; n < mine_.size(); n++) file.write(mine_[n].data(), mine_[n].size(), places[n] + before_[n]);
  }

 private:
  ScalarType index_;
  std::vector<std::pair<std::string, std::string>> types_;
  std::vector<NewHdf5Array> arrays_;
  std::vector<uint64_t> before_;
  std::vector<std::span<const std::byte>> mine_;
  std::deque<runtime::Bytes> owned_;
};

// How many positions of a level lower ranks have, and all.
struct PositionsPart {
  int64_t before = 0, all = 0;
};

// Of each level of a rank's block. A piece without any element may cover less than its block.
std::vector<int64_t> positions_of(const Pattern& piece, Range block) {
  std::vector<int64_t> out;
  bool dense = true;
  for (size_t k = 0; k < piece.order(); k++) {
    dense = dense && piece.format().levels()[k] == LevelFormat(Dense);
    int64_t all = k == 0 ? block.size() : out.back() * piece.level(k).dim;
    out.push_back(dense ? all : piece.level(k).positions);
    require(out.back() == piece.level(k).positions || piece.nnz() == 0, "a piece with elements covers its block");
  }
  return out;
}

std::vector<int64_t> numbers_of(const IndexArray& array, int64_t count, int64_t more) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  for (int64_t n = 0; n < count; n++) out[size_t(n)] = array[n] + more;
  return out;
}

// The pieces of all ranks one after the other are the arrays of the whole: each has all below its part of the outermost level.
void add_levels(NewArrays& to, const Pattern& piece, std::span<const int64_t> positions,
                std::span<const PositionsPart> placed, bool last) {
  for (size_t k = 0; k < piece.order(); k++) {
    if (piece.format().levels()[k] == LevelFormat(Dense)) continue;
    bool listed = piece.format().levels()[k] == LevelFormat(Singleton);  // below a list of coordinates
    if (k > 0 && !listed) {
      std::vector<int64_t> begins = numbers_of(piece.level(k)["pos"], piece.level(k - 1).positions, placed[k].before);
      begins.resize(size_t(positions[k - 1]), placed[k].before);
      if (last) begins.push_back(placed[k].all);
      to.add_indices(pointers_name(k), placed[k - 1].all + 1, placed[k - 1].before, begins);
    }
    to.add_indices(indices_name(k), placed[k].all, placed[k].before,
                   numbers_of(piece.level(k)["crd"], piece.level(k).positions, 0));
  }
}

runtime::Bytes bytes_of(const Scalar& value) {
  runtime::Writer out;
  std::visit([&](auto v) { out.put(v); }, static_cast<const ScalarVariant&>(value));
  return out.take();
}

void write(runtime::Transport& transport, const std::string& path, const Home& home) {
  const Format format = filled_like(binsparse_format(home.format()), home.format());
  const bool first = transport.rank() == 0, last = transport.rank() == transport.size() - 1;
  Home cut = redistribute(transport, home, format, blocked(format, home.dims(), transport.size()));
  require(home.order() == 0 || cut.colours().size() == 1, "every rank has a block");
  const Storage& piece = cut.piece(home.order() == 0 ? cut.colours().lo : transport.rank());
  // A number is on every rank, and written by the first.
  const int64_t values = home.order() == 0 ? int64_t(first) : piece.nnz();

  std::vector<PositionsPart> placed;
  int64_t largest = 0;
  auto place = [&](int64_t positions) {
    PositionsPart out{transport.exclusive_scan(positions), transport.allreduce(positions, runtime::ReduceOp::Sum)};
    largest = std::max(largest, out.all + 1);
    return out;
  };
  std::vector<int64_t> positions;
  if (home.order() > 0)
    positions = positions_of(piece.pattern(),
                             block(home.dims()[size_t(format.mode_order()[0])], transport.size(), transport.rank()));
  for (int64_t count : positions) placed.push_back(place(count));
  PositionsPart all = place(values);
  for (int64_t dim : home.dims()) largest = std::max(largest, dim);

  BinsparseDescriptor descriptor;
  descriptor.dims = home.dims(), descriptor.stored = all.all;
  descriptor.levels = binsparse_levels(format), descriptor.order = format.mode_order();
  NewArrays arrays(largest <= INT32_MAX ? ScalarType::Int32 : ScalarType::Int64);
  runtime::Bytes fill;
  runtime::together(transport, [&] {
    add_levels(arrays, piece.pattern(), positions, placed, last);
    arrays.add("values", home.type(), all.all, all.before,
               std::span(piece.value_bytes(), size_t(values) * size_of(home.type())));
    descriptor.filled = !fills_with_zero(home.format()) && !home.format().is_dense();
    if (descriptor.filled) {
      fill = bytes_of(fill_value(home.format(), home.type()));
      arrays.add("fill_value", home.type(), 1, 0,
                 first ? std::span<const std::byte>(fill) : std::span<const std::byte>());
    }
    descriptor.types = arrays.types();
  });
  write_together(
      transport, path,
      [&](NewFile& file) {
        runtime::Writer out;
        out.put_all(
            std::span<const uint64_t>(lay_out_hdf5(file.beside(), attribute, descriptor.str(), arrays.arrays())));
        return out.take();
      },
      [&](FilePart& file, runtime::Reader places) {
        arrays.write(file, places.take_all<uint64_t>(arrays.arrays().size()));
      });
}

}  // namespace

const FileFormat binsparse{.name = "binsparse", .suffix = ".h5", .read = read, .write = write};
const FileFormat binsparse_long{.name = "binsparse", .suffix = ".hdf5", .read = read, .write = write};

}  // namespace spdistal
