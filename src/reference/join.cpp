#include "reference/join.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "reference/windows.hpp"

namespace spdistal::reference {

using namespace notation;

namespace {

// Most numbers are real, and multiplying complex ones takes long.
Complex times(const Complex& a, const Complex& b) {
  return a.imag() == 0 && b.imag() == 0 ? Complex(a.real() * b.real()) : a * b;
}
double magnitude(const Complex& a) { return a.imag() == 0 ? std::abs(a.real()) : std::abs(a); }

// One product: factors one after the other, each looked up by the variables that are bound already, the first coordinate
// of the result to begin with.
class Join {
 public:
  Join(const Product& product, const Access& lhs, const EntryTable& tensors) : coefficient_(product.coefficient) {
    if (!lhs.indices.empty()) slot_of(lhs.indices[0]);
    // What shares a variable with those before, and has the fewest entries.
    std::vector<Access> waiting = product.factors;
    while (!waiting.empty()) {
      auto rank = [&](const Access& x) {
        bool joined = std::any_of(x.indices.begin(), x.indices.end(), [&](auto& v) { return slots_.contains(v); });
        return std::pair(!joined, tensors.at(x.tensor).size());
      };
      auto best = std::min_element(waiting.begin(), waiting.end(),
                                   [&](const Access& a, const Access& b) { return rank(a) < rank(b); });
      add_step(*best, tensors.at(best->tensor));
      waiting.erase(best);
    }
    for (size_t d = 0; d < lhs.indices.size(); d++) {
      bool bound = slots_.contains(lhs.indices[d]);
      element_.push_back(slot_of(lhs.indices[d]));
      if (!bound) broadcast_.push_back({element_.back(), tensors.at(lhs.tensor).dims[d]});
    }
    values_.resize(slots_.size());
    at_.resize(element_.size());
  }

  /// First coordinates of which there may be something; none where all have the same.
  std::optional<std::vector<int64_t>> firsts() const {
    if (element_.empty() || !firsts_differ()) return {};
    std::vector<int64_t> out;
    for (size_t n = 0; n < steps_[0].groups.size(); n++) out.push_back(steps_[0].groups.key(n)[0]);
    return out;
  }
  void run(int64_t first, JudgedElements& out) {
    if (element_.empty() || firsts_differ()) {
      if (!values_.empty()) values_[0] = first;
      return visit(0, coefficient_, out);
    }
    // What has no first coordinate of its own is the same in all slices.
    if (!common_) {
      common_.emplace(element_.size());
      visit(0, coefficient_, *common_);
    }
    for (size_t n = 0; n < common_->size(); n++) {
      for (size_t d = 0; d < element_.size(); d++) at_[d] = element_[d] == 0 ? first : common_->key(n)[d];
      Judged& element = out[at_];
      element.value += common_->value(n).value;
      element.magnitude += common_->value(n).magnitude;
    }
  }

 private:
  struct Group {
    size_t begin = 0, end = 0;
  };
  struct Step {
    const EntryList* entries;
    std::vector<std::pair<size_t, size_t>> known, fresh, same;  // a dimension, and the slot of its variable
    std::vector<size_t> order;                                  // of the entries: those with equal known ones together
    CoordinateMap<Group> groups;                                // by known ones
    std::vector<int64_t> key;
  };
  struct Broadcast {
    size_t slot;
    int64_t size;
  };

  bool firsts_differ() const { return !steps_.empty() && !steps_[0].known.empty(); }
  size_t slot_of(const IndexVar& var) { return slots_.try_emplace(var, slots_.size()).first->second; }

