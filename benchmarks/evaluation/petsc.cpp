// PETSc: matrices by rows over ranks. It has no SDDMM and no tensors.
#include <petscmat.h>

#include <memory>

#include "contest.hpp"

using namespace evaluation;

namespace {

void call(PetscErrorCode code) { PetscCallAbort(PETSC_COMM_WORLD, code); }

// Destroyed with the last who has it.
using Matrix = std::shared_ptr<_p_Mat>;
Matrix owned(Mat matrix) {
  return Matrix(matrix, [](Mat gone) { call(MatDestroy(&gone)); });
}

Matrix matrix_of(const Rows& rows) {
  std::vector<PetscInt> pos(rows.pos.begin(), rows.pos.end()), crd(rows.crd.begin(), rows.crd.end());
  Mat out;
  call(MatCreate(PETSC_COMM_WORLD, &out));
  call(MatSetSizes(out, PetscInt(rows.count()), PetscInt(rows.count()), PetscInt(rows.n), PetscInt(rows.n)));
  call(MatSetType(out, MATAIJ));
  call(MatSeqAIJSetPreallocationCSR(out, pos.data(), crd.data(), rows.values.data()));
  call(MatMPIAIJSetPreallocationCSR(out, pos.data(), crd.data(), rows.values.data()));
  return owned(out);
}

double weighed(Mat matrix) {
  PetscInt lo, hi, count;
  call(MatGetOwnershipRange(matrix, &lo, &hi));
  double out = 0;
  for (PetscInt i = lo; i < hi; i++) {
    const PetscInt* crd;
    const PetscScalar* values;
    call(MatGetRow(matrix, i, &count, &crd, &values));
    for (PetscInt p = 0; p < count; p++) out += values[p] * weight(uint64_t(i), uint64_t(crd[p]));
    call(MatRestoreRow(matrix, i, &count, &crd, &values));
  }
  return out;
}
double stored(Mat matrix) {
  MatInfo info;
  call(MatGetInfo(matrix, MAT_LOCAL, &info));
  return info.nz_used;
}

class Petsc : public System {
 public:
  const char* name() const override { return "PETSc"; }
  void bring(const Rows& rows) override { B_ = matrix_of(rows), rows_ = rows.rows, n_ = rows.n; }
  void drop() override { B_.reset(); }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (kernel == "SpMV") return vector();
    if (kernel == "SpMM") return factor();
    auto A = std::make_shared<Matrix>();
    auto result = [=](std::function<void()> run) {
      return Job{{}, std::move(run), [=] { return weighed(A->get()); }, [=] { return stored(A->get()); }};
    };
    if (kernel == "SpAdd3") {
      Matrix B = B_, C = matrix_of(problem.rows(1)), D = matrix_of(problem.rows(2));
      return result([=] {
        Mat sum;
        call(MatDuplicate(B.get(), MAT_COPY_VALUES, &sum));
        call(MatAXPY(sum, 1, C.get(), DIFFERENT_NONZERO_PATTERN));
        call(MatAXPY(sum, 1, D.get(), DIFFERENT_NONZERO_PATTERN));
        *A = owned(sum);
      });
    }
    if (kernel == "SpGEMM")
      return result([=, B = B_] {
        Mat product;
        call(MatMatMult(B.get(), B.get(), MAT_INITIAL_MATRIX, PETSC_DEFAULT, &product));
        *A = owned(product);
      });
    return {};
  }

 private:
  Job vector() {
    Vec c, a;
    call(MatCreateVecs(B_.get(), &c, &a));
    auto write = [=, this] {
      PetscScalar* values;
      call(VecGetArray(c, &values));
      for (int64_t i = 0; i < rows_.size(); i++) values[i] = dense_value(1, rows_.lo + i, 0);
      call(VecRestoreArray(c, &values));
    };
    return {write, [=, B = B_] { call(MatMult(B.get(), c, a)); },
            [=, this] {
              const PetscScalar* values;
              double out = 0;
              call(VecGetArrayRead(a, &values));
              for (int64_t i = 0; i < rows_.size(); i++) out += values[i] * weight(uint64_t(rows_.lo + i), 0);
              call(VecRestoreArrayRead(a, &values));
              return out;
            }};
  }
  // Dense matrices of PETSc are stored by columns.
  Job factor() {
    Mat C;
    call(MatCreateDense(PETSC_COMM_WORLD, PetscInt(rows_.size()), PETSC_DECIDE, PetscInt(n_), columns, nullptr, &C));
    auto write = [=, this] {
      PetscScalar* values;
      call(MatDenseGetArray(C, &values));
      for (int64_t i = 0; i < rows_.size(); i++)
        for (int k = 0; k < columns; k++) values[k * rows_.size() + i] = dense_value(2, rows_.lo + i, k);
      call(MatDenseRestoreArray(C, &values));
    };
    write();  // before it is used at all
    auto A = std::make_shared<Mat>(nullptr);
    return {write,
            [=, B = B_] {
              call(MatMatMult(B.get(), C, *A ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, A.get()));
            },
            [=, this] {
              const PetscScalar* results;
              double out = 0;
              call(MatDenseGetArrayRead(*A, &results));
              for (int64_t i = 0; i < rows_.size(); i++)
                for (int k = 0; k < columns; k++)
                  out += results[k * rows_.size() + i] * weight(uint64_t(rows_.lo + i), uint64_t(k));
              call(MatDenseRestoreArrayRead(*A, &results));
              return out;
            }};
  }

  Matrix B_;
  Block rows_{0, 0};
  int64_t n_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  call(PetscInitializeNoArguments());
  {
    Petsc system;
    Contest(argc, argv).run(system);
  }
  call(PetscFinalize());
}
