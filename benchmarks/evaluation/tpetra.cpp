// Trilinos' Tpetra: matrices by rows over ranks. It has no SDDMM and no tensors.
#include <TpetraExt_MatrixMatrix.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Vector.hpp>
#include <Tpetra_Version.hpp>
#include <memory>

#include "contest.hpp"

using namespace evaluation;

namespace {

using Local = int;
using Global = long long;  // what Debian's build has
using Map = Tpetra::Map<Local, Global>;
using Sparse = Tpetra::CrsMatrix<double, Local, Global>;
using Dense = Tpetra::MultiVector<double, Local, Global>;
using Vector = Tpetra::Vector<double, Local, Global>;
using Teuchos::RCP;
using Teuchos::rcp;

RCP<const Map> map_of(int64_t size, Block own) {
  return rcp(new Map(Tpetra::global_size_t(size), size_t(own.size()), 0, Tpetra::getDefaultComm()));
}

RCP<Sparse> matrix_of(const Rows& rows, const RCP<const Map>& operand_map, const RCP<const Map>& map) {
  std::vector<size_t> counts;
  for (int64_t i = 0; i < rows.count(); i++) counts.push_back(size_t(rows.pos[size_t(i) + 1] - rows.pos[size_t(i)]));
  RCP<Sparse> out = rcp(new Sparse(map, Teuchos::ArrayView<const size_t>(counts)));
  std::vector<Global> crd;
  for (int64_t i = 0; i < rows.count(); i++) {
    int64_t lo = rows.pos[size_t(i)], hi = rows.pos[size_t(i) + 1];
    crd.assign(rows.crd.begin() + lo, rows.crd.begin() + hi);
    out->insertGlobalValues(rows.rows.lo + i, Local(crd.size()), rows.values.data() + lo, crd.data());
  }
  out->fillComplete(operand_map, map);
  return out;
}

void each(const Sparse& matrix, Block rows, const Visit& visit) {
  RCP<const Map> crd = matrix.getColMap();
  for (int64_t i = rows.lo; i < rows.hi; i++) {
    Sparse::local_inds_host_view_type at;
    Sparse::values_host_view_type values;
    matrix.getLocalRowView(Local(i - rows.lo), at, values);
    for (size_t p = 0; p < at.extent(0); p++) visit(i, crd->getGlobalElement(at(p)), values(p));
  }
}

class TpetraSystem : public System {
 public:
  const char* name() const override { return "Tpetra"; }
  std::string version() const override { return Tpetra::version(); }
  void bring(const Rows& rows) override {
    map_ = map_of(rows.n, rows.rows), operand_map_ = map_of(rows.m, rows.operand_rows);
    rows_ = rows.rows, operand_rows_ = rows.operand_rows;
    B_ = matrix_of(rows, operand_map_, map_);
  }
  void drop() override { B_ = Teuchos::null; }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (kernel == "SpMV") return product(std::make_shared<Vector>(operand_map_), std::make_shared<Vector>(map_), 1);
    if (kernel == "SpMM")
      return product(std::make_shared<Dense>(operand_map_, columns), std::make_shared<Dense>(map_, columns), 2);
    auto A = std::make_shared<RCP<Sparse>>(), two = std::make_shared<RCP<Sparse>>();
    auto result = [=, rows = rows_](std::function<void()> run) {
      return Job{{},
                 [=] { *A = Teuchos::null, *two = Teuchos::null; },
                 std::move(run),
                 [=](const Visit& visit) { each(**A, rows, visit); }};
    };
    if (kernel == "SpAdd3") {
      RCP<Sparse> B = B_, C = matrix_of(problem.rows(1), operand_map_, map_),
                  D = matrix_of(problem.rows(2), operand_map_, map_);
      return result([=] {
        *two = Tpetra::MatrixMatrix::add(1.0, false, *B, 1.0, false, *C);
        *A = Tpetra::MatrixMatrix::add(1.0, false, **two, 1.0, false, *D);
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
  // Of vectors, or of several columns.
  template <class D>
  Job product(std::shared_ptr<D> C, std::shared_ptr<D> A, int number) {
    auto write = [=, rows = operand_rows_](int round) {
      auto values = C->getLocalViewHost(Tpetra::Access::OverwriteAll);
      for (size_t k = 0; k < values.extent(1); k++)
        for (int64_t i = 0; i < rows.size(); i++)
          values(size_t(i), k) = dense_value(number, rows.lo + i, int64_t(k), round);
    };
    write(0);
    return {write,
            {},
            [=, B = B_] { B->apply(*C, *A); },
            [=, rows = rows_](const Visit& visit) {
              auto values = A->getLocalViewHost(Tpetra::Access::ReadOnly);
              for (int64_t i = 0; i < rows.size(); i++)
                for (size_t k = 0; k < values.extent(1); k++) visit(rows.lo + i, int64_t(k), values(size_t(i), k));
            },
            [=, B = B_] {
              auto importer = B->getCrsGraph()->getImporter();
              double ghosts = importer.is_null() ? 0 : double(importer->getNumRemoteIDs());
              return moved_by_rows(ghosts * double(C->getNumVectors()), double(B->getNodeNumEntries()));
            }};
  }

  RCP<const Map> map_, operand_map_;
  RCP<Sparse> B_;
  Block rows_{0, 0}, operand_rows_{0, 0};
};

}  // namespace

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  TpetraSystem system;
  Contest(argc, argv).run(system);
}
