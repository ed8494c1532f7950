// Eigen: matrices of one process, with OpenMP where it has it.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <memory>

#include "contest.hpp"

using namespace evaluation;

namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Factor = Eigen::Matrix<double, Eigen::Dynamic, columns, Eigen::RowMajor>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;

Sparse sparse_of(const Rows& rows) {
  std::vector<int> pos(rows.pos.begin(), rows.pos.end());
  return Eigen::Map<const Sparse>(rows.n, rows.m, rows.nnz(), pos.data(), rows.crd.data(), rows.values.data());
}
template <class D>
void write(D& values, int number, int round) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < values.rows(); i++)
    for (int64_t k = 0; k < values.cols(); k++) values(i, k) = dense_value(number, i, k, round);
}
template <class D>
void each(const D& values, const Visit& visit) {
  for (int64_t i = 0; i < values.rows(); i++)
    for (int64_t k = 0; k < values.cols(); k++) visit(i, k, values(i, k));
}
void each(const Sparse& values, const Visit& visit) {
  for (int64_t i = 0; i < values.outerSize(); i++)
    for (Sparse::InnerIterator at(values, i); at; ++at) visit(i, at.col(), at.value());
}

class EigenSystem : public System {
 public:
  const char* name() const override { return "Eigen"; }
  std::string version() const override {
    return std::to_string(EIGEN_WORLD_VERSION) + '.' + std::to_string(EIGEN_MAJOR_VERSION) + '.' +
           std::to_string(EIGEN_MINOR_VERSION);
  }
  void bring(const Rows& rows) override { B_ = sparse_of(rows); }
  void drop() override { B_ = Sparse(); }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (problem.ranks > 1) return {};
    if (kernel == "SpMV") return product<Vector>(1, 1);
    if (kernel == "SpMM") return product<Factor>(columns, 2);
    auto A = std::make_shared<Sparse>();
    auto result = [=](std::function<void()> run) {
      return Job{{}, [=] { *A = Sparse(); }, std::move(run), [=](const Visit& visit) { each(*A, visit); }};
    };
    if (kernel == "SpAdd3") {
      auto C = std::make_shared<Sparse>(sparse_of(problem.rows(1))),
           D = std::make_shared<Sparse>(sparse_of(problem.rows(2)));
      return result([=, this] { *A = B_ + *C + *D; });
    }
    if (kernel == "SpGEMM") return result([=, this] { *A = B_ * B_; });
    return {};
  }

 private:
  template <class D>
  Job product(int64_t width, int number) {
    auto C = std::make_shared<D>(B_.cols(), width), A = std::make_shared<D>(B_.rows(), width);
    write(*C, number, 0);
    return {[=](int round) { write(*C, number, round); },
            {},
            [=, this] { A->noalias() = B_ * *C; },
            [=](const Visit& visit) { each(*A, visit); }};
  }

  Sparse B_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  EigenSystem system;
  Contest(argc, argv).run(system);
  MPI_Finalize();
}
