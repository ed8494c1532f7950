// fuzz_files SECONDS [SEED]: reads damaged files until the time is over; the first that is neither read nor refused is
// left as fuzz_<name> in the current folder.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "fuzz/damaged_files.hpp"

int main(int argc, char** argv) {
  using namespace spdistal;
  double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  fmt::print("seed {}\n", seed);
  DamagedFiles files(seed);
  auto stop = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int64_t tried = 0;
  for (; std::chrono::steady_clock::now() < stop; tried++)
    if (std::string fault = files.try_one(); !fault.empty()) {
      std::ofstream("fuzz_" + files.last_name(), std::ios::binary) << files.last();
      fmt::print("file {} of seed {}: {}\nleft as fuzz_{}\n", tried, seed, fault, files.last_name());
      return 1;
    }
  fmt::print("{} files read or refused\n", tried);
}
