// How every system is measured: each is a program that says what it can compute; here is all the rest. A line of JSON for
// each kernel and input goes to standard output.
//
//   evaluation_petsc --kernels SpMV,SpMM --inputs banded --scale 0.1 --warm 10 --runs 20
//
// Ranks are those of the launcher, threads those of OMP_NUM_THREADS.
#pragma once
#include <mpi.h>
#include <omp.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "inputs.hpp"

namespace evaluation {

/// Something to be timed.
struct Job {
  std::function<void()> change = {};      // its operands, as a solver does; not timed
  std::function<void()> run = {};         // collective
  std::function<double()> checksum = {};  // of this rank's part of the result
  std::function<double()> stored = {};    // elements of this rank's part, of sparse results
  struct Moved {
    double bytes, imbalance;  // between ranks, in the last run; the most non-zeros of a piece over their mean
  };
  std::function<Moved()> moved = {};  // collective; where the system tells
  explicit operator bool() const { return bool(run); }
};

/// What a job works on.
struct Problem {
  std::string input;
  double scale;
  int rank, ranks;

  Rows rows(int shift = 0) const { return matrix(input, scale, ranks, rank, shift); }
  Entries entries() const { return tensor(input, scale, ranks, rank); }
  bool is_matrix() const { return input.back() != '3' && !is_tensor_file(input); }
};

class System {
 public:
  virtual ~System() = default;
  virtual const char* name() const = 0;
  /// Collective. Takes the matrix in: this is timed as set-up. Any number of times, dropped in between.
  virtual void bring(const Rows& rows) = 0;
  virtual void bring(const Entries&) {}
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

/// Bytes that a kernel moves at least: every array once, indices of four bytes. `n` is the number of rows, of a tensor the sum of
/// its dimensions.
inline double least_bytes(const std::string& kernel, double n, double nnz, double stored) {
  if (kernel == "SpMV") return 12 * nnz + 20 * n;
  if (kernel == "SpMM") return 12 * nnz + 4 * n + 16 * n * columns;
  if (kernel == "SDDMM") return 24 * nnz + 8 * n + 16 * n * columns;
  if (kernel == "SpAdd3") return 12 * (3 * nnz + stored) + 16 * n;
  if (kernel == "SpGEMM") return 12 * (2 * nnz + stored) + 12 * n;
  if (kernel == "SpTTV") return 12 * nnz + 12 * stored;
  return 12 * nnz + 8 * n * columns;  // SpMTTKRP
}

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
    }
  }

  void run(System& system) {
    double bandwidth = triad(ranks_);
    for (const std::string& input : inputs_) {
      Problem problem{input, scale_, rank_, ranks_};
      Setup setup;
      double nnz = 0, n = 0;
      if (problem.is_matrix()) {
        Rows rows = problem.rows();
        setup = bring(system, rows);
        nnz = over_ranks(double(rows.nnz()), MPI_SUM), n = double(rows.n);
      } else {
        Entries entries = problem.entries();
        setup = bring(system, entries);
        nnz = over_ranks(double(entries.values.size()), MPI_SUM);
        for (int64_t size : entries.dims) n += double(size);
      }
      for (const std::string& kernel : kernels_) {
        bool of_tensors = kernel == "SpTTV" || kernel == "SpMTTKRP";
        if (of_tensors == problem.is_matrix()) continue;
        if (Job job = system.job(kernel, problem)) time(system, kernel, input, job, setup, bandwidth, n, nnz);
      }
      system.drop();
    }
  }

 private:
  // In memory that the process takes for the first time, which a virtual machine may be slow to give, and once more.
  struct Setup {
    double fresh = 0, again = 0;  // seconds
  };
  template <class Data>
  static Setup bring(System& system, const Data& data) {
    Setup out;
    out.fresh = slowest([&] { system.bring(data); });
    system.drop();
    out.again = slowest([&] { system.bring(data); });
    return out;
  }

  static std::vector<std::string> listed(const std::string& text) {
    std::vector<std::string> out;
    std::stringstream in(text);
    for (std::string each; std::getline(in, each, ',');) out.push_back(each);
    return out;
  }

  void time(System& system, const std::string& kernel, const std::string& input, Job& job, const Setup& setup,
            double bandwidth, double n, double nnz) {
    auto once = [&] {
      if (job.change) job.change();
      return slowest(job.run);
    };
    double first = once();
    double checksum = over_ranks(job.checksum(), MPI_SUM);
    double stored = over_ranks(job.stored ? job.stored() : 0, MPI_SUM);
    std::vector<double> times;
    double begin = now();
    for (int k = 1; k < warm_; k++)
      if (double time = once(); over_ranks(now() - begin, MPI_MAX) + time > seconds_ / 4) break;
    begin = now();
    for (int k = 0; k < runs_; k++) {
      times.push_back(once());
      if (k >= 4 && over_ranks(now() - begin, MPI_MAX) > seconds_) break;
    }
    std::sort(times.begin(), times.end());
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    double peak = over_ranks(double(usage.ru_maxrss) * 1024, MPI_MAX);
    Job::Moved moved = job.moved ? job.moved() : Job::Moved{-1, -1};
    if (rank_ != 0) return;
    std::printf(
        "{\"system\": \"%s\", \"kernel\": \"%s\", \"input\": \"%s\", \"ranks\": %d, \"threads\": %d, \"ms\": %.4f, "
        "\"fastest_ms\": %.4f, \"p95_ms\": %.4f, \"first_ms\": %.3f, \"setup_ms\": %.3f, \"fresh_setup_ms\": %.3f, "
        "\"bytes\": %.0f, "
        "\"triad\": %.4g, \"checksum\": %.15g, \"stored\": %.0f, \"peak_bytes\": %.0f, "
        "\"moved_bytes\": %.0f, \"imbalance\": %.3f}\n",
        system.name(), kernel.c_str(), input.c_str(), ranks_, omp_get_max_threads(), times[times.size() / 2] * 1e3,
        times[0] * 1e3, times[times.size() * 95 / 100] * 1e3, first * 1e3, setup.again * 1e3, setup.fresh * 1e3,
        least_bytes(kernel, n, nnz, stored), bandwidth, checksum, stored, peak, moved.bytes, moved.imbalance);
    std::fflush(stdout);
  }

  int rank_ = 0, ranks_ = 1, warm_ = 10, runs_ = 20;
  double scale_ = 1, seconds_ = 20;  // for the timed runs of a kernel, from the fifth on
  std::vector<std::string> kernels_{"SpMV", "SpMM", "SDDMM", "SpAdd3", "SpGEMM", "SpTTV", "SpMTTKRP"};
  std::vector<std::string> inputs_{"banded", "uniform", "rmat", "uniform3", "skewed3"};
};

}  // namespace evaluation
