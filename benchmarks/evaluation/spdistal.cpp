// spdistal, default schedules and distributions.
#include <optional>
#include <spdistal/mpi.hpp>
#include <spdistal/spdistal.hpp>

#include "contest.hpp"

using namespace evaluation;
using namespace spdistal;

namespace {

// A dense operand whose values are written anew before each run.
class Changing {
 public:
  Changing(std::vector<int64_t> dims, int number)
      : tensor_(extents(dims), Format(std::vector(dims.size(), LevelFormat(Dense)))) {
    tensor_.fill([=](std::span<const int64_t> at) { return dense_value(number, at[0], at.size() > 1 ? at[1] : 0); });
    for (const auto& [at, value] : tensor_.local()) values_.push_back(value);
  }
  const Tensor<double>& tensor() const { return tensor_; }
  void change() { tensor_.set_values(values_); }

 private:
  static std::vector<Extent> extents(const std::vector<int64_t>& dims) { return {dims.begin(), dims.end()}; }
  Tensor<double> tensor_;
  std::vector<double> values_;
};

double weighed(const Tensor<double>& tensor) {
  double out = 0;
  for (const auto& [at, value] : tensor.local())
    out += value * weight(uint64_t(at[0]), at.size() > 1 ? uint64_t(at[1]) : 0);
  return out;
}

class Spdistal : public System {
 public:
  const char* name() const override { return "spdistal"; }
  void bring(const Rows& rows) override { B_.emplace(tensor_of(rows)); }
  void bring(const Entries& entries) override {
    B_.emplace(Tensor<double>::from_coo_local({entries.dims[0], entries.dims[1], entries.dims[2]},
                                              {entries.at[0], entries.at[1], entries.at[2]}, entries.values,
                                              Format({Dense, Compressed, Compressed})));
  }
  void drop() override { B_.reset(); }

  Job job(const std::string& kernel, const Problem& problem) override {
    Tensor<double> B = *B_;
    std::vector<int64_t> dims = B.dims();
    int64_t n = dims[0], m = dims[1];
    IndexVar i("i"), j("j"), k("k"), l("l");
    auto dense = [](std::vector<int64_t> sizes, int number) {
      return std::make_shared<Changing>(std::move(sizes), number);
    };
    if (kernel == "SpMV") {
      auto c = dense({m}, 1);
      Tensor<double> a({n}, {Dense});
      a(i) = B(i, j) * c->tensor()(j);
      return of(a, [c] { c->change(); });
    }
    if (kernel == "SpMM") {
      auto C = dense({m, columns}, 2);
      Tensor<double> A({n, columns}, {Dense, Dense});
      A(i, k) = B(i, j) * C->tensor()(j, k);
      return of(A, [C] { C->change(); });
    }
    if (kernel == "SDDMM") {
      auto C = dense({n, columns}, 3), D = dense({m, columns}, 4);
      Tensor<double> A({n, m}, CSR);
      A(i, j) = B(i, j) * C->tensor()(i, k) * D->tensor()(j, k);
      return of(A, [C, D] { C->change(), D->change(); });
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
      return of(A, [c] { c->change(); });
    }
    auto C = dense({m, columns}, 6), D = dense({dims[2], columns}, 7);
    Tensor<double> A({n, columns}, {Dense, Dense});
    A(i, l) = B(i, j, k) * C->tensor()(j, l) * D->tensor()(k, l);
    return of(A, [C, D] { C->change(), D->change(); });
  }

 private:
  static Tensor<double> tensor_of(const Rows& rows) {
    return Tensor<double>::from_csr_local({rows.n, rows.n}, rows.rows.lo, rows.pos, rows.crd, rows.values, CSR);
  }
  static Job of(Tensor<double> A, std::function<void()> change) {
    return {std::move(change), [A]() mutable { A.compute(); }, [A] { return weighed(A); },
            [A] { return double(A.local().size()); },
            [A] {
              Report report = A.report();
              return Job::Moved{double(report.bytes_sent()), report.imbalance()};
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
