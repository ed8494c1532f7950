// Statements over large sparse tensors, independently of the compiler: the right side is multiplied out into a sum of
// products, and each product is a join of its factors' entries. Slow against a kernel, but time goes with the products
// there are, and memory with what is stored and one slice of the result.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "notation/index_notation.hpp"
#include "reference/coordinate_map.hpp"
#include "reference/products.hpp"

namespace spdistal::reference {

/// A tensor as its entries: for each value as many coordinates as there are dimensions. What is not listed is zero.
struct EntryList {
  std::vector<int64_t> dims;
  std::vector<int64_t> coordinates = {};
  std::vector<Complex> values = {};

  size_t size() const { return values.size(); }
  std::span<const int64_t> at(size_t n) const { return {coordinates.data() + n * dims.size(), dims.size()}; }
};
using EntryTable = std::map<notation::TensorVar, EntryList>;

/// An element of the result: its value, and the sum of the sizes of all terms, against which an error is measured.
struct Judged {
  Complex value = 0;
  double magnitude = 0;
};
using JudgedElements = CoordinateMap<Judged>;

/// Evaluates an assignment with `=`, slice by slice: hands over the elements that may be other than zero, all with one
/// first coordinate (those of a scalar: 0), slices in ascending order, those that are zero left out. False, and nothing
/// handed over, where the statement is no sum of products (see `multiply_out`): those are for `evaluate`. Whole numbers
/// are those of mathematics: they do not wrap around.
bool evaluate_by_joins(const notation::Assignment& assignment, const EntryTable& tensors,
                       const std::function<void(int64_t first, JudgedElements& elements)>& judge);

}  // namespace spdistal::reference
