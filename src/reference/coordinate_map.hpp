// Values by coordinates: a hash table whose keys are tuples of one width, side by side in one array.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace spdistal::reference {

inline uint64_t hash_of(std::span<const int64_t> coordinates) {
  uint64_t hash = coordinates.size();
  for (int64_t x : coordinates) hash = (hash ^ uint64_t(x)) * 0x9E3779B97F4A7C15ull, hash ^= hash >> 32;
  return hash;
}

template <class T>
class CoordinateMap {
 public:
  explicit CoordinateMap(size_t width) : width_(width), places_(16, none) {}

  size_t size() const { return values_.size(); }
  std::span<const int64_t> key(size_t n) const { return {keys_.data() + n * width_, width_}; }
  T& value(size_t n) { return values_[n]; }

  /// Null where there is none.
  T* find(std::span<const int64_t> key) {
    size_t n = places_[place_of(key)];
    return n == none ? nullptr : &values_[n];
  }
  T& operator[](std::span<const int64_t> key) {
    size_t place = place_of(key);
    if (places_[place] != none) return values_[places_[place]];
    places_[place] = values_.size();
    keys_.insert(keys_.end(), key.begin(), key.end());
    values_.emplace_back();
    if (values_.size() * 2 > places_.size()) grow();
    return values_.back();
  }

  /// Takes as long as there are values, however many there were before.
  void clear() {
    for (size_t n = 0; n < size(); n++) cleared_.push_back(place_of(key(n)));
    for (size_t place : cleared_) places_[place] = none;
    cleared_.clear(), keys_.clear(), values_.clear();
  }

 private:
  static constexpr size_t none = size_t(-1);

  // Where a key is, or would be put.
  size_t place_of(std::span<const int64_t> wanted) const {
    size_t mask = places_.size() - 1, place = size_t(hash_of(wanted)) & mask;
    while (places_[place] != none && !std::ranges::equal(key(places_[place]), wanted)) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    places_.assign(places_.size() * 2, none);
    for (size_t n = 0; n < size(); n++) places_[place_of(key(n))] = n;
  }

  size_t width_;
  std::vector<int64_t> keys_;
  std::vector<T> values_;
  std::vector<size_t> places_;  // the number of a value, or none; a power of two of them
  std::vector<size_t> cleared_;
};

}  // namespace spdistal::reference
