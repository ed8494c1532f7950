// Where something can happen: a formula over the presence of coordinates, as alternatives ("or") of things that must all
// be there ("and"). Sums give alternatives, products join them; what may be anything anywhere is always true.
//
//   B(i,j) * (C(i,j) + D(i,j))    {B C} or {B D}
//   B(i,j) + c(j)                 always
#pragma once
#include <algorithm>
#include <set>
#include <vector>

namespace spdistal::lower {

/// Atoms are small numbers that whoever builds the formula gives meaning to.
class Formula {
 public:
  static Formula always() { return Formula(std::vector<std::set<int>>(1)); }
  static Formula never() { return Formula(std::vector<std::set<int>>()); }
  static Formula atom(int id) { return Formula(std::vector<std::set<int>>(1, std::set<int>{id})); }

  const std::vector<std::set<int>>& alternatives() const { return alternatives_; }
  bool is_always() const { return alternatives_.size() == 1 && alternatives_[0].empty(); }
  bool is_never() const { return alternatives_.empty(); }
  std::set<int> atoms() const {
    std::set<int> out;
    for (const auto& all : alternatives_) out.insert(all.begin(), all.end());
    return out;
  }

  friend Formula operator|(const Formula& a, const Formula& b) {
    std::vector<std::set<int>> all = a.alternatives_;
    all.insert(all.end(), b.alternatives_.begin(), b.alternatives_.end());
    return Formula(std::move(all));
  }
  friend Formula operator&(const Formula& a, const Formula& b) {
    std::vector<std::set<int>> all;
    for (const auto& x : a.alternatives_)
      for (const auto& y : b.alternatives_) {
        all.push_back(x);
        all.back().insert(y.begin(), y.end());
      }
    return Formula(std::move(all));
  }
  bool operator==(const Formula&) const = default;

 private:
  // Keeps the smallest alternatives only: {B} or {B C} is {B}.
  explicit Formula(std::vector<std::set<int>> all) {
    for (const auto& x : all) {
      bool implied = std::any_of(all.begin(), all.end(), [&](const auto& y) {
        return y != x && std::includes(x.begin(), x.end(), y.begin(), y.end());
      });
      if (!implied && std::find(alternatives_.begin(), alternatives_.end(), x) == alternatives_.end())
        alternatives_.push_back(x);
    }
  }
  std::vector<std::set<int>> alternatives_;
};

}  // namespace spdistal::lower
