// What a rank has said that every rank must say alike, and that is not worth a collective call of its own: whatever the ranks
// agree on next (`agree.hpp`) compares it in passing.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.hpp"

namespace spdistal::runtime {

class Said {
 public:
  /// What is shown where ranks differ; asked only then.
  using Text = std::function<std::string()>;

  /// Local.
  void add(uint64_t hash, const Text& text) {
    number_ = hash_bytes(&hash, sizeof hash, number_);
    if (recent_.size() < most_recent) recent_.push_back(text);
  }
  /// Tells all that was said from everything else that might have been; 0 where nothing was.
  uint64_t number() const { return number_; }
  /// The first things that were said since the ranks last agreed.
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const Text& text : recent_) out.push_back(text());
    return out;
  }
  /// All ranks have said the same so far.
  void agreed() { recent_.clear(); }
  /// They start anew, for they know that they have not.
  void forget() { *this = {}; }

 private:
  static constexpr size_t most_recent = 16;
  uint64_t number_ = 0;
  std::vector<Text> recent_;
};

}  // namespace spdistal::runtime
