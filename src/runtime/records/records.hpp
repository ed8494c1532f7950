// Coordinate records: the coordinates of a tensor's element and its value. What insertion, reading and redistribution
// deal in before there are pieces.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "memory/copy.hpp"
#include "runtime/transport/bytes.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal::runtime {

class Records {
 public:
  Records(int order, ScalarType type) : order_(order), type_(type) {}

  int order() const { return order_; }
  ScalarType type() const { return type_; }
  int64_t size() const { return int64_t(values_.size() / size_of(type_)); }
  bool empty() const { return values_.empty(); }

  std::span<const int64_t> at(int64_t record) const {
    return {coordinates_.data() + size_t(record) * size_t(order_), size_t(order_)};
  }
  std::span<int64_t> mutable_at(int64_t record) {
    return {coordinates_.data() + size_t(record) * size_t(order_), size_t(order_)};
  }
  const std::byte* value(int64_t record) const { return values_.data() + size_t(record) * size_of(type_); }
  std::byte* value(int64_t record) { return values_.data() + size_t(record) * size_of(type_); }
  template <class T>
  T value_as(int64_t record) const {
    require(scalar_type_of<T>() == type_, "a value is read as the type it has");
    T out;
    memory::copy_bytes(&out, value(record), sizeof(T));
    return out;
  }

  /// All coordinates, record by record; all values.
  std::span<const int64_t> coordinates() const { return coordinates_; }
  std::span<const std::byte> values() const { return values_; }

  void reserve(int64_t records) {
    coordinates_.reserve(size_t(records) * size_t(order_));
    values_.reserve(size_t(records) * size_of(type_));
  }
  template <class T>
  void add(std::span<const int64_t> at, T value) {
    require(scalar_type_of<T>() == type_, "a value is added as the type it has");
    add_value(at, std::as_bytes(std::span(&value, 1)));
  }
  void add_bytes(std::span<const int64_t> at, const std::byte* value) { add_value(at, {value, size_of(type_)}); }
  /// Any number of records at once: order coordinates and a value for each.
  template <class I>
  void add_all(std::span<const I> coordinates, std::span<const std::byte> values) {
    require(
        coordinates.size() * size_of(type_) == values.size() * size_t(order_) && values.size() % size_of(type_) == 0,
        "every record has all its coordinates and a value");
    coordinates_.insert(coordinates_.end(), coordinates.begin(), coordinates.end());
    values_.insert(values_.end(), values.begin(), values.end());
  }
  /// Keeps the first so many.
  void truncate(int64_t records) {
    coordinates_.resize(size_t(records) * size_t(order_));
    values_.resize(size_t(records) * size_of(type_));
  }
  /// Moves record `from` to where `to` is.
  void move(int64_t from, int64_t to) {
    if (from == to) return;
    memory::copy_bytes(coordinates_.data() + size_t(to) * size_t(order_), at(from).data(),
                       size_t(order_) * sizeof(int64_t));
    memory::copy_bytes(value(to), value(from), size_of(type_));
  }

  bool operator==(const Records&) const = default;

 private:
  void add_value(std::span<const int64_t> at, std::span<const std::byte> value) {
    require(at.size() == size_t(order_), "a record has a coordinate for each mode");
    coordinates_.insert(coordinates_.end(), at.begin(), at.end());
    values_.insert(values_.end(), value.begin(), value.end());
  }

  int order_;
  ScalarType type_;
  std::vector<int64_t> coordinates_;
  Bytes values_;
};

}  // namespace spdistal::runtime
