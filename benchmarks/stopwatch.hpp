// Rivals timed in turn within one run, so that what disturbs one disturbs all; medians. The time of the processors
// tells the work done where the machine has other things to do.
#pragma once
#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>
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

inline void race(std::vector<Contestant>& contestants, int rounds) {
  for (int round = 0; round < rounds; round++)
    for (Contestant& each : contestants) {
      if (each.prepare) each.prepare();
      double processor = processor_now();
      auto start = std::chrono::steady_clock::now();
      each.run();
      each.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      each.processor_seconds.push_back(processor_now() - processor);
    }
}

}  // namespace spdistal
