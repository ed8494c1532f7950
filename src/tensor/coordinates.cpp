#include "tensor/coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/threads.hpp"

namespace spdistal {
namespace {

[[noreturn]] void refuse_value(const Coordinates& entries, int64_t entry, ScalarType type) {
  std::vector<int64_t> at;
  for (size_t d = 0; d < entries.order(); d++) at.push_back(entries.column(d)[size_t(entry)]);
  std::string value = with_type(entries.type(), [&](auto zero) {
    using T = decltype(zero);
    T v = entries.values<T>()[size_t(entry)];
    if constexpr (is_complex_type<T>) return fmt::format("({}, {})", v.real(), v.imag());
    else return fmt::format("{}", v);
  });
  throw UserError(fmt::format("the value {} at ({}) does not fit {}", value,
                              join(at, ", ", [](int64_t c) { return std::to_string(c); }), name_of(type)),
                  "give the tensor a type that holds all its values");
}

}  // namespace

Coordinates::Coordinates(std::vector<int64_t> dims, ScalarType type) : type_(type), columns_(dims.size()) {
  set_dims(std::move(dims));
}

Coordinates::Coordinates(std::vector<int64_t> dims, ScalarType type, std::vector<Array<int64_t>> columns,
                         Array<std::byte> values)
    : type_(type),
      size_(values.size() / int64_t(size_of(type))),
      columns_(std::move(columns)),
      values_(std::move(values)) {
  for (const Array<int64_t>& column : columns_) require(column.size() == size_, "columns are as long as the values");
  set_dims(std::move(dims));
}

void Coordinates::set_dims(std::vector<int64_t> dims) {
  require(dims.size() == columns_.size(), "new sizes are as many as the old");
  for (size_t d = 0; d < dims.size(); d++)
    if (dims[d] < 0)
      throw UserError(fmt::format("dimension {} cannot have size {}: sizes are not negative", d, dims[d]));
  dims_ = std::move(dims);
}

void Coordinates::drop_dimension(size_t dimension) {
  dims_.erase(dims_.begin() + std::ptrdiff_t(dimension));
  columns_.erase(columns_.begin() + std::ptrdiff_t(dimension));
}

void Coordinates::reserve(int64_t entries) {
  for (Array<int64_t>& column : columns_) column.reserve(entries);
  values_.reserve(entries * int64_t(size_of(type_)));
}

void Coordinates::resize(int64_t entries) {
  for (Array<int64_t>& column : columns_) column.resize(entries);
  values_.resize(entries * int64_t(size_of(type_)));
  size_ = entries;
}

void Coordinates::push(std::span<const int64_t> at) {
  if (at.size() != order())
    throw UserError(
        fmt::format("an entry of a tensor of order {} has {} coordinates, not {}", order(), order(), at.size()));
  resize(size_ + 1);
  for (size_t d = 0; d < at.size(); d++) columns_[d][size_ - 1] = at[d];
}

void Coordinates::append(const Coordinates& other) {
  require(other.order() == order() && other.type_ == type_, "appended entries are of the same kind");
  int64_t before = size_;
  resize(size_ + other.size_);
  if (other.size_ == 0) return;
  for (size_t d = 0; d < order(); d++)
    std::copy(other.columns_[d].begin(), other.columns_[d].end(), columns_[d].begin() + before);
  std::copy(other.values_.begin(), other.values_.end(), values_.begin() + before * int64_t(size_of(type_)));
}

Coordinates Coordinates::clone() const {
  Coordinates out(dims_, type_);
  out.merging_ = merging_;
  out.append(*this);
  return out;
}

Coordinates Coordinates::converted(ScalarType type) && {
  if (type == type_) return std::move(*this);
  if (is_complex(type_) && !is_complex(type))
    throw UserError(fmt::format("complex values do not go into a tensor of {}", name_of(type)),
                    "store them as complex64 or complex128");
  Array<std::byte> values(size_ * int64_t(size_of(type)));
  with_type(type_, [&](auto from_zero) {
    using From = decltype(from_zero);
    with_type(type, [&](auto to_zero) {
      using To = decltype(to_zero);
      auto* from = reinterpret_cast<const From*>(values_.data());
      auto* to = reinterpret_cast<To*>(values.data());
      for (int64_t e = 0; e < size_; e++) {
        if (!fits<To>(from[e])) refuse_value(*this, e, type);
        to[e] = convert_value<To>(from[e]);
      }
    });
  });
  values_ = std::move(values);
  type_ = type;
  return std::move(*this);
}

Result<> Coordinates::check() const {
  int64_t bad = size_;
#pragma omp parallel for schedule(static) reduction(min : bad) num_threads(loop_threads()) if (size_ > 100000)
  for (int64_t block = 0; block < (size_ + 4095) / 4096; block++) {
    int64_t lo = block * 4096, hi = std::min(size_, lo + 4096);
    for (size_t d = 0; d < order(); d++) {
      const int64_t* at = columns_[d].data();
      uint64_t size = uint64_t(dims_[d]), outside = 0;
      for (int64_t e = lo; e < hi; e++) outside |= uint64_t(uint64_t(at[e]) >= size);
      if (!outside) continue;
      for (int64_t e = lo; e < hi; e++)
        if (uint64_t(at[e]) >= size) {
          bad = std::min(bad, e);
          break;
        }
    }
  }
  if (bad == size_) return {};
  size_t d = 0;
  while (uint64_t(columns_[d][bad]) < uint64_t(dims_[d])) d++;
  std::string all = join(columns_, ", ", [&](const auto& column) { return std::to_string(column[bad]); });
  return Diagnostic{fmt::format("entry {} at ({}): coordinate {} lies outside dimension {}, whose size is {}", bad, all,
                                columns_[d][bad], d, dims_[d]),
                    {},
                    dims_[d] == 0 ? "a dimension of size 0 has no entries"
                                  : fmt::format("coordinates of dimension {} run from 0 to {}", d, dims_[d] - 1)};
}

Buffer Coordinates::take_values() && {
  size_ = 0;
  return std::move(values_).release();
}

}  // namespace spdistal
