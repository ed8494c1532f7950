// Plans kept by what they were made from: versions of patterns, identities of regions and partitions. Found again, a
// plan costs no set computation. Every rank asks in the same order with the same keys, so that all find or all make.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

namespace spdistal::runtime {

using PlanKey = std::vector<uint64_t>;

template <class Plan>
class PlanCache {
 public:
  /// Keeps so many at most; the one used longest ago goes first.
  explicit PlanCache(size_t most = 1024) : most_(most) {}

  /// The plan of the key, or what `make()` returns, kept.
  template <class F>
  std::shared_ptr<Plan> find_or_make(const PlanKey& key, F&& make) {
    if (auto found = plans_.find(key); found != plans_.end()) {
      order_.splice(order_.end(), order_, found->second.place);
      return found->second.plan;
    }
    auto plan = std::make_shared<Plan>(make());
    if (plans_.size() == most_) {
      plans_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(key);
    plans_.emplace(key, Kept{plan, std::prev(order_.end())});
    return plan;
  }
  size_t size() const { return plans_.size(); }
  void clear() { plans_.clear(), order_.clear(); }

 private:
  struct Kept {
    std::shared_ptr<Plan> plan;
    std::list<PlanKey>::iterator place;
  };
  size_t most_;
  std::map<PlanKey, Kept> plans_;
  std::list<PlanKey> order_;
};

}  // namespace spdistal::runtime
