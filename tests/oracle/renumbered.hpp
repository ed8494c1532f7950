// Pieces of a call with other numbers in the place of coordinates, wherever the kernel uses these only to find places: any numbers
// will do.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "execute/call.hpp"
#include "lower/numbered.hpp"
#include "tensor/iterate.hpp"

namespace spdistal::test {

class Renumbered {
 public:
  Renumbered(const lower::Lowered& kernel, const std::vector<Storage>& pieces, std::mt19937_64& random)
      : numbers_(pieces.size()), random_(random) {
    for (const Storage& piece : pieces) seen_.push_back({&piece});
    for (const lower::NumberedLevels& group : lower::numbered_levels(kernel)) {
      auto is_dense = [&](const lower::LevelOfTensor& at) { return pieces[size_t(at.tensor) - 1].format().is_dense(); };
      if (std::all_of(group.located.begin(), group.located.end(), is_dense)) number(group, pieces);
    }
    for (size_t k = 0; k < pieces.size(); k++)
      if (!numbers_[k].empty() && pieces[k].format().is_dense())
        seen_[k].storage = &own_.emplace_back(moved(pieces[k], k));
      else if (!numbers_[k].empty()) seen_[k].seen = with_numbers(pieces[k].pattern(), k);
  }

  const std::vector<SeenPiece>& pieces() const { return seen_; }
  bool any() const {
    return std::any_of(numbers_.begin(), numbers_.end(), [](const auto& levels) { return !levels.empty(); });
  }

 private:
  using Numbers = std::map<int64_t, int64_t>;

  // Some injection of the coordinates that are stored.
  void number(const lower::NumberedLevels& group, const std::vector<Storage>& pieces) {
    std::vector<int64_t> stored;
    for (const lower::LevelOfTensor& at : group.stored) {
      const LevelArrays& level = pieces[size_t(at.tensor) - 1].pattern().level(at.level);
      for (int64_t p = 0; p < level["crd"].size(); p++) stored.push_back(level["crd"][p]);
    }
    std::sort(stored.begin(), stored.end());
    stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
    std::vector<int64_t> some(stored.size() + 2);
    for (size_t n = 0; n < some.size(); n++) some[n] = int64_t(n);
    std::shuffle(some.begin(), some.end(), random_);
    Numbers numbers;
    for (size_t n = 0; n < stored.size(); n++) numbers[stored[n]] = some[n];
    for (const auto* levels : {&group.stored, &group.located})
      for (const lower::LevelOfTensor& at : *levels) numbers_[size_t(at.tensor) - 1][at.level] = numbers;
  }

  PatternHandle with_numbers(const Pattern& pattern, size_t k) const {
    std::vector<LevelArrays> levels = pattern.levels();
    for (const auto& [level, numbers] : numbers_[k])
      for (NamedArray& array : levels[level].arrays)
        if (array.name == "crd")
          array.array = IndexArray::make(array.array.size(), array.array.width(), [&](auto* out) {
            for (int64_t p = 0; p < array.array.size(); p++)
              out[p] = std::remove_reference_t<decltype(*out)>(numbers.at(array.array[p]));
          });
    return std::make_shared<const Pattern>(pattern.format(), pattern.dims(), std::move(levels));
  }

  // A dense piece with its elements at their numbers, and something else in all other places.
  Storage moved(const Storage& piece, size_t k) const {
    std::vector<Range> ranges(piece.order());
    for (size_t level = 0; level < piece.order(); level++) {
      auto found = numbers_[k].find(level);
      ranges[size_t(piece.format().mode_order()[level])] =
          found == numbers_[k].end() ? piece.pattern().level(level).range : Range{0, int64_t(found->second.size()) + 2};
    }
    Storage out(dense_pattern(piece.format(), piece.dims(), ranges, piece.type(), "a piece"), piece.type());
    with_type(piece.type(), [&](auto zero) {
      using T = decltype(zero);
      for (T& value : out.values<T>()) value = T(1);
      for_each_position(piece.pattern(), [&](std::span<const int64_t> at, int64_t position) {
        int64_t place = 0;
        for (size_t level = 0; level < piece.order(); level++) {
          auto d = size_t(piece.format().mode_order()[level]);
          int64_t number = at[d] - ranges[d].lo;
          if (auto found = numbers_[k].find(level); found != numbers_[k].end()) {
            auto known = found->second.find(at[d]);
            if (known == found->second.end()) return;
            number = known->second;
          }
          place = place * ranges[d].size() + number;
        }
        out.values<T>()[size_t(place)] = piece.values<T>()[size_t(position)];
      });
    });
    return out;
  }

  std::vector<std::map<size_t, Numbers>> numbers_;  // by piece and level
  std::mt19937_64& random_;
  std::deque<Storage> own_;
  std::vector<SeenPiece> seen_;
};

}  // namespace spdistal::test
