// How many multiplications and additions a statement takes, counted from the statement and what its tensors store.
#pragma once
#include <functional>
#include <optional>

#include "notation/index_notation.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Of a sum of products: for every product and every combination of coordinates at which all its sparse factors are
/// stored, a multiplication for each '*', and an addition where the product is added to something (it is summed over a
/// variable, another product stands before it, or the statement is +=). Nothing where that is not all the statement says,
/// or a product has more than two sparse factors. Collective: every rank counts what it owns.
std::optional<double> count_operations(runtime::Transport& transport, const notation::Assignment& assignment,
                                       const std::function<const Home&(const notation::TensorVar&)>& home_of);

}  // namespace spdistal
