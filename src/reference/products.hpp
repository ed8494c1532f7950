// The right side of a statement, multiplied out into a sum of products.
#pragma once
#include <complex>
#include <functional>
#include <optional>
#include <vector>

#include "notation/index_notation.hpp"

namespace spdistal::reference {

using Complex = std::complex<double>;

/// A number times accesses. Each sum has a variable of its own; what the left side lacks is summed.
struct Product {
  Complex coefficient = 1;
  std::vector<notation::Access> factors;
};

/// Empty where the statement is no sum of products (it has functions, divides by a tensor, or rounds to whole numbers on
/// the way), or has numbers that are not finite, or divides by zero: what swallows what is decided element by element. `size` tells how many values a variable has.
std::optional<std::vector<Product>> multiply_out(const notation::Assignment& assignment,
                                                 const std::function<int64_t(const IndexVar&)>& size);

}  // namespace spdistal::reference
