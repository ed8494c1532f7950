// Tensors in C++: what they hold, and what is computed into them.
#pragma once
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spdistal/expression.hpp"
#include "spdistal/extent.hpp"
#include "spdistal/format.hpp"
#include "spdistal/schedule.hpp"

namespace spdistal {

/// What tensors of all element types share. Copies are the same tensor.
class TensorBase : public TensorRef {
 public:
  const std::vector<Extent>& extents() const;
  const Format& format() const;
  ScalarType type() const;
  size_t order() const { return extents().size(); }

  // ---- data; a tensor whose statement was never computed is computed when it is asked for any ----

  /// Makes the entries that were inserted the contents; entries at the same place add.
  void pack();
  /// Writes a file; its suffix tells the format: .mtx, .tns (either also .gz), .spd.
  void write(const std::string& path) const;
  /// Stored elements: those of sparse levels, all of dense ones.
  int64_t nnz() const;
  /// The sizes as numbers. Throws UserError where one is not known yet.
  std::vector<int64_t> dims() const;

  // ---- running ----

  /// The schedule of the current statement. Throws UserError where there is none.
  Schedule schedule() const;
  /// Prepares the kernel of the current statement.
  void compile();
  /// Computes the current statement from its operands as they are now, every time it is called.
  void compute();
  /// The same, compiled first where needed.
  void evaluate() { compute(); }

  // ---- looking ----

  /// The current statement, its loops, and its loops after the schedule, as text.
  std::string statement() const;
  /// The text of the kernel that computes the current statement.
  std::string kernel() const;
  /// How the current statement is distributed: partitions, what moves, what is launched.
  std::string plan() const;
  /// Collective. What the last run did, piece by piece: non-zeros, bytes moved, times.
  std::string report() const;

 protected:
  TensorBase(std::string name, std::vector<Extent> extents, Format format, ScalarType type);
  Access access(std::vector<IndexVar> indices) const;

  void insert_scalar(std::span<const int64_t> at, const Scalar& value);
  void insert_many(std::span<const std::vector<int64_t>> columns, const void* values, size_t count);
  void read_file(const std::string& path);
  void fill_with(const std::function<Scalar(std::span<const int64_t> at)>& value);
  Scalar element(std::span<const int64_t> at) const;
  void each_local(const std::function<void(std::span<const int64_t> at, const void* value)>& f) const;
  void each_element(const std::function<void(std::span<const int64_t> at, const void* value)>& f) const;

  std::shared_ptr<TensorState> state_;

 private:
  explicit TensorBase(std::shared_ptr<TensorState> state);
};

/// A stored element: `for (auto [at, value] : B.local())`.
template <class T>
struct Element {
  std::vector<int64_t> at;
  T value;
};

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

  /// A tensor with the contents of a file: .mtx, .tns (either also .gz), .spd.
  static Tensor read(const std::string& path, Format format) {
    std::vector<Extent> extents(format.order(), Extent(0));
    for (Extent& extent : extents) extent = Param();
    Tensor out(std::move(extents), std::move(format));
    out.read_file(path);
    return out;
  }
  /// From coordinates, one column for each dimension, and values. Entries at the same place add.
  static Tensor from_coo(std::vector<int64_t> dims, const std::vector<std::vector<int64_t>>& columns,
                         const std::vector<T>& values, Format format) {
    Tensor out(std::vector<Extent>(dims.begin(), dims.end()), std::move(format));
    out.insert_many(columns, values.data(), values.size());
    out.pack();
    return out;
  }

  template <std::same_as<IndexVar>... I>
  Access operator()(const I&... indices) const {
    return access({indices...});
  }

  /// Adds an entry; `pack()` makes all that were added the contents.
  template <std::integral I = int64_t>
  void insert(std::initializer_list<I> at, T value) {
    std::vector<int64_t> coordinates(at.begin(), at.end());
    insert_scalar(coordinates, Scalar(value));
  }
  void insert(std::span<const int64_t> at, T value) { insert_scalar(at, Scalar(value)); }

  /// Every element of a dense tensor, by one value or by its coordinates.
  void fill(T value) {
    fill_with([&](std::span<const int64_t>) { return Scalar(value); });
  }
  template <std::invocable<std::span<const int64_t>> F>
  void fill(F&& value) {
    fill_with([&](std::span<const int64_t> at) { return Scalar(T(value(at))); });
  }

  /// The element at these coordinates, zero where none is stored.
  T at(std::initializer_list<int64_t> coordinates) const {
    return std::get<T>(static_cast<const ScalarVariant&>(element({coordinates.begin(), coordinates.size()})));
  }
  /// The value of a scalar.
  explicit operator T() const requires(!std::same_as<T, bool>) { return at({}); }

  /// The stored elements that this rank owns, piece by piece in storage order: on all ranks together, each once. Local,
  /// except that a tensor that was never computed is computed.
  std::vector<Element<T>> local() const {
    std::vector<Element<T>> out;
    each_local(collector(out));
    return out;
  }
  /// Collective. All stored elements on every rank, in storage order.
  std::vector<Element<T>> gather() const {
    std::vector<Element<T>> out;
    each_element(collector(out));
    return out;
  }

 private:
  static auto collector(std::vector<Element<T>>& out) {
    return [&out](std::span<const int64_t> at, const void* value) {
      out.push_back({{at.begin(), at.end()}, *static_cast<const T*>(value)});
    };
  }
};

}  // namespace spdistal
