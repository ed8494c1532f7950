// What was moved, for reports: by region and by pair of colours. Both ends count what they take part in; who adds up
// over ranks counts at the receiving end.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace spdistal::runtime {

struct Count {
  int64_t bytes = 0;     // between ranks
  int64_t messages = 0;  // that carried them; those of a collective count one for each pair
  int64_t copied = 0;    // bytes copied within a rank
  int64_t added = 0;     // bytes, of those moved or copied, that were added to what was there

  bool operator==(const Count&) const = default;
  Count& operator+=(const Count& other) {
    bytes += other.bytes, messages += other.messages, copied += other.copied, added += other.added;
    return *this;
  }
};

class Traffic {
 public:
  using Pair = std::pair<int64_t, int64_t>;  // from a colour, to a colour
  using Pairs = std::map<Pair, Count>;

  /// Stays where it is as long as the traffic does.
  Count& of(const std::string& region, int64_t from, int64_t to) { return regions_[region][{from, to}]; }
  const std::map<std::string, Pairs>& regions() const { return regions_; }
  /// All of a region, as counted on this rank.
  Count total(const std::string& region) const {
    Count sum;
    if (auto pairs = regions_.find(region); pairs != regions_.end())
      for (const auto& [pair, count] : pairs->second) sum += count;
    return sum;
  }
  /// Back to zero.
  void clear() {
    for (auto& [name, pairs] : regions_)
      for (auto& [pair, count] : pairs) count = {};
  }

 private:
  std::map<std::string, Pairs> regions_;
};

}  // namespace spdistal::runtime
