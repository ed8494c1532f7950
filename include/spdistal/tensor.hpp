// Tensors in C++.
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
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

  /// The schedule of the current statement. Throws UserError where there is none.
  Schedule schedule() const;
  /// The current statement, its loops, and its loops after the schedule, as text.
  std::string statement() const;

 protected:
  TensorBase(std::string name, std::vector<Extent> extents, Format format, ScalarType type);
  Access access(std::vector<IndexVar> indices) const;
  std::shared_ptr<TensorState> state_;

 private:
  explicit TensorBase(std::shared_ptr<TensorState> state);
};

/// A tensor with elements of type T: bool, int32_t, int64_t, float, double or std::complex.
///
///   Tensor<double> a({n}, Format({Dense})), B("B", {n, m}, CSR);
///   a(i) = B(i, j) * c(j);
///   Tensor<double> s;   s() = b(i) * c(i);
template <Number T>
class Tensor : public TensorBase {
 public:
  /// A scalar.
  Tensor() : Tensor(std::string(), {}, Format()) {}
  explicit Tensor(std::string name) : Tensor(std::move(name), {}, Format()) {}
  Tensor(std::vector<Extent> extents, Format format) : Tensor(std::string(), std::move(extents), std::move(format)) {}
  Tensor(std::string name, std::vector<Extent> extents, Format format)
      : TensorBase(std::move(name), std::move(extents), std::move(format), scalar_type_of<T>()) {}

  template <std::same_as<IndexVar>... I>
  Access operator()(const I&... indices) const {
    return access({indices...});
  }
};

}  // namespace spdistal
