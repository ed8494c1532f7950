#include "support/sweep.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <optional>
#include <thread>

#include "memory/poison.hpp"
#include "support/isolated.hpp"
#include "support/run_case.hpp"
#include "support/shrink.hpp"

namespace spdistal::test {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What nobody wrote is no zero by chance: in memory of tensors and of all else.
void poison_memory() {
  memory::set_poison(memory::Poison::On);
  mallopt(M_PERTURB, 0x5a);
}

// What a worker is doing, in memory that it shares with the process that watches it.
struct Desk {
  std::atomic<uint64_t> seed = 0;   // at hand
  std::atomic<double> since = 0;    // when it was begun
  std::atomic<uint64_t> wrong = 0;  // a seed that went wrong and waits to be told of; 0: none
  char fault[2000] = {};            // of that seed, as far as there is room
  std::atomic<bool> done = false;
  std::atomic<uint64_t> programs = 0;  // that were run
};

// A refusal is no fault; what it says is counted.
std::string try_seed(uint64_t seed, const CaseOptions& draws, std::map<std::string, uint64_t>& counts) {
  ProgramCase program = case_of(seed, draws);
  for (const std::string& feature : features_of(program)) counts["+" + feature]++;
  try {
    return find_fault(build(program)).value_or("");
  } catch (const UserError& error) {
    counts["-" + first_line(error.what())]++;
    return "";
  }
}

// Every `jobs`-th seed from `first` on.
class Worker {
 public:
  Worker(const SweepOptions& options, uint64_t first, double stop)
      : options_(options), next_(first), end_(options.first_seed + options.programs), stop_(stop) {
    void* memory = mmap(nullptr, sizeof(Desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    desk_ = new (memory) Desk;
    start();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    if (counts_ >= 0) close(counts_);
    munmap(desk_, sizeof(Desk));
  }

  bool finished() const { return child_ < 0; }
  uint64_t programs() const { return desk_->programs; }

  // Looks after the process. A seed that went wrong, crashed or takes too long, and how.
  std::optional<std::pair<uint64_t, std::string>> look(Sweep& into) {
    if (finished()) return {};
    if (uint64_t wrong = desk_->wrong) {
      std::string fault = desk_->fault;
      desk_->wrong = 0;
      waitpid(child_, nullptr, 0);
      go_on(into, wrong);
      return {{wrong, fault}};
    }
    uint64_t seed = desk_->seed;
    bool late = seed != 0 && now() - desk_->since > options_.limit;
    if (late) kill(child_, SIGKILL);
    int status = 0;
    if (waitpid(child_, &status, late ? 0 : WNOHANG) == 0) return {};
    if (desk_->done && !late) {
      child_ = -1;
      collect(into);
      return {};
    }
    desk_->programs++;
    go_on(into, seed);
    if (late) return {{seed, fmt::format("not done after {} seconds", options_.limit)}};
    return {{seed, fmt::format("its process ended: status {}", status)}};
  }

 private:
  // With another process, after a seed.
  void go_on(Sweep& into, uint64_t after) {
    child_ = -1;
    collect(into);
    next_ = after + uint64_t(options_.jobs);
    start();
  }

  void start() {
    if (next_ >= end_ || now() > stop_) return;
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    desk_->seed = 0;
    desk_->done = false;
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      work(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    counts_ = ends[0];
  }

  void work(int pipe) {
    poison_memory();
    std::map<std::string, uint64_t> counts;
    for (uint64_t seed = next_; seed < end_ && now() < stop_; seed += uint64_t(options_.jobs)) {
      desk_->since = now();
      desk_->seed = seed;
      std::string fault;
      try {
        fault = try_seed(seed, options_.draws, counts);
      } catch (const std::exception& error) { fault = error.what(); }
      desk_->programs++;
      if (fault.empty()) continue;
      while (desk_->wrong != 0) usleep(1000);
      fault.copy(desk_->fault, sizeof(desk_->fault) - 1);
      desk_->fault[std::min(fault.size(), sizeof(desk_->fault) - 1)] = '\0';
      desk_->wrong = seed;
      break;  // memory may have been spoilt: the next one gets a process of its own
    }
    while (desk_->wrong != 0) usleep(1000);
    std::string text;
    for (const auto& [what, count] : counts) text += fmt::format("{}\t{}\n", what, count);
    for (size_t at = 0; at < text.size();) {
      ssize_t written = write(pipe, text.data() + at, text.size() - at);
      if (written <= 0) break;
      at += size_t(written);
    }
    desk_->done = true;
  }

  // The counts of a process that ended; one that crashed has told none.
  void collect(Sweep& into) {
    std::string text;
    char bytes[4096];
    for (ssize_t count; (count = read(counts_, bytes, sizeof(bytes))) > 0;) text.append(bytes, size_t(count));
    close(counts_);
    counts_ = -1;
    for (size_t at = 0; at < text.size();) {
      size_t tab = text.find('\t', at), end = text.find('\n', at);
      std::string what = text.substr(at, tab - at);
      uint64_t count = std::stoull(text.substr(tab + 1, end - tab - 1));
      at = end + 1;
      if (what[0] == '+') into.features[what.substr(1)] += count;
      else into.refusals[what.substr(1)] += count, into.refused += count;
    }
  }

  const SweepOptions& options_;
  uint64_t next_, end_;
  double stop_;
  Desk* desk_;
  pid_t child_ = -1;
  int counts_ = -1;
};

// What a sweep leaves out is not what went wrong in it.
bool is_wanted(const ProgramCase& program, const CaseOptions& draws) {
  try {
    return !has_any(program, draws.without);
  } catch (const UserError&) { return false; }  // no program
}

std::string tell(uint64_t seed, const std::string& fault, const SweepOptions& options) {
  FindFault find_here = once_built([](const BuiltProgram& program) { return find_fault(program); });
  FindFault find = [&](const ProgramCase& program) -> std::optional<std::string> {
    if (!is_wanted(program, options.draws)) return std::nullopt;
    std::string found = isolated(
        [&] {
          poison_memory();
          return find_here(program).value_or("");
        },
        options.limit);
    if (found.empty()) return std::nullopt;
    return found;
  };
  ProgramCase program = case_of(seed, options.draws);
  int limit = program.setting.leaves == Leaves::Compiled ? options.shrinking / 4 : options.shrinking;
  return fmt::format("in the sweep: {}\n{}", fault, report(options.name, seed, program, find, limit));
}

}  // namespace

ProgramCase case_of(uint64_t seed, const CaseOptions& draws) {
  std::mt19937_64 random{seed};
  return draw_case(random, draws);
}

Sweep sweep(const SweepOptions& options) {
  Sweep out;
  double stop = now() + options.seconds;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int k = 0; k < options.jobs; k++)
    workers.push_back(std::make_unique<Worker>(options, options.first_seed + uint64_t(k), stop));
  auto finished = [](const auto& worker) { return worker->finished(); };
  while (!std::all_of(workers.begin(), workers.end(), finished) && out.findings.size() < options.most_findings) {
    bool found = false;
    for (auto& worker : workers)
      if (auto wrong = worker->look(out)) {
        found = true;
        out.findings.push_back(tell(wrong->first, wrong->second, options));
        if (options.say) options.say(out.findings.back());
      }
    if (!found) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const auto& worker : workers) out.programs += worker->programs();
  return out;
}

std::string summary(const Sweep& sweep) {
  std::string out =
      fmt::format("{} programs, {} refused, {} findings\n", sweep.programs, sweep.refused, sweep.findings.size());
  for (const auto& [what, count] : sweep.features) out += fmt::format("  {:8} {}\n", count, what);
  for (const auto& [what, count] : sweep.refusals) out += fmt::format("  {:8} refused: {}\n", count, what);
  return out;
}

}  // namespace spdistal::test
