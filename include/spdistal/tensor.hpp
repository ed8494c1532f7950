// Tensors in C++: what they hold, and what is computed into them.
//
// Under a launcher such as mpirun every rank runs the program. Calls are *collective* (every rank makes them, in the same
// order and with the same arguments, unless the arguments are said to be this rank's own) or *local* (any rank may make
// them at any time). What a collective call refuses, it refuses on every rank.
//
// A program has the result it would have if each statement were computed when it is said. Statements wait, and are computed
// by collective calls that need them: looks at their results, and changes of what they read (docs/languages.md).
#pragma once
#include <algorithm>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spdistal/elements.hpp"
#include "spdistal/expression.hpp"
#include "spdistal/extent.hpp"
#include "spdistal/format.hpp"
#include "spdistal/report.hpp"
#include "spdistal/schedule.hpp"
#include "spdistal/tune.hpp"

namespace spdistal {

/// What tensors of all element types share. Copies are the same tensor.
class TensorBase : public TensorRef {
 public:
  // ---- what it is; local, all of it ----

  const std::vector<Extent>& extents() const;
  const Format& format() const;
  ScalarType type() const;
  size_t order() const { return extents().size(); }

  /// The sizes as numbers. Throws UserError where one is not known yet.
  std::vector<int64_t> dims() const;

  // ---- data; what waits to be computed is when it is asked for ----

  /// Collective. Makes the entries that were inserted the contents; entries at the same place add. Throws UserError where
  /// ranks inserted different entries by `insert`, which names one of them, or `insert` and `insert_local` were mixed.
  void pack();
  /// Collective. Writes a file; its suffix tells the format: .mtx, .tns (either also .gz), .npz, .h5, .petsc, .spd. No rank holds more than
  /// its share and bounded portions, unless the first stored dimension is too short to be cut among the ranks.
  void write(const std::string& path) const;
  /// Collective. Stored elements, those of sparse levels and all of dense ones; each is counted once, whoever has copies.
  int64_t nnz() const;

  // ---- arrays of this rank's piece, in place, until the tensor has other contents. They throw UserError where not every rank
  // has one piece ----

  /// Collective. How many pieces it lives in, on all ranks together.
  int64_t pieces() const;
  /// Collective. Of a compressed level: where the children of each position of the level above begin and end, and their
  /// coordinates. Empty where a level has no such array.
  IndexSpan pos(size_t level) const;
  IndexSpan crd(size_t level) const;
  /// Collective. An array of a level by the name that the level has for it, "mask" or "lo". Throws UserError where it has none.
  IndexSpan array(std::string_view name, size_t level) const;
  /// Collective. Says that whoever owns a borrowed array has changed its values. Index arrays stay as they are.
  void changed();

  // ---- running ----

  /// Local. The schedule of the current statement. Throws UserError where there is none.
  Schedule schedule() const;
  /// Collective. Prepares the kernel of the current statement.
  void compile();
  /// Collective. Computes the current statement: for the first time where it waits, in its place among those that were said;
  /// else again, from its operands as they are now.
  void compute();
  /// Collective. The same, compiled first where needed.
  void evaluate() { compute(); }

  // ---- looking ----

  /// Local. The current statement, its loops, and its loops after the schedule, as text.
  std::string statement() const;
  /// Collective. The text of the kernel that computes the current statement.
  std::string kernel() const;
  /// Collective. How the current statement is distributed: partitions, what moves, what is launched.
  std::string plan() const;
  /// Collective. What the last run did, piece by piece: non-zeros, bytes moved, times.
  Report report() const;
  /// Collective. Tries schedules for the current statement on its data as it is, and gives it the fastest: the next process that
  /// asks for such a statement on such data finds it. Throws UserError where the statement reads its own result, or runs on GPUs.
  Tuned tune(const TuneOptions& options = {});

 protected:
  TensorBase(std::string name, std::vector<Extent> extents, Format format, ScalarType type);
  Access access(std::vector<IndexVar> indices) const;
  void check_type(ScalarType wanted) const;

