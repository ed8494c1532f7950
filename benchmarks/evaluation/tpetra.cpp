// Trilinos' Tpetra: matrices by rows over ranks. It has no SDDMM and no tensors.
#include <TpetraExt_MatrixMatrix.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <memory>

#include "contest.hpp"

using namespace evaluation;

namespace {

using Local = int;
using Global = long long;  // what Debian's build has
using Map = Tpetra::Map<Local, Global>;
using Sparse = Tpetra::CrsMatrix<double, Local, Global>;
using Dense = Tpetra::MultiVector<double, Local, Global>;
using Teuchos::RCP;
using Teuchos::rcp;

RCP<Sparse> matrix_of(const Rows& rows, const RCP<const Map>& map) {
  std::vector<size_t> counts;
  for (int64_t i = 0; i < rows.count(); i++) counts.push_back(size_t(rows.pos[size_t(i) + 1] - rows.pos[size_t(i)]));
  RCP<Sparse> out = rcp(new Sparse(map, Teuchos::ArrayView<const size_t>(counts)));
  std::vector<Global> crd;
  for (int64_t i = 0; i < rows.count(); i++) {
    int64_t lo = rows.pos[size_t(i)], hi = rows.pos[size_t(i) + 1];
    crd.assign(rows.crd.begin() + lo, rows.crd.begin() + hi);
    out->insertGlobalValues(rows.rows.lo + i, Local(crd.size()), rows.values.data() + lo, crd.data());
  }
  out->fillComplete(map, map);
  return out;
}

// The sum of f(row, column, value) over this rank's rows.
template <class F>
double sum(const Sparse& matrix, Block rows, F&& f) {
  double out = 0;
  RCP<const Map> crd = matrix.getColMap();
  for (int64_t i = rows.lo; i < rows.hi; i++) {
    Sparse::local_inds_host_view_type at;
    Sparse::values_host_view_type values;
    matrix.getLocalRowView(Local(i - rows.lo), at, values);
    for (size_t p = 0; p < at.extent(0); p++) out += f(i, crd->getGlobalElement(at(p)), values(p));
  }
  return out;
}

class TpetraSystem : public System {
 public:
  const char* name() const override { return "Tpetra"; }
  void bring(const Rows& rows) override {
    map_ = rcp(new Map(Tpetra::global_size_t(rows.n), size_t(rows.count()), 0, Tpetra::getDefaultComm()));
    rows_ = rows.rows;
    B_ = matrix_of(rows, map_);
  }
  void drop() override { B_ = Teuchos::null; }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (kernel == "SpMV") return product(1, 1);
    if (kernel == "SpMM") return product(columns, 2);
    auto A = std::make_shared<RCP<Sparse>>();
    auto result = [=, rows = rows_](std::function<void()> run) {
      auto weighed = [](int64_t i, int64_t j, double value) { return value * weight(uint64_t(i), uint64_t(j)); };
      auto one = [](int64_t, int64_t, double) { return 1.0; };
      return Job{{}, std::move(run), [=] { return sum(**A, rows, weighed); }, [=] { return sum(**A, rows, one); }};
    };
    if (kernel == "SpAdd3") {
      RCP<Sparse> B = B_, C = matrix_of(problem.rows(1), map_), D = matrix_of(problem.rows(2), map_);
      return result([=] {
        RCP<Sparse> two = Tpetra::MatrixMatrix::add(1.0, false, *B, 1.0, false, *C);
        *A = Tpetra::MatrixMatrix::add(1.0, false, *two, 1.0, false, *D);
      });
    }
    if (kernel == "SpGEMM")
      return result([=, B = B_, map = map_] {
        *A = rcp(new Sparse(map, 0));
        Tpetra::MatrixMatrix::Multiply(*B, false, *B, false, **A);
      });
    return {};
  }

 private:
  Job product(int width, int number) {
    auto C = std::make_shared<Dense>(map_, width), A = std::make_shared<Dense>(map_, width);
    auto write = [=, this] {
      auto values = C->getLocalViewHost(Tpetra::Access::OverwriteAll);
      for (int64_t i = 0; i < rows_.size(); i++)
        for (int k = 0; k < width; k++) values(size_t(i), size_t(k)) = dense_value(number, rows_.lo + i, k);
    };
    return {write, [=, B = B_] { B->apply(*C, *A); },
            [=, this] {
              auto values = A->getLocalViewHost(Tpetra::Access::ReadOnly);
              double out = 0;
              for (int64_t i = 0; i < rows_.size(); i++)
                for (int k = 0; k < width; k++)
                  out += values(size_t(i), size_t(k)) * weight(uint64_t(rows_.lo + i), uint64_t(k));
              return out;
            }};
  }

  RCP<const Map> map_;
  RCP<Sparse> B_;
  Block rows_{0, 0};
};

}  // namespace

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  TpetraSystem system;
  Contest(argc, argv).run(system);
}
