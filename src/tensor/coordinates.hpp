// A tensor as a list of entries: each with all its coordinates and a value, in any order, the same coordinates as often
// as they come. What readers and generators make and `pack` takes.
//
// Stored as columns: one array of 64-bit coordinates for each dimension, one array of values.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/require.hpp"
#include "memory/array.hpp"
#include "runtime/transport/transport.hpp"
#include "spdistal/result.hpp"
#include "spdistal/scalar_type.hpp"
#include "tensor/values.hpp"

namespace spdistal {

class Coordinates {
 public:
  /// No entries yet. Throws UserError for a negative size.
  Coordinates(std::vector<int64_t> dims, ScalarType type);
  /// Entries that are there already: a column for each dimension, and the bytes of the values.
  Coordinates(std::vector<int64_t> dims, ScalarType type, std::vector<Array<int64_t>> columns, Array<std::byte> values);

  size_t order() const { return dims_.size(); }
  const std::vector<int64_t>& dims() const { return dims_; }
  ScalarType type() const { return type_; }
  int64_t size() const { return size_; }

  std::span<int64_t> column(size_t dimension) { return {columns_[dimension].data(), size_t(size_)}; }
  std::span<const int64_t> column(size_t dimension) const { return {columns_[dimension].data(), size_t(size_)}; }
  std::byte* value_bytes() { return values_.data(); }
  const std::byte* value_bytes() const { return values_.data(); }
  template <class T>
  std::span<T> values() {
    require(scalar_type_of<T>() == type_, "values are read with the type they have");
    return {reinterpret_cast<T*>(values_.data()), size_t(size_)};
  }
  template <class T>
  std::span<const T> values() const {
    require(scalar_type_of<T>() == type_, "values are read with the type they have");
    return {reinterpret_cast<const T*>(values_.data()), size_t(size_)};
  }

  void reserve(int64_t entries);
  /// Makes room at the end, or drops entries there; what is new is for the caller to fill.
  void resize(int64_t entries);
  /// Adds one entry; the value is converted as C++ would.
  template <class T>
  void add(std::span<const int64_t> at, T value) {
    push(at);
    with_type(type_, [&](auto zero) { values<decltype(zero)>().back() = convert_value<decltype(zero)>(value); });
  }
  template <class T>
  void add(std::initializer_list<int64_t> at, T value) {
    add(std::span<const int64_t>(at.begin(), at.size()), value);
  }
  /// How entries with the same coordinates are put together: they are added where nothing else is said.
  runtime::ReduceOp merging() const { return merging_; }
  void merge_by(runtime::ReduceOp op) { merging_ = op; }
  /// Adds all entries of another list of the same order and type.
  void append(const Coordinates& other);
  /// The same entries with other sizes (which `check` may then refuse).
  void set_dims(std::vector<int64_t> dims);
  /// The same entries without a dimension. Its coordinates are forgotten.
  void drop_dimension(size_t dimension);
  Coordinates clone() const;
  /// The same in another type. Throws UserError where it cannot hold a value, or is real and the values are complex.
  Coordinates converted(ScalarType type) &&;

  /// Every coordinate lies inside its dimension; the refusal names the first entry that does not.
  Result<> check() const;
  /// The values' memory, taken away for good.
  Buffer take_values() &&;

 private:
  void push(std::span<const int64_t> at);

  std::vector<int64_t> dims_;
  ScalarType type_;
  int64_t size_ = 0;
  runtime::ReduceOp merging_ = runtime::ReduceOp::Sum;
  std::vector<Array<int64_t>> columns_;
  Array<std::byte> values_;
};

}  // namespace spdistal