  /// Whether every rank gives all the entries, or each its part.
  enum class Entered : uint8_t { Alike, Parts };
  /// A number as an element. Throws UserError where the type cannot hold it: 1.5 or 2^40 as int32_t.
  Scalar as_element(const Scalar& value) const;
  void insert_scalar(std::span<const int64_t> at, const Scalar& value, Entered entered);
  void pack_columns(std::span<const std::vector<int64_t>> columns, const void* values, size_t count, Entered entered);
  /// Index arrays of the caller: elements of 4 or 8 bytes.
  struct Indices {
    const void* data;
    size_t count, bytes;
  };
  void pack_rows(int64_t first_row, const Indices& pos, const Indices& crd, const void* values, size_t count,
                 Entered entered);
  void borrow_dense(const void* values, size_t count, std::shared_ptr<const void> owner);
  void borrow_compressed(const Indices& pos, const Indices& crd, const void* values, size_t count,
                         std::shared_ptr<const void> owner);
  void borrow_own_rows(int64_t first_row, const Indices& pos, const Indices& crd, const void* values, size_t count,
                       std::shared_ptr<const void> owner);
  void copy_dense(const void* values, size_t count, ArrayOrder order);
  void write_dense(void* values, size_t count, ArrayOrder order) const;
  static Format dense_format(size_t order, ArrayOrder array);
  /// An array that lives as long as somebody has its owner, whatever becomes of the tensor.
  struct SharedArray {
    const void* data;
    size_t count, bytes;  // of an element
    std::shared_ptr<const void> owner;
  };
  /// Collective, all three. Of a level that has no array of the name nothing is found, and the last throws UserError.
  SharedArray values_array() const;
  std::optional<SharedArray> find_array(std::string_view name, size_t level) const;
  SharedArray level_array(std::string_view name, size_t level) const;
  void replace_values(const void* values, size_t count);
  void read_file(const std::string& path);
  void fill_with(const Scalar& value);
  void fill_with(const std::function<Scalar(std::span<const int64_t> at)>& value);
  Scalar element(std::span<const int64_t> at) const;
  using Visit = std::function<void(std::span<const int64_t> at, const void* value)>;
  /// What a cursor over the elements of this rank starts from. Throws as `local` does.
  std::shared_ptr<const void> begin_local() const;
  static std::shared_ptr<ElementCursor> cursor(const std::shared_ptr<const void>& tensor);
  void each_element(const Visit& f) const;

  std::shared_ptr<TensorState> state_;

 private:
  friend TensorState& state_of(const TensorBase& tensor);
  friend TensorBase make_tensor(std::string name, std::vector<Extent> extents, Format format, ScalarType type);
  explicit TensorBase(std::shared_ptr<TensorState> state);
  void fill_elements(const std::function<Scalar(std::span<const int64_t> at)>& value);
};

/// Index arrays that are used as they are.
template <class R>
concept IndexRange = std::ranges::contiguous_range<R> &&
    (std::same_as<std::ranges::range_value_t<R>, int32_t> || std::same_as<std::ranges::range_value_t<R>, int64_t>);

/// A number of the language that is not one of the element type, and may not fit it.
template <class V, class T>
concept OtherNumber = std::is_arithmetic_v<V> && !std::same_as<V, T>;

/// What indexes a dimension: a variable, a window of one, or a coordinate.
template <class I>
concept AccessIndex = std::same_as<I, IndexVar> ||(std::integral<I> && !std::same_as<I, bool>);

/// A tensor with elements of type T: bool, int32_t, int64_t, float, double or std::complex.
///
///   Tensor<double> a({n}, Format({Dense})), B("B", {n, m}, CSR);
///   a(i) = B(i, j) * c(j);
///   Tensor<double> s;   s() = b(i) * c(i);   double(s)
template <Number T>
class Tensor : public TensorBase {
 public:
  /// A scalar.
  Tensor() : Tensor(std::string(), {}, Format()) {}
  explicit Tensor(std::string name) : Tensor(std::move(name), {}, Format()) {}
  Tensor(std::vector<Extent> extents, Format format) : Tensor(std::string(), std::move(extents), std::move(format)) {}
  Tensor(std::string name, std::vector<Extent> extents, Format format)
      : TensorBase(std::move(name), std::move(extents), std::move(format), scalar_type_of<T>()) {}

