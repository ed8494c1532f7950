#include "spdistal/tensor.hpp"

#include <fmt/format.h>

#include "driver/state.hpp"

namespace spdistal {

using notation::TensorVar;

TensorBase::TensorBase(std::string name, std::vector<Extent> extents, Format format, ScalarType type)
    : TensorBase(std::make_shared<TensorState>(
          TensorState{TensorVar({Symbol(std::move(name)), type, std::move(extents), std::move(format)})})) {}

TensorBase::TensorBase(std::shared_ptr<TensorState> state)
    : TensorRef(std::shared_ptr<const TensorVar>(state, &state->var)), state_(std::move(state)) {}

const std::vector<Extent>& TensorBase::extents() const { return var().dims(); }
const Format& TensorBase::format() const { return var().format(); }
ScalarType TensorBase::type() const { return var().type(); }

Access TensorBase::access(std::vector<IndexVar> indices) const { return Access(state_, std::move(indices)); }

Schedule TensorBase::schedule() const {
  if (!state_->current)
    throw UserError(fmt::format("{} has no statement to schedule",
                                var().symbol().name().empty() ? "the tensor" : var().symbol().name()),
                    "assign to it first: a(i) = B(i, j) * c(j)");
  return Schedule(state_->current);
}

std::string TensorBase::statement() const {
  if (!state_->current) return "";
  return Statement(state_->current).str();
}

}  // namespace spdistal
