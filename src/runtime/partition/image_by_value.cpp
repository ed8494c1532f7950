#include "runtime/partition/image_by_value.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/threads.hpp"
#include "memory/buffer.hpp"

namespace spdistal::runtime {
namespace {

constexpr int64_t stretch = 1 << 16;  // as many indices as are worth a turn of a thread

/// The intervals as places of an array that begins at `first`, the long ones cut: for threads to share.
std::vector<Range> stretches_of(const Space& set, int64_t first) {
  std::vector<Range> out;
  for (const Range& interval : set.sides())
    for (int64_t lo = interval.lo; lo < interval.hi; lo += stretch)
      out.push_back({lo - first, std::min(lo + stretch, interval.hi) - first});
  return out;
}

/// One byte for each coordinate of a range, once for each of some threads: whether it occurs.
class Marks {
 public:
  Marks(Range range, int threads)
      : range_(range),
        stride_((size_t(range.size()) + word - 1) / word * word),
        bytes_(memory::Buffer::zeroed(stride_ * size_t(threads))),
        first_(reinterpret_cast<uint8_t*>(bytes_.data())) {}

  /// Those of a thread, from the first coordinate of the range on: 1 for one that occurs.
  uint8_t* of(int thread) { return first_ + size_t(thread) * stride_; }

  Space marked() const {
    int64_t words = int64_t(stride_ / word), parts = (words * word + stretch - 1) / stretch;
    std::vector<std::vector<Range>> found(static_cast<size_t>(parts));
#pragma omp parallel for schedule(dynamic) num_threads(loop_threads()) if (parts > 1)
    for (int64_t part = 0; part < parts; part++) {
      Range share = block(words, parts, part);
      for (int64_t w = share.lo; w < share.hi; w++) append(found[size_t(part)], bits(w), range_.lo + w * word);
    }
    std::vector<Range> all = parts > 0 ? std::move(found[0]) : std::vector<Range>();
    for (size_t part = 1; part < found.size(); part++)
      for (const Range& interval : found[part]) append(all, interval);
    return Space::from_canonical(1, std::move(all));
  }

 private:
  static constexpr int64_t word = 64;

  /// The marks of 64 coordinates by all threads, the lowest bit the first: eight bytes at a time, each gathered into the
  /// highest one.
  uint64_t bits(int64_t w) const {
    uint64_t out = 0;
    for (size_t at = size_t(w * word); at < bytes_.size(); at += stride_) {
      const auto* eights = reinterpret_cast<const uint64_t*>(first_ + at);
      for (int64_t k = 0; k < word / 8; k++) out |= (eights[k] * 0x0102040810204080) >> 56 << (8 * k);
    }
    return out;
  }
  static void append(std::vector<Range>& intervals, const Range& next) {
    if (!intervals.empty() && intervals.back().hi == next.lo) intervals.back().hi = next.hi;
    else intervals.push_back(next);
  }
  static void append(std::vector<Range>& intervals, uint64_t bits, int64_t first) {
    for (uint64_t rest = bits; rest != 0;) {
      int lo = std::countr_zero(rest), length = std::countr_one(rest >> lo);
      append(intervals, Range{first + lo, first + lo + length});
      if (lo + length == word) break;
      rest &= ~uint64_t(0) << (lo + length);
    }
  }

  Range range_;
  size_t stride_;
  memory::Buffer bytes_;
  uint8_t* first_;
};

/// The least and the greatest value.
template <class I>
Range ends_of(const std::vector<Range>& stretches, const I* crd) {
  I least = std::numeric_limits<I>::max(), greatest = std::numeric_limits<I>::min();
  int threads = stretches.size() > 1 ? loop_threads() : 1;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : greatest) num_threads(threads)
  for (size_t k = 0; k < stretches.size(); k++)
    for (int64_t p = stretches[k].lo; p < stretches[k].hi; p++)
      least = std::min(least, crd[p]), greatest = std::max(greatest, crd[p]);
  return {int64_t(least), int64_t(greatest)};
}

/// As many as have more to mark than is looked through for each of them in the end.
int threads_for(int64_t count, int64_t range) {
  if (count <= stretch) return 1;
  return int(std::clamp<int64_t>(4 * count / range, 1, loop_threads()));
}

}  // namespace

template <class I>
Space image_by_value(const Space& positions, const LocalCrd<I>& crd) {
  Space here = positions & Space::interval(crd.positions().lo, crd.positions().hi);
  if (here.empty()) return Space(1);
  std::vector<Range> stretches = stretches_of(here, crd.first_position);
  Range ends = ends_of(stretches, crd.values.data());
  // A mark for each coordinate in between, or sorting, whichever is less work.
  if (width(ends) / 16 <= uint64_t(here.size())) {
    int threads = threads_for(here.size(), ends.hi - ends.lo + 1);
    Marks marks({ends.lo, ends.hi + 1}, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      uint8_t* mark = marks.of(omp_get_thread_num());
#pragma omp for schedule(static)
      for (size_t k = 0; k < stretches.size(); k++)
        for (int64_t p = stretches[k].lo; p < stretches[k].hi; p++) mark[int64_t(crd.values[size_t(p)]) - ends.lo] = 1;
    }
    return marks.marked();
  }
  std::vector<int64_t> values;
  values.reserve(size_t(here.size()));
  for (const Range& part : stretches)
    for (int64_t p = part.lo; p < part.hi; p++) values.push_back(int64_t(crd.values[size_t(p)]));
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