  /// A tensor that was made elsewhere, such as a result of `evaluate`. Throws UserError where its elements have another type.
  explicit Tensor(const TensorBase& tensor) : TensorBase(tensor) { check_type(scalar_type_of<T>()); }

  // ---- data in ----

  /// Collective. A tensor with the contents of a file: .mtx, .tns (either also .gz), .npz, .h5, .petsc, .spd. Every rank reads a part.
  static Tensor read(const std::string& path, Format format) {
    std::vector<Extent> extents(format.order(), Extent(0));
    for (Extent& extent : extents) extent = Param();
    Tensor out(std::move(extents), std::move(format));
    out.read_file(path);
    return out;
  }

  /// Collective. From coordinates, one column for each dimension, and values: the same on every rank. Entries at the same
  /// place add.
  template <std::integral I = int64_t>
  static Tensor from_coo(std::vector<int64_t> dims, const std::vector<std::vector<I>>& columns,
                         const std::vector<T>& values, Format format) {
    return from_columns(std::move(dims), columns, values, std::move(format), Entered::Alike);
  }
  /// Collective. The same from all that the ranks bring, each its own entries.
  template <std::integral I = int64_t>
  static Tensor from_coo_local(std::vector<int64_t> dims, const std::vector<std::vector<I>>& columns,
                               const std::vector<T>& values, Format format) {
    return from_columns(std::move(dims), columns, values, std::move(format), Entered::Parts);
  }
  /// Collective. A matrix from rows, the same on every rank: crd[pos[r]] up to crd[pos[r + 1]] are the columns of row r,
  /// with the values beside them, in any order. Any format of order two.
  template <std::integral P = int64_t, std::integral I = int64_t>
  static Tensor from_csr(std::vector<int64_t> dims, const std::vector<P>& pos, const std::vector<I>& crd,
                         const std::vector<T>& values, Format format) {
    return from_rows(std::move(dims), 0, std::span(pos), std::span(crd), values, std::move(format), Entered::Alike);
  }
  template <class P, class I>
  static Tensor from_csr(std::vector<int64_t> dims, std::span<P> pos, std::span<I> crd, std::span<const T> values,
                         Format format) {
    return from_rows(std::move(dims), 0, pos, crd, values, std::move(format), Entered::Alike);
  }
  /// Collective. The same from rows first_row, first_row + 1, … of each rank; pos counts from 0 on every rank. Rows that
  /// several ranks bring add; rows that none brings are empty.
  template <std::integral P = int64_t, std::integral I = int64_t>
  static Tensor from_csr_local(std::vector<int64_t> dims, int64_t first_row, const std::vector<P>& pos,
                               const std::vector<I>& crd, const std::vector<T>& values, Format format) {
    return from_rows(std::move(dims), first_row, std::span(pos), std::span(crd), values, std::move(format),
                     Entered::Parts);
  }
  template <class P, class I>
  static Tensor from_csr_local(std::vector<int64_t> dims, int64_t first_row, std::span<P> pos, std::span<I> crd,
                               std::span<const T> values, Format format) {
    return from_rows(std::move(dims), first_row, pos, crd, values, std::move(format), Entered::Parts);
  }

  // ---- arrays of the caller. Bytes that each way copies: docs/languages.md ----

