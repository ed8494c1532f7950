// spdistal, default schedules and distributions.
#include <optional>
#include <spdistal/mpi.hpp>
#include <spdistal/spdistal.hpp>

#include "contest.hpp"

using namespace evaluation;
using namespace spdistal;

namespace {

// A dense operand: values are written where they lie.
class Operand {
 public:
  Operand(std::vector<int64_t> dims, int number)
      : tensor_(std::vector<Extent>(dims.begin(), dims.end()),
                Format(std::vector<LevelFormat>(dims.size(), LevelFormat(Dense)))),
        width_(dims.size() > 1 ? dims[1] : 1),
        number_(number) {
    tensor_.fill(0.0);
    for (const auto& [at, value] : tensor_.local()) {
      first_ = at[0];
      break;
    }
    change(0);
  }
  const Tensor<double>& tensor() const { return tensor_; }
  void change(int round) {
    std::span<const double> values = tensor_.values();
    auto* to = const_cast<double*>(values.data());
    const auto rows = int64_t(values.size()) / width_;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t k = 0; k < width_; k++) to[i * width_ + k] = dense_value(number_, first_ + i, k, round);
    tensor_.changed();
  }

 private:
  Tensor<double> tensor_;
  int64_t width_, first_ = 0;  // of this rank's rows
  int number_;
};

class Spdistal : public System {
 public:
  const char* name() const override { return "spdistal"; }
  std::string version() const override { return SPDISTAL_VERSION; }
  void bring(const Rows& rows) override { B_.emplace(tensor_of(rows)); }
  void bring(const Entries& entries) override {
    B_.emplace(Tensor<double>::from_coo_local({entries.dims[0], entries.dims[1], entries.dims[2]},
                                              {entries.at[0], entries.at[1], entries.at[2]}, entries.values,
                                              Format({Dense, Compressed, Compressed})));
  }
  double read(const std::string& path) override {
    return slowest([&] { (void)Tensor<double>::read(path, CSR); });
  }
  void drop() override { B_.reset(); }

  Job job(const std::string& kernel, const Problem& problem) override {
    Tensor<double> B = *B_;
    std::vector<int64_t> dims = B.dims();
    int64_t n = dims[0], m = dims[1];
    IndexVar i("i"), j("j"), k("k"), l("l");
    auto dense = [](std::vector<int64_t> sizes, int number) {
      return std::make_shared<Operand>(std::move(sizes), number);
    };
    if (kernel == "SpMV") {
      auto c = dense({m}, 1);
      Tensor<double> a({n}, {Dense});
      a(i) = B(i, j) * c->tensor()(j);
      return of(a, {c});
    }
    if (kernel == "SpMM") {
      auto C = dense({m, columns}, 2);
      Tensor<double> A({n, columns}, {Dense, Dense});
      A(i, k) = B(i, j) * C->tensor()(j, k);
      return of(A, {C});
    }
    if (kernel == "SDDMM") {
      auto C = dense({n, columns}, 3), D = dense({m, columns}, 4);
      Tensor<double> A({n, m}, CSR);
      A(i, j) = B(i, j) * C->tensor()(i, k) * D->tensor()(j, k);
      return of(A, {C, D});
    }
    if (kernel == "SpAdd3") {
      Tensor<double> C = tensor_of(problem.rows(1)), D = tensor_of(problem.rows(2)), A({n, m}, CSR);
      A(i, j) = B(i, j) + C(i, j) + D(i, j);
      return of(A, {});
    }
    if (kernel == "SpGEMM") {
      Tensor<double> A({n, m}, CSR);
      A(i, j) = B(i, k) * B(k, j);
      return of(A, {});
    }
    if (kernel == "SpTTV") {
      auto c = dense({dims[2]}, 5);
      Tensor<double> A({n, m}, CSR);
      A(i, j) = B(i, j, k) * c->tensor()(k);
      return of(A, {c});
    }
    auto C = dense({m, columns}, 6), D = dense({dims[2], columns}, 7);
    Tensor<double> A({n, columns}, {Dense, Dense});
    A(i, l) = B(i, j, k) * C->tensor()(j, l) * D->tensor()(k, l);
    return of(A, {C, D});
  }

 private:
  static Tensor<double> tensor_of(const Rows& rows) {
    return Tensor<double>::from_csr_local({rows.n, rows.m}, rows.rows.lo, rows.pos, rows.crd, rows.values, CSR);
  }
  static Job of(Tensor<double> A, std::vector<std::shared_ptr<Operand>> operands) {
    std::function<void(int)> change;
    if (!operands.empty())
      change = [operands](int round) {
        for (const auto& operand : operands) operand->change(round);
      };
    return {change,
            {},
            [A]() mutable { A.compute(); },
            [A](const Visit& visit) {
              for (const auto& [at, value] : A.local()) visit(at[0], at.size() > 1 ? at[1] : 0, value);
            },
            [A] {
              Report report = A.report();
              return Job::Moved{double(report.bytes_sent()), report.imbalance()};
            },
            [A] {
              Report report = A.report();
              double leaf = 0;
              for (const PieceReport& piece : report.pieces) leaf = std::max(leaf, piece.seconds);
              return Job::Parts{report.compile_seconds, report.exchange_seconds, leaf};
            }};
  }

  std::optional<Tensor<double>> B_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Runtime runtime(MPI_COMM_WORLD);
    Spdistal system;
    Contest(argc, argv).run(system);
  }
  MPI_Finalize();
}
