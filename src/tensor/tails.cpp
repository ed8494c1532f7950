#include "tensor/tails.hpp"

#include <algorithm>

namespace spdistal {

Tails::Rows& Tails::Rows::operator=(Rows&& other) noexcept {
  give_back();
  of_ = std::move(other.of_);
  colour_ = other.colour_;
  range_ = other.range_;
  return *this;
}

void Tails::Rows::give_back() {
  if (of_) std::erase(of_->taken_[colour_], range_);
}

Range Tails::find(int64_t colour, int64_t count) const {
  int64_t first = 0;
  if (auto taken = taken_.find(colour); taken != taken_.end())
    for (const Range& other : taken->second) {
      if (other.lo - first >= count) break;
      first = std::max(first, other.hi);
    }
  return {first, first + count};
}

std::optional<Tails::Rows> Tails::take(int64_t colour, Range rows) {
  std::vector<Range>& taken = taken_[colour];
  auto behind = std::find_if(taken.begin(), taken.end(), [&](const Range& other) { return other.hi > rows.lo; });
  if (behind != taken.end() && behind->lo < rows.hi) return std::nullopt;
  taken.insert(behind, rows);
  return Rows(shared_from_this(), colour, rows);
}

}  // namespace spdistal