  /// Collective. A matrix over arrays of the caller, the same on every rank: the columns of row r are crd[pos[r]] up to
  /// crd[pos[r + 1]], which rise, with the values beside them. Where the matrix is in one piece the arrays are used in place, read and never
  /// written, and `owner` is kept alive as long; without an owner, the caller keeps the arrays. Who changes values says so (`changed`).
  /// Pieces of it are copies. A tensor that is assigned to, or gets other values, has memory of its own from then on. The format is CSR,
  /// living anywhere. Throws UserError for arrays that are not such a matrix.
  template <IndexRange P, IndexRange I>
  static Tensor view_csr(std::vector<int64_t> dims, const P& pos, const I& crd, std::span<const T> values,
                         std::shared_ptr<const void> owner = nullptr, Format format = CSR) {
    Tensor out(extents_of(dims), std::move(format));
    out.borrow_compressed(indices_of(pos), indices_of(crd), values.data(), values.size(), std::move(owner));
    return out;
  }
  /// Collective. The same by columns: pos tells where each begins, crd has the rows.
  template <IndexRange P, IndexRange I>
  static Tensor view_csc(std::vector<int64_t> dims, const P& pos, const I& crd, std::span<const T> values,
                         std::shared_ptr<const void> owner = nullptr) {
    return view_csr(std::move(dims), pos, crd, values, std::move(owner), CSC);
  }
  /// Collective. Likewise of rows first_row, first_row + 1, … of each rank: pos counts from 0 on every rank, no row comes from two ranks.
  /// A rank's rows are used in place where they are just its piece, as blocks of ceil(rows / ranks) rows are unless a
  /// distribution says otherwise; other rows are copied, and travel to where they belong.
  template <IndexRange P, IndexRange I>
  static Tensor view_csr_local(std::vector<int64_t> dims, int64_t first_row, const P& pos, const I& crd,
                               std::span<const T> values, std::shared_ptr<const void> owner = nullptr,
                               Format format = CSR) {
    Tensor out(extents_of(dims), std::move(format));
    out.borrow_own_rows(first_row, indices_of(pos), indices_of(crd), values.data(), values.size(), std::move(owner));
    return out;
  }
  /// Collective. Likewise a dense tensor over an array, the same on every rank.
  static Tensor view_dense(std::vector<int64_t> dims, std::span<const T> values,
                           ArrayOrder order = ArrayOrder::RowMajor, std::shared_ptr<const void> owner = nullptr) {
    Format format = dense_format(dims.size(), order);
    return view_dense(std::move(dims), values, std::move(format), std::move(owner));
  }
  /// Collective. The same, with its elements as a dense format lays them out, living anywhere.
  static Tensor view_dense(std::vector<int64_t> dims, std::span<const T> values, Format format,
                           std::shared_ptr<const void> owner = nullptr) {
    Tensor out(extents_of(dims), std::move(format));
    out.borrow_dense(values.data(), values.size(), std::move(owner));
    return out;
  }

  /// Collective. As view_csr, over vectors that the tensor takes over: nothing is copied, and nobody has to keep them.
  template <class P, class I>
    requires IndexRange<std::vector<P>> && IndexRange<std::vector<I>>
  static Tensor adopt_csr(std::vector<int64_t> dims, std::vector<P> pos, std::vector<I> crd, std::vector<T> values,
                          Format format = CSR) {
    struct Adopted {
      std::vector<P> pos;
      std::vector<I> crd;
      std::vector<T> values;
    };
    auto kept = std::make_shared<Adopted>(Adopted{std::move(pos), std::move(crd), std::move(values)});
    return view_csr(std::move(dims), kept->pos, kept->crd, kept->values, kept, std::move(format));
  }
  template <class P, class I>
    requires IndexRange<std::vector<P>> && IndexRange<std::vector<I>>
  static Tensor adopt_csc(std::vector<int64_t> dims, std::vector<P> pos, std::vector<I> crd, std::vector<T> values) {
    return adopt_csr(std::move(dims), std::move(pos), std::move(crd), std::move(values), CSC);
  }
  /// Collective. As view_dense, likewise.
  static Tensor adopt_dense(std::vector<int64_t> dims, std::vector<T> values, ArrayOrder order = ArrayOrder::RowMajor) {
    auto kept = std::make_shared<std::vector<T>>(std::move(values));
    return view_dense(std::move(dims), *kept, order, kept);
  }

