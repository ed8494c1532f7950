// Interleaved medians: rivals take turns within one run, so that what disturbs one disturbs the other.
#pragma once
#include <algorithm>
#include <chrono>
#include <vector>

namespace spdistal::benchmarks {

inline double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + std::ptrdiff_t(times.size() / 2));
  return times[times.size() / 2];
}

template <class F>
double seconds(F&& f) {
  auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace spdistal::benchmarks