  void add_step(const Access& access, const EntryList& entries) {
    std::vector<std::pair<size_t, size_t>> known, fresh, same;
    size_t before = slots_.size();
    std::set<size_t> seen;
    for (size_t d = 0; d < access.indices.size(); d++) {
      size_t slot = slot_of(access.indices[d]);
      (slot < before ? known : seen.insert(slot).second ? fresh : same).emplace_back(d, slot);
    }
    Step step{&entries, known, fresh, same, {}, CoordinateMap<Group>(known.size()), {}};
    step.order.resize(entries.size());
    std::iota(step.order.begin(), step.order.end(), size_t(0));
    auto before_it = [&](size_t a, size_t b) {
      for (auto [d, slot] : known)
        if (entries.at(a)[d] != entries.at(b)[d]) return entries.at(a)[d] < entries.at(b)[d];
      return false;
    };
    if (!std::is_sorted(step.order.begin(), step.order.end(), before_it))
      std::stable_sort(step.order.begin(), step.order.end(), before_it);
    step.key.resize(known.size());
    for (size_t n = 0; n < step.order.size(); n++) {
      for (size_t k = 0; k < known.size(); k++) step.key[k] = entries.at(step.order[n])[known[k].first];
      Group& group = step.groups[step.key];
      if (group.end == 0) group.begin = n;
      group.end = n + 1;
    }
    steps_.push_back(std::move(step));
  }

  void visit(size_t next, const Complex& product, JudgedElements& out) {
    if (next == steps_.size()) return spread(0, product, out);
    Step& step = steps_[next];
    for (size_t k = 0; k < step.known.size(); k++) step.key[k] = values_[step.known[k].second];
    const Group* group = step.groups.find(step.key);
    if (!group) return;
    for (size_t n = group->begin; n < group->end; n++) {
      std::span<const int64_t> at = step.entries->at(step.order[n]);
      for (auto [d, slot] : step.fresh) values_[slot] = at[d];
      bool fits = true;
      for (auto [d, slot] : step.same) fits &= values_[slot] == at[d];
      if (fits) visit(next + 1, times(product, step.entries->values[step.order[n]]), out);
    }
  }

  void spread(size_t next, const Complex& product, JudgedElements& out) {
    if (next < broadcast_.size()) {
      for (int64_t v = 0; v < broadcast_[next].size; v++) {
        values_[broadcast_[next].slot] = v;
        spread(next + 1, product, out);
      }
      return;
    }
    for (size_t d = 0; d < element_.size(); d++) at_[d] = values_[element_[d]];
    Judged& element = out[at_];
    element.value += product;
    element.magnitude += magnitude(product);
  }

  Complex coefficient_;
  std::map<IndexVar, size_t> slots_;
  std::vector<Step> steps_;
  std::vector<Broadcast> broadcast_;  // variables of the result that no factor has
  std::vector<size_t> element_;       // the slots of the result's variables
  std::vector<int64_t> values_, at_;  // by slot; of the element at hand
  std::optional<JudgedElements> common_;
};

}  // namespace

bool evaluate_by_joins(const Assignment& assignment, const EntryTable& tensors,
                       const std::function<void(int64_t first, JudgedElements& elements)>& judge) {
  if (has_windows(assignment.lhs)) return false;
  if (!windows(assignment).empty()) {
    WithoutWindows plain = without_windows(assignment, tensors);
    return evaluate_by_joins(plain.assignment, plain.tensors, judge);
  }
  std::map<IndexVar, int64_t> sizes;
  auto measure = [&](const Access& access) {
    for (size_t d = 0; d < access.indices.size(); d++) sizes[access.indices[d]] = tensors.at(access.tensor).dims[d];
  };
  measure(assignment.lhs);
  each<Access>(assignment.rhs, measure);
  auto products = multiply_out(assignment, [&](const IndexVar& var) { return sizes.at(var); });
  if (!products) return false;

  const Access& lhs = assignment.lhs;
  std::vector<Join> joins;
  bool everywhere = false;
  std::vector<int64_t> firsts;
  for (const Product& product : *products) {
    std::optional<std::vector<int64_t>> some = joins.emplace_back(product, lhs, tensors).firsts();
    if (some) firsts.insert(firsts.end(), some->begin(), some->end());
    else everywhere = true;
  }
  if (everywhere) {
    firsts.resize(lhs.indices.empty() ? 1 : size_t(sizes.at(lhs.indices[0])));
    std::iota(firsts.begin(), firsts.end(), int64_t(0));
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  JudgedElements elements(lhs.indices.size());
  for (int64_t first : firsts) {
    for (Join& join : joins) join.run(first, elements);
    judge(first, elements);
    elements.clear();
  }
  return true;
}

}  // namespace spdistal::reference
