// Many random programs at once, on several processes: one that crashes or never ends is a finding as any other, and the
// sweep goes on. What is found is made small, and printed with a command line that shows it again.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/random_case.hpp"

namespace spdistal::test {

struct SweepOptions {
  std::string name = "programs";  // of the sweep, in reports
  uint64_t first_seed = 1;
  uint64_t programs = 1000;
  int jobs = 1;
  double seconds = 1e9;       // no program is begun after these
  double limit = 60;          // seconds that one program may take
  size_t most_findings = 20;  // after which the sweep ends
  int shrinking = 400;        // programs to try for making one small; none: findings stay as drawn
  CaseOptions draws = {};
  std::function<void(const std::string&)> say = {};  // hears of findings as they come
};

struct Sweep {
  uint64_t programs = 0, refused = 0;
  std::map<std::string, uint64_t> features;  // how many programs had them
  std::map<std::string, uint64_t> refusals;  // by the first line of what was said
  std::vector<std::string> findings;         // each a report
};

/// The program of a seed.
ProgramCase case_of(uint64_t seed, const CaseOptions& draws);

Sweep sweep(const SweepOptions& options);

/// Numbers for people to read.
std::string summary(const Sweep& sweep);

}  // namespace spdistal::test
