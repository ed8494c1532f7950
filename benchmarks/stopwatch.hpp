// Rivals timed in turn within one run, so that what disturbs one disturbs all; medians. The time of the processors
// tells the work done where the machine has other things to do.
#pragma once
#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace spdistal {

inline double median_of(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

struct Contestant {
  std::string name;
  std::function<void()> prepare, run;  // only `run` is timed
  std::vector<double> seconds{}, processor_seconds{};

  double median() const { return median_of(seconds); }
  double processor() const { return median_of(processor_seconds); }
};

inline double processor_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// In every order in turn: who comes after whom matters, by what the one before left in the caches.
inline void race(std::vector<Contestant>& contestants, int rounds) {
  std::vector<size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < rounds; round++, std::next_permutation(order.begin(), order.end()))
    for (size_t k : order) {
      Contestant& each = contestants[k];
      if (each.prepare) each.prepare();
      double processor = processor_now();
      auto start = std::chrono::steady_clock::now();
      each.run();
      each.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      each.processor_seconds.push_back(processor_now() - processor);
    }
}

}  // namespace spdistal
