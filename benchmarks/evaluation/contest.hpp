// How every system is measured: each is a program that says what it can compute; here is all the rest. A line of JSON for
// each kernel and input goes to standard output.
//
//   evaluation_petsc --kernels SpMV,SpMM --inputs banded --scale 0.1 --warm 10 --runs 20 --expect SpMV=12.3456:78.9
//
// Results are compared before they are timed: some rows element by element with the definition, all of it by a checksum with what
// another system found (--expect, and the sum of magnitudes), where one is said. What is wrong is not timed. --runs 0 does nothing else.
// --fresh 1: instead, what it costs to begin: memory, and the time to bring the input and for the first run, of one kernel in a process
// that did nothing before. Ranks are those of the launcher, threads those of OMP_NUM_THREADS.
#pragma once
#include <mpi.h>
#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "definition.hpp"
#include "memory.hpp"

namespace evaluation {

using Visit = std::function<void(int64_t row, int64_t column, double value)>;

/// Something to be timed.
struct Job {
  // Its dense operands to those of a round, as a solver does; not timed. They begin as those of round 0: whoever changes what a
  // statement reads may have to compute it first.
  std::function<void(int round)> change = {};
  std::function<void()> forget = {};            // drops the last result, where the next run would; not timed
  std::function<void()> run = {};               // collective
  std::function<void(const Visit&)> each = {};  // element of this rank's part of the result
  struct Moved {
    double bytes, imbalance;  // between ranks, in the last run; the most non-zeros of a piece over their mean
  };
  std::function<Moved()> moved = {};  // collective; where the system tells
  struct Parts {
    double compile = 0, exchange = 0, leaf = 0;  // seconds
  };
  std::function<Parts()> parts = {};  // collective; of the last run, where the system tells
  explicit operator bool() const { return bool(run); }
};

class System {
 public:
  virtual ~System() = default;
  virtual const char* name() const = 0;
  virtual std::string version() const = 0;
  /// Collective. Takes the matrix in: this is timed as set-up. Any number of times, dropped in between.
  virtual void bring(const Rows& rows) = 0;
  virtual void bring(const Entries&) {}
  /// Collective. The seconds that its own reader takes for a file, which it forgets; nothing where it has none.
  virtual double read(const std::string&) { return -1; }
  /// Collective. An empty one where the system has no such kernel.
  virtual Job job(const std::string& kernel, const Problem& problem) = 0;
  /// Forgets what it took.
  virtual void drop() = 0;
};

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline double over_ranks(double value, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return value;
}
template <class F>
double slowest(F&& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = now();
  f();
  return over_ranks(now() - begin, MPI_MAX);
}

/// Collective. What a product by rows moves where each rank gets so many values, and has so many non-zeros.
inline Job::Moved moved_by_rows(double ghosts, double non_zeros) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return {over_ranks(ghosts, MPI_SUM) * sizeof(double),
          over_ranks(non_zeros, MPI_MAX) * ranks / std::max(1.0, over_ranks(non_zeros, MPI_SUM))};
}

/// Bandwidth of a[i] = b[i] + s * c[i] over all ranks and threads, in bytes per second: the best of several runs.
inline double triad(int ranks) {
  int64_t n = 24'000'000 / ranks;
  std::vector<double> a(size_t(n), 0), b(size_t(n), 1), c(size_t(n), 2);
  double best = 1e9;
  for (int run = 0; run < 6; run++)
    best = std::min(best, slowest([&] {
                      double* to = a.data();
                      const double *x = b.data(), *y = c.data();
#pragma omp parallel for schedule(static)
                      for (int64_t i = 0; i < n; i++) to[i] = x[i] + 0.4 * y[i];
                    }));
  return 24.0 * double(n) * ranks / best;
}

