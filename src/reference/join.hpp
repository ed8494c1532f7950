// Statements over large sparse tensors, independently of the compiler: the right side is multiplied out into a sum of
// products, and each product is a join of its factors' entries. Slow against a kernel, but it scales with what is stored.
#pragma once
#include <complex>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "notation/index_notation.hpp"

namespace spdistal::reference {

using Key = std::vector<int64_t>;
struct KeyHash {
  size_t operator()(const Key& key) const;
};

/// A tensor as its entries: coordinates and values. What is not listed is zero.
struct Entries {
  std::vector<int64_t> dims;
  std::vector<std::pair<Key, std::complex<double>>> list;
};
using EntryTable = std::map<notation::TensorVar, Entries>;

/// An element of the result: its value, and the sum of the sizes of all terms, against which an error is measured.
struct Judged {
  std::complex<double> value = 0;
  double magnitude = 0;
};
using JudgedElements = std::unordered_map<Key, Judged, KeyHash>;

/// Every element of the result that may be other than zero. Empty where the statement is no sum of products (it has
/// functions, or divides by a tensor): those are for `evaluate`.
std::optional<JudgedElements> evaluate_by_joins(const notation::Assignment& assignment, const EntryTable& tensors);

}  // namespace spdistal::reference
