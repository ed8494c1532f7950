#include "api/tensors.hpp"

#include "api/state.hpp"

namespace spdistal {

std::shared_ptr<TensorState> Tensors::make(notation::TensorVar var) {
  auto tensor = std::make_shared<TensorState>(std::move(var), shared_from_this());
  std::lock_guard lock(mutex_);
  tensors_[tensor->var.symbol()] = tensor;
  return tensor;
}

std::shared_ptr<TensorState> Tensors::find(const notation::TensorVar& var) const {
  std::lock_guard lock(mutex_);
  auto found = tensors_.find(var.symbol());
  return found == tensors_.end() ? nullptr : found->second.lock();
}

void Tensors::forget(const notation::TensorVar& var) {
  std::lock_guard lock(mutex_);
  tensors_.erase(var.symbol());
}

size_t Tensors::size() const {
  std::lock_guard lock(mutex_);
  return tensors_.size();
}

TensorState::~TensorState() { among->forget(var); }

Tensors& all_tensors() {
  static std::shared_ptr<Tensors> all = std::make_shared<Tensors>();
  return *all;
}

}  // namespace spdistal
