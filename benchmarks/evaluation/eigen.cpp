// Eigen: matrices of one process, with OpenMP where it has it.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <memory>

#include "contest.hpp"

using namespace evaluation;

namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Factor = Eigen::Matrix<double, Eigen::Dynamic, columns, Eigen::RowMajor>;

Sparse sparse_of(const Rows& rows) {
  std::vector<int> pos(rows.pos.begin(), rows.pos.end());
  return Eigen::Map<const Sparse>(rows.n, rows.n, rows.nnz(), pos.data(), rows.crd.data(), rows.values.data());
}
template <class D>
std::shared_ptr<D> dense(int64_t rows, int64_t width, int number) {
  auto out = std::make_shared<D>(rows, width);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < width; k++) (*out)(i, k) = dense_value(number, i, k);
  return out;
}
template <class D>
double weighed(const D& values) {
  double out = 0;
  for (int64_t i = 0; i < values.rows(); i++)
    for (int64_t k = 0; k < values.cols(); k++) out += values(i, k) * weight(uint64_t(i), uint64_t(k));
  return out;
}
double weighed(const Sparse& values) {
  double out = 0;
  for (int64_t i = 0; i < values.outerSize(); i++)
    for (Sparse::InnerIterator at(values, i); at; ++at) out += at.value() * weight(uint64_t(i), uint64_t(at.col()));
  return out;
}

class EigenSystem : public System {
 public:
  const char* name() const override { return "Eigen"; }
  void bring(const Rows& rows) override { B_ = sparse_of(rows); }
  void drop() override { B_ = Sparse(); }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (problem.ranks > 1) return {};
    if (kernel == "SpMV") {
      using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;
      auto c = dense<Vector>(B_.cols(), 1, 1), a = std::make_shared<Vector>(B_.rows(), 1);
      return {{}, [=, this] { a->noalias() = B_ * *c; }, [=] { return weighed(*a); }};
    }
    if (kernel == "SpMM") {
      auto C = dense<Factor>(B_.cols(), columns, 2), A = std::make_shared<Factor>(B_.rows(), columns);
      return {{}, [=, this] { A->noalias() = B_ * *C; }, [=] { return weighed(*A); }};
    }
    auto A = std::make_shared<Sparse>();
    auto result = [=](std::function<void()> run) {
      return Job{{}, std::move(run), [=] { return weighed(*A); }, [=] { return double(A->nonZeros()); }};
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
  Sparse B_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  EigenSystem system;
  Contest(argc, argv).run(system);
  MPI_Finalize();
}