/// What a kernel works on, over all ranks.
struct Sizes {
  double n, m;  // rows, and columns; of a tensor the sum of the dimensions behind the first
  double nnz;
  double products = 0;  // of SpGEMM
};
/// Bytes that a kernel moves at least: every array once, indices of four bytes.
inline double least_bytes(const std::string& kernel, const Sizes& of, double stored) {
  const auto [n, m, nnz, products] = of;
  if (kernel == "SpMV") return 12 * nnz + 12 * n + 8 * m;
  if (kernel == "SpMM") return 12 * nnz + 4 * n + 8 * (n + m) * columns;
  if (kernel == "SDDMM") return 24 * nnz + 8 * n + 8 * (n + m) * columns;
  if (kernel == "SpAdd3") return 12 * (3 * nnz + stored) + 16 * n;
  if (kernel == "SpGEMM") return 12 * (2 * nnz + stored) + 12 * n;
  if (kernel == "SpTTV") return 12 * nnz + 12 * stored;
  return 12 * nnz + 8 * (n + m) * columns;  // SpMTTKRP
}
/// Operations that its definition has for the elements that are stored.
inline double operations(const std::string& kernel, const Sizes& of) {
  if (kernel == "SpMM") return 2 * of.nnz * columns;
  if (kernel == "SDDMM") return of.nnz * (2 * columns + 1);
  if (kernel == "SpGEMM") return 2 * of.products;
  if (kernel == "SpMTTKRP") return 3 * of.nnz * columns;
  return 2 * of.nnz;  // of SpAdd3: each element of two matrices is added
}

/// A line of JSON, told by the first rank.
class Line {
 public:
  Line& operator()(const char* name, const std::string& words) { return add(name, '"' + words + '"'); }
  Line& operator()(const char* name, double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.15g", number);
    return add(name, std::isfinite(number) ? text : "1e300");
  }
  void tell(int rank) const {
    if (rank != 0) return;
    std::printf("{%s}\n", text_.c_str());
    std::fflush(stdout);
  }

 private:
  Line& add(const char* name, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + ('"' + std::string(name) + "\": ") + value;
    return *this;
  }
  std::string text_;
};

