// The first digit is taken from the top and cuts the items into buckets that fit the cache; each bucket is then
// sorted there from its lowest digit up. One trip through memory, however many digits there are.
#include "runtime/records/radix.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/loop_errors.hpp"
#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

constexpr int top_bits = 11;
constexpr int64_t cached = 1 << 15;  // items sorted within the cache: 512 KiB, and as much to spare
constexpr int64_t tiny = 48;

void move_to(Keyed* out, const Keyed* from, int64_t n) {
  if (out != from) std::copy(from, from + n, out);
}

// A digit of the keys: bits [shift, shift + width).
struct Digit {
  int shift, width;
  uint64_t of(uint64_t key) const { return (key >> shift) & ((uint64_t(1) << width) - 1); }
};

// Positions at which each digit's items start, from their numbers.
void scan(std::vector<int64_t>& counts) {
  int64_t sum = 0;
  for (int64_t& c : counts) sum += std::exchange(c, sum);
}

void insertion_sort(Keyed* a, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    Keyed r = a[i];
    int64_t j = i;
    for (; j > 0 && a[j - 1].key > r.key; j--) a[j] = a[j - 1];
    a[j] = r;
  }
}

// Sorts by the low `bits`, from the lowest digit up, all within the cache; the result goes to `out`, which is a or b.
void sort_cached(Keyed* a, Keyed* b, int64_t n, int bits, Keyed* out) {
  if (n <= tiny) {
    insertion_sort(a, n);
    return move_to(out, a, n);
  }
  int widest = n < 512 ? 8 : n < 8192 ? 10 : 11;
  int passes = (bits + widest - 1) / widest;
  thread_local std::vector<int64_t> counts;
  for (int pass = 0, shift = 0; pass < passes; pass++) {
    Digit digit{shift, (bits - shift + passes - pass - 1) / (passes - pass)};
    shift += digit.width;
    counts.assign(size_t(1) << digit.width, 0);
    for (int64_t i = 0; i < n; i++) counts[digit.of(a[i].key)]++;
    if (counts[digit.of(a[0].key)] == n) continue;  // all alike
    scan(counts);
    for (int64_t i = 0; i < n; i++) b[counts[digit.of(a[i].key)]++] = a[i];
    std::swap(a, b);
  }
  move_to(out, a, n);
}

// Cuts a by its top digit into b and returns where the digits start.
std::vector<int64_t> cut(const Keyed* a, Keyed* b, int64_t n, Digit digit, int threads) {
  size_t digits = size_t(1) << digit.width;
  std::vector<std::vector<int64_t>> next(size_t(threads), std::vector<int64_t>(digits + 1));
  std::vector<int64_t> starts(digits + 1);
#pragma omp parallel num_threads(threads)
  {
    int t = omp_get_thread_num(), all = omp_get_num_threads();
    int64_t lo = n * t / all, hi = n * (t + 1) / all;
    std::vector<int64_t>& mine = next[size_t(t)];
    for (int64_t i = lo; i < hi; i++) mine[digit.of(a[i].key)]++;
#pragma omp barrier
#pragma omp single
    {
      int64_t sum = 0;
      for (size_t d = 0; d < digits; d++) {
        starts[d] = sum;
        for (std::vector<int64_t>& of_thread : next) sum += std::exchange(of_thread[d], sum);
      }
      starts[digits] = sum;
    }
    for (int64_t i = lo; i < hi; i++) b[mine[digit.of(a[i].key)]++] = a[i];
  }
  return starts;
}

void sort(Keyed* a, Keyed* b, int64_t n, int bits, Keyed* out, int threads) {
  if (n <= cached || bits == 0) return bits == 0 ? move_to(out, a, n) : sort_cached(a, b, n, bits, out);
  Digit digit{std::max(0, bits - top_bits), std::min(bits, top_bits)};
  std::vector<int64_t> starts = cut(a, b, n, digit, threads);
  auto size = [&](size_t d) { return starts[d + 1] - starts[d]; };
  auto bucket = [&](size_t d, int with) {
    int64_t at = starts[d];
    sort(b + at, a + at, size(d), digit.shift, out + at, with);
  };
  // Buckets too large for one thread's share are sorted by all, one after the other.
  int64_t share = threads > 1 ? std::max(cached, n / (4 * threads)) : n;
  size_t digits = starts.size() - 1;
  for (size_t d = 0; d < digits; d++)
    if (size(d) > share) bucket(d, threads);
  LoopErrors errors;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
  for (size_t d = 0; d < digits; d++)
    if (size(d) > 0 && size(d) <= share) errors([&] { bucket(d, 1); });
  errors.raise();
}

}  // namespace

void radix_sort(std::span<Keyed> items, std::span<Keyed> spare, int threads) {
  int64_t n = int64_t(items.size());
  require(spare.size() == items.size(), "the spare items are as many as the items");
  if (n < 2) return;
  uint64_t first = items[0].key, varying = 0;
#pragma omp parallel for schedule(static) reduction(| : varying) num_threads(threads) if (n > cached)
  for (int64_t i = 1; i < n; i++) varying |= items[size_t(i)].key ^ first;
  sort(items.data(), spare.data(), n, std::bit_width(varying), items.data(), threads);
}

}  // namespace spdistal::runtime
