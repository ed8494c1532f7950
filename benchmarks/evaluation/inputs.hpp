// Inputs of the evaluation: every element depends on its coordinates alone, so that each rank makes its own rows and all
// systems see the same tensors.
#pragma once
#include "matrices.hpp"
#include "tensors.hpp"
