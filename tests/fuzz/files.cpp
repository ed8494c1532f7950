// fuzz_files SECONDS [SEED]: reads damaged files until the time is over; the first that is neither read nor refused is
// left as fuzz_<name> in the current folder.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "fuzz/damaged_files.hpp"

int main(int argc, char** argv) {
  using namespace spdistal;
  double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  std::cout << "seed " << seed << "\n";
  DamagedFiles files(seed);
  auto stop = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int64_t tried = 0;
  for (; std::chrono::steady_clock::now() < stop; tried++)
    if (std::string fault = files.try_one(); !fault.empty()) {
      std::ofstream("fuzz_" + files.last_name(), std::ios::binary) << files.last();
      std::cout << "file " << tried << " of seed " << seed << ": " << fault << "\nleft as fuzz_" << files.last_name()
                << "\n";
      return 1;
    }
  std::cout << tried << " files read or refused\n";
}
