// Records as they travel, and as they wait until all are there: with coordinates of 32 bits where that is enough for all of them.
#pragma once
#include <algorithm>
#include <variant>

#include "runtime/records/records.hpp"

namespace spdistal::runtime {

class CompactRecords {
 public:
  /// What `put` wrote.
  CompactRecords(Reader& in, int order, ScalarType type) : size_(in.take<int64_t>()) {
    bool narrow = in.take<bool>();
    size_t count = size_t(size_) * size_t(order);
    if (narrow) coordinates_ = in.take_all<uint32_t>(count);
    else coordinates_ = in.take_all<int64_t>(count);
    values_ = in.take_all<std::byte>(size_t(size_) * size_of(type));
  }

  static void put(Writer& out, const Records& records) {
    bool narrow = std::ranges::all_of(records.coordinates(), [](int64_t x) { return x == int64_t(uint32_t(x)); });
    size_t width = narrow ? sizeof(uint32_t) : sizeof(int64_t);
    out.reserve(sizeof(int64_t) + sizeof(bool) + records.coordinates().size() * width + records.values().size());
    out.put(records.size());
    out.put(narrow);
    if (narrow) {
      std::vector<uint32_t> coordinates(records.coordinates().begin(), records.coordinates().end());
      out.put_all(std::span<const uint32_t>(coordinates));
    } else {
      out.put_all(records.coordinates());
    }
    out.put_all(records.values());
  }

  int64_t size() const { return size_; }
  void append_to(Records& records) const {
    std::visit([&](const auto& coordinates) { records.add_all(std::span(coordinates), values_); }, coordinates_);
  }

 private:
  int64_t size_;
  std::variant<std::vector<uint32_t>, std::vector<int64_t>> coordinates_;
  Bytes values_;
};

}  // namespace spdistal::runtime
