#include "runtime/partition/image_by_value.hpp"

#include <algorithm>
#include <bit>

namespace spdistal::runtime {
namespace {

/// The set of set bits, counted from `base`, word by word.
Space space_of_bits(const std::vector<uint64_t>& words, int64_t base) {
  std::vector<Range> intervals;
  auto add = [&](int64_t lo, int64_t hi) {
    if (!intervals.empty() && intervals.back().hi == lo) intervals.back().hi = hi;
    else intervals.push_back({lo, hi});
  };
  for (size_t w = 0; w < words.size(); w++) {
    int64_t at = base + int64_t(w) * 64;
    for (uint64_t rest = words[w]; rest != 0;) {
      int lo = std::countr_zero(rest), length = std::countr_one(rest >> lo);
      add(at + lo, at + lo + length);
      if (lo + length == 64) break;
      rest &= ~uint64_t(0) << (lo + length);
    }
  }
  return Space::from_canonical(1, std::move(intervals));
}

}  // namespace

template <class I>
Space image_by_value(const Space& positions, const LocalCrd<I>& crd) {
  Space here = positions & Space::interval(crd.positions().lo, crd.positions().hi);
  if (here.empty()) return Space(1);
  auto for_each_value = [&](auto&& f) {
    for (const Range& interval : here.sides())
      for (int64_t p = interval.lo; p < interval.hi; p++) f(crd.at(p));
  };
  int64_t count = 0, least = INT64_MAX, greatest = INT64_MIN;
  for_each_value([&](int64_t x) { count++, least = std::min(least, x), greatest = std::max(greatest, x); });
  // One bit per coordinate in the range, or sorting, whichever is less work.
  if (width({least, greatest}) / 32 <= uint64_t(count)) {
    std::vector<uint64_t> words(size_t(width({least, greatest}) / 64 + 1));
    for_each_value([&](int64_t x) { words[size_t(x - least) / 64] |= uint64_t(1) << (size_t(x - least) % 64); });
    return space_of_bits(words, least);
  }
  std::vector<int64_t> values;
  values.reserve(size_t(count));
  for_each_value([&](int64_t x) { values.push_back(x); });
  std::ranges::sort(values);
  return Space::from_sorted(std::span<const int64_t>(values));
}

template <class I>
Partition image_by_value(const Partition& positions, const Space& coordinates, const LocalCrd<I>& crd) {
  return map_pieces(positions, coordinates,
                    [&](int64_t, const Space& piece) { return coordinates & image_by_value(piece, crd); });
}

template Space image_by_value(const Space&, const LocalCrd<int32_t>&);
template Space image_by_value(const Space&, const LocalCrd<int64_t>&);
template Partition image_by_value(const Partition&, const Space&, const LocalCrd<int32_t>&);
template Partition image_by_value(const Partition&, const Space&, const LocalCrd<int64_t>&);

}  // namespace spdistal::runtime
