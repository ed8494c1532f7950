// The tensors that exist, by what statements call them: an expression names its tensors, and a statement finds them.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>

#include "notation/tensor_var.hpp"

namespace spdistal {

struct TensorState;

/// Called from any thread. It lives as long as one of its tensors.
class Tensors : public std::enable_shared_from_this<Tensors> {
 public:
  /// A new one, without data.
  std::shared_ptr<TensorState> make(notation::TensorVar var);
  /// Null where it is gone.
  std::shared_ptr<TensorState> find(const notation::TensorVar& var) const;
  /// Of one that goes.
  void forget(const notation::TensorVar& var);
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Symbol, std::weak_ptr<TensorState>> tensors_;
};

/// Those of this process.
Tensors& all_tensors();
inline std::shared_ptr<TensorState> find_tensor(const notation::TensorVar& var) { return all_tensors().find(var); }

}  // namespace spdistal
