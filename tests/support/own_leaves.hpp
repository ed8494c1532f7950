// Leaf routines of a test's own, written out as plainly as can be: what `substitute` calls where no library is there.
#pragma once
#include <string>

#include "notation/concrete.hpp"

namespace spdistal::test {

/// From now on there are, under the name "own": products of two dense matrices, of a matrix in CSR with a vector and with a matrix,
/// sampled products of dense matrices, copies and element-wise products of dense vectors and matrices; and under "own_gpu" products for
/// a GPU whose memory the host can look at.
void register_own_leaves();

/// A routine for the loops of a statement over dense tensors, whatever it computes: by the dense evaluator. Of others: "own".
std::string own_leaf_for(const notation::ConcreteStatement& statement);

}  // namespace spdistal::test
