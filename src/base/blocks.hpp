// Blocks: how n things are dealt to p pieces. One function, used by schedules, distributions and generators alike, so
// that matching ones match: piece c has [c·s, (c+1)·s) with s = ceil(n/p), both ends clamped to n.
//
// Things that weigh differently are dealt in blocks of about the same weight: block c begins with the first thing whose middle
// lies at or after c/p of all, so that what straddles a cut goes to the nearer side.
#pragma once
#include <algorithm>
#include <cstdint>

namespace spdistal {

struct Range {
  int64_t lo = 0, hi = 0;
  int64_t size() const { return hi - lo; }
  bool contains(int64_t x) const { return lo <= x && x < hi; }
  bool operator==(const Range&) const = default;
};

/// ceil(n / p) for n >= 0, p > 0.
constexpr int64_t block_size(int64_t n, int64_t p) { return n / p + (n % p != 0); }

constexpr Range block(int64_t n, int64_t p, int64_t c) {
  int64_t s = block_size(n, p);
  // c·s may not fit where p is far above n; past the end all blocks are empty anyhow.
  int64_t lo = s == 0 || c > n / s ? n : std::min(n, c * s);
  return {lo, std::min(n - lo, s) + lo};
}

/// The piece that holds x: the inverse of `block`.
constexpr int64_t block_of(int64_t n, int64_t p, int64_t x) { return x / block_size(n, p); }

/// A thing belongs to block c of p or a later one if the weight before it and the weight through it come to this together.
constexpr int64_t weight_of_cut(int64_t total, int64_t p, int64_t c) {
  return 2 * c * (total / p) + block_size(2 * c * (total % p), p);
}

/// Where block c of p begins; before(x) tells what the things before x weigh together, up to x = n. Past the last block: n.
template <class Before>
int64_t weighted_block(int64_t n, int64_t p, int64_t c, Before&& before) {
  if (c >= p) return n;
  int64_t lo = 0, hi = n, cut = weight_of_cut(before(n), p, c);
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    if (before(middle) + before(middle + 1) < cut) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

}  // namespace spdistal