  /// Collective. A dense tensor with the elements of an array, copied: the same array on every rank, of which each copies
  /// what it holds.
  static Tensor from_dense(std::vector<int64_t> dims, std::span<const T> values, ArrayOrder order, Format format) {
    Tensor out(extents_of(dims), std::move(format));
    out.copy_dense(values.data(), values.size(), order);
    return out;
  }
  static Tensor from_dense(std::vector<int64_t> dims, std::span<const T> values,
                           ArrayOrder order = ArrayOrder::RowMajor) {
    Format format = dense_format(dims.size(), order);
    return from_dense(std::move(dims), values, order, std::move(format));
  }
  /// Collective. All elements, the fill value where none is stored, into an array of the caller on every rank. Throws
  /// UserError where the array has another size.
  void to_dense(std::span<T> values, ArrayOrder order = ArrayOrder::RowMajor) const {
    write_dense(values.data(), values.size(), order);
  }

  /// Local. Adds an entry; `pack()` makes all that were added the contents. The same entries on every rank, in the same
  /// order: a program means the same on any number of them.
  template <std::integral I = int64_t>
  void insert(std::initializer_list<I> at, T value) {
    insert_scalar(std::vector<int64_t>(at.begin(), at.end()), Scalar(value), Entered::Alike);
  }
  void insert(std::span<const int64_t> at, T value) { insert_scalar(at, Scalar(value), Entered::Alike); }
  /// The same of a number of another type. Throws UserError where an element cannot hold it.
  template <std::integral I = int64_t, OtherNumber<T> V>
  void insert(std::initializer_list<I> at, V value) {
    insert_scalar(std::vector<int64_t>(at.begin(), at.end()), given(value), Entered::Alike);
  }
  template <OtherNumber<T> V>
  void insert(std::span<const int64_t> at, V value) {
    insert_scalar(at, given(value), Entered::Alike);
  }
  /// Local. The same of an entry that this rank alone brings. Not to be mixed with `insert` before one `pack()`.
  template <std::integral I = int64_t>
  void insert_local(std::initializer_list<I> at, T value) {
    insert_scalar(std::vector<int64_t>(at.begin(), at.end()), Scalar(value), Entered::Parts);
  }
  void insert_local(std::span<const int64_t> at, T value) { insert_scalar(at, Scalar(value), Entered::Parts); }
  template <std::integral I = int64_t, OtherNumber<T> V>
  void insert_local(std::initializer_list<I> at, V value) {
    insert_scalar(std::vector<int64_t>(at.begin(), at.end()), given(value), Entered::Parts);
  }
  template <OtherNumber<T> V>
  void insert_local(std::span<const int64_t> at, V value) {
    insert_scalar(at, given(value), Entered::Parts);
  }

  /// Collective. Every element of a dense tensor, by one value or by its coordinates. A rank asks for those that it holds;
  /// of elements with several copies every holder asks, and the answers must agree. Where one throws, the tensor is left
  /// without data. What waits for the tensor is computed before a function is asked.
  void fill(T value) { fill_with(Scalar(value)); }
  template <OtherNumber<T> V>
  void fill(V value) {
    fill_with(as_element(given(value)));
  }
  template <std::invocable<std::span<const int64_t>> F>
  void fill(F&& value) {
    fill_with([&](std::span<const int64_t> at) { return Scalar(T(value(at))); });
  }

  // ---- statements ----

  /// An element: `B(i, j)`; with windows in the place of variables, `b(i + 1)`, `B(i(2, 10), j)`, `B(i, 0)`.
  template <AccessIndex... I>
  Access operator()(const I&... indices) const {
    return access({index_of(indices)...});
  }

  /// Collective. Other values for what this rank's piece stores, in storage order; the pattern stays.
  void set_values(std::span<const T> values) { replace_values(values.data(), values.size()); }

  // ---- data out ----

  /// Collective. The values of this rank's piece in storage order, in place; see `pos`.
  std::span<const T> values() const {
    SharedArray all = values_array();
    return {static_cast<const T*>(all.data), all.count};
  }
  /// Collective. The element at these coordinates, the fill value where none is stored.
  T at(std::initializer_list<int64_t> coordinates) const {
    return std::get<T>(static_cast<const ScalarVariant&>(element({coordinates.begin(), coordinates.size()})));
  }
  /// Collective. The value of a scalar.
  explicit operator T() const requires(!std::same_as<T, bool>) { return at({}); }

