// Rivals timed in turn within one run, so that what disturbs one disturbs all; medians.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace spdistal {

struct Contestant {
  std::string name;
  std::function<void()> prepare, run;  // only `run` is timed
  std::vector<double> seconds{};

  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

inline void race(std::vector<Contestant>& contestants, int rounds) {
  for (int round = 0; round < rounds; round++)
    for (Contestant& each : contestants) {
      if (each.prepare) each.prepare();
      auto start = std::chrono::steady_clock::now();
      each.run();
      each.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
}

}  // namespace spdistal