class Contest {
 public:
  Contest(int argc, char** argv) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    for (int a = 1; a + 1 < argc; a += 2) {
      std::string option = argv[a], value = argv[a + 1];
      if (option == "--kernels") kernels_ = listed(value);
      else if (option == "--inputs") inputs_ = listed(value);
      else if (option == "--scale") scale_ = std::stod(value);
      else if (option == "--warm") warm_ = std::stoi(value);
      else if (option == "--runs") runs_ = std::stoi(value);
      else if (option == "--seconds") seconds_ = std::stod(value);
      else if (option == "--expect") expect(value);
      else if (option == "--fresh") fresh_ = value == "1";
    }
  }

  void run(System& system) {
    double bandwidth = runs_ > 0 && !fresh_ ? triad(ranks_) : 0;
    for (const std::string& input : inputs_) {
      Problem problem{input, scale_, rank_, ranks_};
      if (fresh_) begin(system, problem, problem.rows());
      else if (problem.is_matrix()) measure(system, problem, problem.rows(), bandwidth);
      else measure(system, problem, problem.entries(), bandwidth);
    }
  }

 private:
  // Those of a result, over all ranks.
  struct Seen {
    double checksum = 0, magnitude = 0, stored = 0, difference = 0, rows = 0;
  };
  struct Times {
    std::vector<double> seconds;  // in order of size
    int tries = 0;
    double at(double part) const { return seconds[size_t(double(seconds.size() - 1) * part)]; }
    double spread() const { return (at(0.75) - at(0.25)) / at(0.5); }
  };

  static Sizes sizes_of(const std::string& kernel, const Rows& rows) {
    Sizes out{double(rows.n), double(rows.m), over_ranks(double(rows.nnz()), MPI_SUM)};
    if (kernel != "SpGEMM") return out;
    std::vector<int64_t> lengths(size_t(rows.n), 0);
    for (int64_t i = 0; i < rows.count(); i++)
      lengths[size_t(rows.rows.lo + i)] = rows.pos[size_t(i) + 1] - rows.pos[size_t(i)];
    MPI_Allreduce(MPI_IN_PLACE, lengths.data(), int(rows.n), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int32_t k : rows.crd) out.products += double(lengths[size_t(k)]);
    out.products = over_ranks(out.products, MPI_SUM);
    return out;
  }
  static Sizes sizes_of(const std::string&, const Entries& entries) {
    return {double(entries.dims[0]), double(entries.dims[1]) + double(entries.dims[2]),
            over_ranks(double(entries.values.size()), MPI_SUM)};
  }
  static bool can_compute(const std::string& kernel, const Rows& rows) {
    return kernel != "SpTTV" && kernel != "SpMTTKRP" && (kernel != "SpGEMM" || rows.n == rows.m);
  }
  static bool can_compute(const std::string& kernel, const Entries&) {
    return kernel == "SpTTV" || kernel == "SpMTTKRP";
  }

  template <class Data>
  void measure(System& system, const Problem& problem, const Data& data, double bandwidth) {
    double setup = slowest([&] { system.bring(data); });
    for (const std::string& kernel : kernels_) {
      if (!can_compute(kernel, data)) continue;
      Job job = system.job(kernel, problem);
      if (!job) continue;
      Line line;
      line("system", system.name())("version", system.version())("kernel", kernel)("input", problem.input);
      line("ranks", ranks_)("threads", omp_get_max_threads())("setup_ms", setup * 1e3);
      double first = slowest(job.run);
      Seen seen = look_at(job, Definition(kernel, problem, data));
      line("first_ms", first * 1e3)("checksum", seen.checksum)("magnitude", seen.magnitude)("stored", seen.stored);
      line("difference", seen.difference)("rows_compared", seen.rows);
      if (std::string why = wrong(kernel, seen); !why.empty()) line("wrong", why).tell(rank_);
      else if (runs_ == 0) line.tell(rank_);
      else time(job, kernel, seen, tell_work(line, kernel, sizes_of(kernel, data), seen.stored), bandwidth);
    }
    system.drop();
  }

  // The first kernel, in a process that has done nothing else: what its memory is at most beyond the input and what there was before,
  // and how long it takes until there is a first result, and later ones.
  void begin(System& system, const Problem& problem, const Rows& rows) {
    touch_memory(4 * (rows.values.size() * 12 + rows.pos.size() * 4));
    double before = settled_memory();
    forget_peak();
    double brought = slowest([&] { system.bring(rows); });
    Job job = system.job(kernels_[0], problem);
    if (!job) return;
    double first = slowest(job.run);
    Job::Parts parts = job.parts ? job.parts() : Job::Parts{};
    std::vector<double> later;
    for (int round = 1; round <= 9 && (round < 4 || later[0] * round < seconds_); round++)
      later.push_back(once(job, round));
    std::sort(later.begin(), later.end());
    double peak = over_ranks(peak_memory() - before, MPI_MAX);
    job = {};
    system.drop();
    double again = slowest([&] { system.bring(rows); });  // in memory that the process had before
    system.drop();
    double read = is_matrix_file(problem.input) ? system.read(problem.input) : -1;
    Line line;
    line("system", system.name())("version", system.version())("kernel", kernels_[0])("input", problem.input);
    line("ranks", ranks_)("threads", omp_get_max_threads())("peak_bytes", peak)("read_ms", read * 1e3);
    line("bring_ms", again * 1e3)("fresh_bring_ms", brought * 1e3)("first_ms", first * 1e3)(
        "ms", later[later.size() / 2] * 1e3);
    line("compile_ms", parts.compile * 1e3)("exchange_ms", parts.exchange * 1e3)("leaf_ms", parts.leaf * 1e3)
        .tell(rank_);
  }

  static Line& tell_work(Line& line, const std::string& kernel, const Sizes& sizes, double stored) {
    return line("bytes", least_bytes(kernel, sizes, stored))("operations", operations(kernel, sizes));
  }

  static double once(Job& job, int round) {
    if (job.change) job.change(round);
    if (job.forget) job.forget();
    return slowest(job.run);
  }

  static Seen look_at(const Job& job, Definition definition) {
    Seen out;
    job.each([&](int64_t row, int64_t column, double value) {
      double weighed = value * weight(row, column);
      out.checksum += weighed, out.magnitude += std::abs(weighed), out.stored++;
      definition.take(row, column, value);
    });
    for (double Seen::*sum : {&Seen::checksum, &Seen::magnitude, &Seen::stored})
      out.*sum = over_ranks(out.*sum, MPI_SUM);
    out.difference = definition.difference(), out.rows = double(definition.rows());
    return out;
  }
  static double checksum(const Job& job) {
    double out = 0;
    job.each([&](int64_t row, int64_t column, double value) { out += value * weight(row, column); });
    return over_ranks(out, MPI_SUM);
  }

  // In what a result is not what was expected; nothing where it is.
  std::string wrong(const std::string& kernel, const Seen& seen) const {
    constexpr double tolerance = 1e-10;
    char text[128] = "";
    auto expected = expected_.find(kernel);
    if (!(seen.difference < tolerance)) std::snprintf(text, sizeof text, "elements are off by %.1e", seen.difference);
    else if (expected != expected_.end() &&
             !(std::abs(seen.checksum - expected->second.first) <= tolerance * expected->second.second))
      std::snprintf(text, sizeof text, "the checksum is %.15g, not %.15g", seen.checksum, expected->second.first);
    return text;
  }

  void time(Job& job, const std::string& kernel, const Seen& seen, Line& line, double bandwidth) {
    int round = 1;
    for (double begin = now(); round < warm_;)
      if (double time = once(job, round++); over_ranks(now() - begin, MPI_MAX) + time > seconds_ / 4) break;
    // What is disturbed is measured again, where there is time for it: the calmest counts.
    Times best;
    int tries = 0;
    for (double begin = now();;) {
      Times times;
      double here = now();
      for (int k = 0; k < runs_; k++) {
        times.seconds.push_back(once(job, round++));
        double spent = over_ranks(now() - here, MPI_MAX);
        if ((k >= 4 && spent > seconds_) || (k >= 2 && spent > 4 * seconds_)) break;
      }
      std::sort(times.seconds.begin(), times.seconds.end());
      tries++;
      if (best.seconds.empty() || times.spread() < best.spread()) best = std::move(times);
      double spent = over_ranks(now() - begin, MPI_MAX), spread = over_ranks(best.spread(), MPI_MAX);
      if (spread < 0.1 || tries == 4 || spent * (1 + 1.0 / tries) > seconds_) break;
    }
    double last = checksum(job) / (job.change ? growth(round - 1) : 1);
    Job::Moved moved = job.moved ? job.moved() : Job::Moved{-1, -1};
    if (!(std::abs(last - seen.checksum) <= 1e-10 * seen.magnitude)) {
      line("wrong", "another result once operands changed").tell(rank_);
      return;
    }
    line("ms", best.at(0.5) * 1e3)("fastest_ms", best.seconds[0] * 1e3)("p95_ms", best.at(0.95) * 1e3);
    line("runs", double(best.seconds.size()))("tries", tries)("spread", best.spread())("triad", bandwidth);
    line("moved_bytes", moved.bytes)("imbalance", moved.imbalance).tell(rank_);
  }

  static std::vector<std::string> listed(const std::string& text) {
    std::vector<std::string> out;
    std::stringstream in(text);
    for (std::string each; std::getline(in, each, ',');) out.push_back(each);
    return out;
  }
  // SpMV=checksum:magnitude,...
  void expect(const std::string& text) {
    for (const std::string& each : listed(text)) {
      size_t equals = each.find('='), colon = each.find(':');
      expected_[each.substr(0, equals)] = {std::stod(each.substr(equals + 1)), std::stod(each.substr(colon + 1))};
    }
  }

  int rank_ = 0, ranks_ = 1, warm_ = 10, runs_ = 20;
  bool fresh_ = false;
  double scale_ = 1, seconds_ = 20;  // for the timed runs of a kernel, from the fifth on
  std::vector<std::string> kernels_{"SpMV", "SpMM", "SDDMM", "SpAdd3", "SpGEMM", "SpTTV", "SpMTTKRP"};
  std::vector<std::string> inputs_{"banded", "uniform", "rmat", "uniform3", "skewed3"};
  std::map<std::string, std::pair<double, double>> expected_;
};

}  // namespace evaluation