  /// Local. Stored elements that belong to this rank, piece by piece in storage order: every element is listed by one
  /// rank, found as the loop asks for it. Throws UserError where a statement waits to be computed, which takes all ranks.
  LocalElements<T> local() const { return {begin_local(), &TensorBase::cursor}; }
  /// Collective. All stored elements on every rank, in storage order.
  std::vector<Element<T>> gather() const {
    std::vector<Element<T>> out;
    each_element(list_in(out));
    return out;
  }

 private:
  static IndexVar index_of(const IndexVar& index) { return index; }
  static IndexVar index_of(std::integral auto coordinate) { return IndexVar::at(int64_t(coordinate)); }
  // A number of the language as one that can be looked at.
  template <class V>
  static Scalar given(V value) {
    if constexpr (std::same_as<V, bool>) return Scalar(value);
    else if constexpr (std::floating_point<V>) return Scalar(double(value));
    else if (std::unsigned_integral<V> && uint64_t(value) > uint64_t(INT64_MAX)) return Scalar(double(value));
    else return Scalar(int64_t(value));
  }
  static std::vector<Extent> extents_of(const std::vector<int64_t>& dims) { return {dims.begin(), dims.end()}; }
  static Visit list_in(std::vector<Element<T>>& out) {
    return [&out](std::span<const int64_t> at, const void* value) {
      out.push_back({{at.begin(), at.end()}, *static_cast<const T*>(value)});
    };
  }
  template <IndexRange R>
  static Indices indices_of(const R& numbers) {
    return {std::ranges::data(numbers), std::ranges::size(numbers), sizeof(std::ranges::range_value_t<R>)};
  }
  template <class I>
  static std::vector<int64_t> wide(const std::vector<I>& numbers) {
    return {numbers.begin(), numbers.end()};
  }
  // f(first value); those of std::vector<bool> are bits.
  template <class Values, class F>
  static void with_values(const Values& values, F&& f) {
    if constexpr (std::same_as<Values, std::vector<bool>>) {
      auto bytes = std::make_unique<bool[]>(values.size());
      std::copy(values.begin(), values.end(), bytes.get());
      f(bytes.get());
    } else {
      f(values.data());
    }
  }
  template <class I>
  static Tensor from_columns(std::vector<int64_t> dims, const std::vector<std::vector<I>>& columns,
                             const std::vector<T>& values, Format format, Entered entered) {
    Tensor out(std::vector<Extent>(dims.begin(), dims.end()), std::move(format));
    with_values(values, [&](const T* first) {
      if constexpr (std::same_as<I, int64_t>) {
        out.pack_columns(columns, first, values.size(), entered);
      } else {
        std::vector<std::vector<int64_t>> wider;
        for (const std::vector<I>& column : columns) wider.push_back(wide(column));
        out.pack_columns(wider, first, values.size(), entered);
      }
    });
    return out;
  }
  // f(index arrays of 4 or 8 bytes): those of the caller where they are such, else a copy.
  template <class I, class F>
  static void with_indices(std::span<I> numbers, F&& f) {
    if constexpr (std::signed_integral<I> && (sizeof(I) == 4 || sizeof(I) == 8)) {
      f(Indices{numbers.data(), numbers.size(), sizeof(I)});
    } else {
      std::vector<int64_t> wider(numbers.begin(), numbers.end());
      f(Indices{wider.data(), wider.size(), sizeof(int64_t)});
    }
  }
  template <class P, class I, class Values>
  static Tensor from_rows(std::vector<int64_t> dims, int64_t first_row, std::span<P> pos, std::span<I> crd,
                          const Values& values, Format format, Entered entered) {
    Tensor out(std::vector<Extent>(dims.begin(), dims.end()), std::move(format));
    with_indices(pos, [&](const Indices& begins) {
      with_indices(crd, [&](const Indices& columns) {
        with_values(values,
                    [&](const T* first) { out.pack_rows(first_row, begins, columns, first, values.size(), entered); });
      });
    });
    return out;
  }
};

}  // namespace spdistal
