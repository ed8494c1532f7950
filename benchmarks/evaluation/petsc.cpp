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
  std::vector<PetscInt> pos(rows.pos.begin(), rows.pos.end()), wide;
  const PetscInt* crd = nullptr;  // without a copy, where they have the width
  if constexpr (std::is_same_v<PetscInt, int32_t>) crd = rows.crd.data();
  else wide.assign(rows.crd.begin(), rows.crd.end()), crd = wide.data();
  Mat out;
  call(MatCreate(PETSC_COMM_WORLD, &out));
  call(
      MatSetSizes(out, PetscInt(rows.count()), PetscInt(rows.operand_rows.size()), PetscInt(rows.n), PetscInt(rows.m)));
  call(MatSetType(out, MATAIJ));
  call(MatSeqAIJSetPreallocationCSR(out, pos.data(), crd, rows.values.data()));
  call(MatMPIAIJSetPreallocationCSR(out, pos.data(), crd, rows.values.data()));
  return owned(out);
}

void each(Mat matrix, const Visit& visit) {
  PetscInt lo, hi, count;
  call(MatGetOwnershipRange(matrix, &lo, &hi));
  for (PetscInt i = lo; i < hi; i++) {
    const PetscInt* crd;
    const PetscScalar* values;
    call(MatGetRow(matrix, i, &count, &crd, &values));
    for (PetscInt p = 0; p < count; p++) visit(i, crd[p], values[p]);
    call(MatRestoreRow(matrix, i, &count, &crd, &values));
  }
}

// What is gathered of the operand with so many columns: the off-diagonal part of a rank has a column for each entry that others own.
Job::Moved moved(Mat matrix, int width) {
  int ranks;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  MatInfo info;
  call(MatGetInfo(matrix, MAT_LOCAL, &info));
  PetscInt rows = 0, ghosts = 0;
  if (ranks > 1) {
    Mat own, others;
    const PetscInt* columns_of_others;
    call(MatMPIAIJGetSeqAIJ(matrix, &own, &others, &columns_of_others));
    call(MatGetSize(others, &rows, &ghosts));
  }
  return moved_by_rows(double(ghosts) * width, info.nz_used);
}

class Petsc : public System {
 public:
  const char* name() const override { return "PETSc"; }
  std::string version() const override {
    return std::to_string(PETSC_VERSION_MAJOR) + '.' + std::to_string(PETSC_VERSION_MINOR) + '.' +
           std::to_string(PETSC_VERSION_SUBMINOR);
  }
  void bring(const Rows& rows) override {
    B_ = matrix_of(rows), rows_ = rows.rows, operand_rows_ = rows.operand_rows, m_ = rows.m;
  }
  void drop() override { B_.reset(); }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (kernel == "SpMV") return vector();
    if (kernel == "SpMM") return factor();
    auto A = std::make_shared<Matrix>();
    auto result = [=](std::function<void()> run) {
      return Job{{}, [=] { A->reset(); }, std::move(run), [=](const Visit& visit) { each(A->get(), visit); }};
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
    auto write = [=, rows = operand_rows_](int round) {
      PetscScalar* values;
      call(VecGetArray(c, &values));
      for (int64_t i = 0; i < rows.size(); i++) values[i] = dense_value(1, rows.lo + i, 0, round);
      call(VecRestoreArray(c, &values));
    };
    write(0);
    return {write,
            {},
            [=, B = B_] { call(MatMult(B.get(), c, a)); },
            [=, rows = rows_](const Visit& visit) {
              const PetscScalar* values;
              call(VecGetArrayRead(a, &values));
              for (int64_t i = 0; i < rows.size(); i++) visit(rows.lo + i, 0, values[i]);
              call(VecRestoreArrayRead(a, &values));
            },
            [B = B_] { return moved(B.get(), 1); }};
  }
  // Dense matrices of PETSc are stored by columns.
  Job factor() {
    Mat C;
    call(MatCreateDense(PETSC_COMM_WORLD, PetscInt(operand_rows_.size()), PETSC_DECIDE, PetscInt(m_), columns, nullptr,
                        &C));
    auto A = std::make_shared<Mat>(nullptr);
    auto write = [=, rows = operand_rows_](int round) {
      PetscScalar* values;
      call(MatDenseGetArray(C, &values));
      for (int k = 0; k < columns; k++)
        for (int64_t i = 0; i < rows.size(); i++) values[k * rows.size() + i] = dense_value(2, rows.lo + i, k, round);
      call(MatDenseRestoreArray(C, &values));
    };
    write(0);
    return {write,
            {},
            [=, B = B_] {
              call(MatMatMult(B.get(), C, *A ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, A.get()));
            },
            [=, rows = rows_](const Visit& visit) {
              const PetscScalar* values;
              call(MatDenseGetArrayRead(*A, &values));
              for (int64_t i = 0; i < rows.size(); i++)
                for (int k = 0; k < columns; k++) visit(rows.lo + i, k, values[k * rows.size() + i]);
              call(MatDenseRestoreArrayRead(*A, &values));
            },
            [B = B_] { return moved(B.get(), columns); }};
  }

  Matrix B_;
  Block rows_{0, 0}, operand_rows_{0, 0};
  int64_t m_ = 0;
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
