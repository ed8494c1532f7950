// fuzz_programs SECONDS [SEED] [option=value…]: runs random programs until the time is over, each against the dense
// evaluator; what goes wrong is made small and printed with a command line that shows it again.
//
//   programs=200000     ends after so many
//   jobs=16             processes; default: as many as there are processors
//   compiled=20         one program in so many has compiled leaves; 0: none
//   without="rotate"    leaves out programs with a feature; may be said several times
//   with="names alike"  takes programs with a feature that is left out until it is mended; all: with every one
//   only=blocks         takes programs with a feature and no others; may be said several times
//   findings=20         ends after so many
//   show                prints the program of the seed and runs nothing
#include <cstdlib>
#include <iostream>
#include <thread>

#include "support/sweep.hpp"

int main(int argc, char** argv) {
  using namespace spdistal::test;
  SweepOptions options{.programs = uint64_t(1) << 40, .jobs = int(std::max(1u, std::thread::hardware_concurrency()))};
  options.seconds = 60;
  options.first_seed = uint64_t(std::random_device{}());
  options.draws.compiled_one_in = 50;
  options.say = [](const std::string& finding) { std::cout << finding << std::string(100, '-') << std::endl; };
  bool show = false;
  int plain = 0;
  for (int k = 1; k < argc; k++) {
    std::string word = argv[k];
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
    auto number = [&] { return std::strtoull(value.c_str(), nullptr, 10); };
    if (name == "show") show = true;
    else if (equals == word.npos && plain == 0) options.seconds = std::atof(word.c_str()), plain++;
    else if (equals == word.npos && plain == 1) options.first_seed = std::strtoull(word.c_str(), nullptr, 10), plain++;
    else if (name == "programs") options.programs = number();
    else if (name == "jobs") options.jobs = int(number());
    else if (name == "compiled") options.draws.compiled_one_in = int64_t(number());
    else if (name == "without") options.draws.without.insert(value);
    else if (name == "only") options.draws.only.insert(value);
    else if (name == "with" && value == "all") options.draws.without.clear();
    else if (name == "with") options.draws.without.erase(value);
    else if (name == "findings") options.most_findings = number();
    else {
      std::cerr << "fuzz_programs: there is no '" << word << "'\n";
      return 2;
    }
  }
  if (show) {
    std::cout << describe(case_of(options.first_seed, options.draws));
    return 0;
  }
  std::cout << "seeds from " << options.first_seed << ", " << options.jobs << " processes" << std::endl;
  Sweep found = sweep(options);
  std::cout << summary(found);
  return found.findings.empty() ? 0 : 1;
}
