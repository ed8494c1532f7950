#include "execute/result/bound_result.hpp"

#include "execute/result/dense_result.hpp"
#include "execute/result/sparse_result.hpp"

namespace spdistal {

std::unique_ptr<BoundResult> bound_result(Binding& binding) {
  if (binding.result().format().is_dense()) return std::make_unique<DenseResult>(binding);
  return std::make_unique<SparseResult>(binding);
}

}  // namespace spdistal
