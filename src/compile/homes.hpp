// Where tensors live: tensor distribution notation as shares of colours, by way of the scheduled statement that it stands
// for (paper, section V.C): the loops of each colour leave intervals of the tensor's dimensions.
#pragma once
#include <map>

#include "notation/tensor_var.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Where the operands live. A tensor that is read and written stands here with what it held before.
using Homes = std::map<notation::TensorVar, const Home*>;

/// Binds machine sizes that nobody gave: the first dimension to the number of ranks, others to 1.
void bind_machine(const Machine& machine, int ranks);

/// The shares of a tensor whose sizes are known. Without a distribution it is cut in as many blocks as there are ranks
/// along the dimension of its first stored level; scalars are on every rank.
Shares homes_of(const notation::TensorVar& tensor, int ranks);

}  // namespace spdistal
