// Whole numbers and others that the host computes between grids. Arrays are not the host's: elements are asked for.
#pragma once
#include <functional>
#include <unordered_map>

#include "ir/nodes.hpp"

namespace spdistal::codegen {

class Numbers {
 public:
  /// An element of an array, wherever that is.
  using Element = std::function<ir::Scalar(const ir::Var& array, int64_t index)>;

  explicit Numbers(Element element) : element_(std::move(element)) {}

  void set(const ir::Var& number, ir::Scalar value) { values_.insert_or_assign(number.symbol, value); }
  const ir::Scalar& at(const ir::Var& number) const;

  ir::Scalar operator()(const ir::Expr& e) const;
  /// Of an expression that is a whole number.
  int64_t integer(const ir::Expr& e) const { return (*this)(e).integer(); }

 private:
  ir::Scalar search(const ir::Search& n) const;

  Element element_;
  std::unordered_map<Symbol, ir::Scalar> values_;
};

}  // namespace spdistal::codegen
