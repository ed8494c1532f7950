// The elements of this rank, one after the other.
#include <optional>

#include "api/state.hpp"
#include "spdistal/tensor.hpp"
#include "tensor/iterate.hpp"

namespace spdistal {
namespace {

class LocalCursor : public ElementCursor {
 public:
  explicit LocalCursor(std::shared_ptr<const TensorState> tensor)
      : tensor_(std::move(tensor)), home_(home_of(*tensor_)), colour_(home_.colours().lo) {}

  bool next() override {
    for (; colour_ < home_.colours().hi; colour_++, piece_.reset()) {
      if (home_.owns_nothing(colour_)) continue;
      if (!piece_) piece_.emplace(home_.piece(colour_).pattern());
      while (piece_->next()) {
        if (!home_.owns_all(colour_) && !home_.owns(colour_, piece_->at(), piece_->position())) continue;
        at_ = piece_->at();
        value_ = home_.piece(colour_).value_bytes() + size_t(piece_->position()) * size_of(home_.type());
        return true;
      }
    }
    return false;
  }

 private:
  std::shared_ptr<const TensorState> tensor_;
  const Home& home_;
  int64_t colour_;
  std::optional<PositionCursor> piece_;
};

}  // namespace

std::shared_ptr<const void> TensorBase::begin_local() const {
  data_here(*state_);
  return state_;
}

std::shared_ptr<ElementCursor> TensorBase::cursor(const std::shared_ptr<const void>& tensor) {
  return std::make_shared<LocalCursor>(std::static_pointer_cast<const TensorState>(tensor));
}

}  // namespace spdistal
