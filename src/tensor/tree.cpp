#include "tensor/tree.hpp"

#include <fmt/format.h>

#include "format/questions.hpp"
#include "level/kernel.hpp"
#include "spdistal/error.hpp"

namespace spdistal {

Tree::Tree(const Format& format, const std::vector<int64_t>& dims) {
  for (size_t k = 0; k < format.order(); k++) {
    extents_.push_back(dims[size_t(format.mode_order()[k])]);
    const LevelFormat& level = format.levels()[k];
    if (continues_tuples(format, k)) counted_.back().end = k;
    else if (!has_places(level)) counted_.push_back({k, k, fills_between(level)});
    if (!stores_all(level)) tail_ = k + 1;
    above_.push_back(counted_.empty() ? std::nullopt : std::optional(counted_.size() - 1));
  }
}

int64_t Tree::per_node(size_t level) const {
  int64_t product = 1;
  for (size_t k = first_below(level); k <= level; k++)
    if (__builtin_mul_overflow(product, extents_[k], &product))
      throw UserError(fmt::format("level {} has more positions than can be counted", level + 1),
                      "a Compressed level stores only the coordinates that occur");
  return product;
}

int64_t Tree::per_tail_node(size_t level) const {
  int64_t product = 1;  // no more than per_node, which can be counted
  for (size_t k = tail_; k <= level; k++) product *= extents_[k];
  return product;
}

int64_t Tree::offset(size_t level, const int64_t* path) const {
  int64_t number = 0;
  for (size_t k = first_below(level); k <= level; k++) number = number * extents_[k] + path[k];
  return number;
}

}  // namespace spdistal
