// Tensors in programs that use PETSc: the rows that each rank has as a Mat, dense vectors as a Vec. The library knows nothing of
// PETSc; whoever includes this has it, real or complex, initialised. All calls are collective. Not part of spdistal.hpp.
//
//   petsc::Matrix A(B);                     // B in rows, one block on each rank: where they live unless somebody says otherwise
//   petsc::Vector x(c), y(A.rows());
//   MatMult(A, x, y);
//   petsc::assign(a, y);
#pragma once
#include <petscmat.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spdistal/mpi.hpp"
#include "spdistal/tensor.hpp"

namespace spdistal::petsc {

/// Some of consecutive indices: those of this rank, and of how many.
struct BlockOfRank {
  int64_t first = 0, count = 0, all = 0;
};

namespace detail {

inline void check(PetscErrorCode code, const char* call) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw SystemError(std::string("PETSc failed in ") + call, {}, text ? text : "");
}

/// Throws where any rank finds something wrong.
inline void agree(MPI_Comm ranks, bool right, const std::string& message, const std::string& hint) {
  int mine = right, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, ranks);
  if (!all) throw UserError(message, hint);
}

inline PetscInt index(int64_t number) {
  if (number > int64_t(PETSC_MAX_INT))
    throw UserError("PETSc counts to " + std::to_string(PETSC_MAX_INT) + " here, not to " + std::to_string(number),
                    "PETSc with indices of 64 bits (--with-64-bit-indices) counts further");
  return PetscInt(number);
}

/// Where this rank's block of a dimension lies: of equal sizes, the last ones smaller.
inline BlockOfRank block(MPI_Comm ranks, int64_t size) {
  int rank = 0, count = 1;
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &count);
  const int64_t each = (size + count - 1) / count, first = std::min(size, rank * each);
  return {first, std::min(size, first + each) - first, size};
}

/// That the ranks of both are the same, and that this rank's piece is its block of the first dimension.
template <class T>
BlockOfRank block_of(MPI_Comm ranks, const Tensor<T>& tensor, int64_t count) {
  int mine = 0, all = 1;
  MPI_Comm_rank(ranks, &mine);
  MPI_Comm_size(ranks, &all);
  agree(ranks, mine == spdistal::rank() && all == spdistal::ranks(),
        "the communicator of PETSc has other ranks than spdistal",
        "give the one that the Runtime was made of, or PETSC_COMM_WORLD");
  const BlockOfRank out = block(ranks, tensor.dims()[0]);
  bool inside = count == out.count;
  for (auto [at, value] : tensor.local()) {
    inside = inside && at[0] >= out.first && at[0] < out.first + out.count;
    break;  // they come in order
  }
  agree(ranks, inside, "the tensor does not lie in blocks of rows, one on each rank",
        "that is where a tensor lives without a distribution, whose first dimension is stored first and dense");
  return out;
}

}  // namespace detail

/// Closed with this: a Mat or a Vec.
template <class Object, PetscErrorCode (*destroy)(Object*)>
class Owned {
 public:
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_) destroy(&object_);
  }
  operator Object() const { return object_; }

 protected:
  Owned() = default;
  Object object_ = nullptr;
};

/// A matrix in rows (ds) as a Mat of type AIJ. PETSc keeps its own entries, those of a rank's columns apart, so that they are
/// copied; `update` copies values alone.
class Matrix : public Owned<Mat, MatDestroy> {
 public:
  explicit Matrix(const Tensor<PetscScalar>& rows, MPI_Comm ranks = PETSC_COMM_WORLD) {
    if (rows.format().levels() != CSR.levels() || rows.format().mode_order() != CSR.mode_order())
      throw UserError("the tensor has the format " + rows.format().str() + ", and PETSc's matrices have rows",
                      "assign it to a tensor of the format ds, and wrap that");
    IndexSpan pos = rows.pos(1), crd = rows.crd(1);
    rows_ = detail::block_of(ranks, rows, int64_t(pos.size()) - 1);
    columns_ = detail::block(ranks, rows.dims()[1]);
    std::vector<PetscInt> begins(pos.size()), indices(crd.size());
    detail::index(std::max({rows_.all, columns_.all, int64_t(crd.size())}));
    for (size_t k = 0; k < pos.size(); k++) begins[k] = PetscInt(pos[k]);
    for (size_t k = 0; k < crd.size(); k++) indices[k] = PetscInt(crd[k]);
    detail::check(MatCreateMPIAIJWithArrays(ranks, PetscInt(rows_.count), PetscInt(columns_.count), PetscInt(rows_.all),
                                            PetscInt(columns_.all), begins.data(), indices.data(), rows.values().data(),
                                            &object_),
                  "MatCreateMPIAIJWithArrays");
  }

  /// Other values of the same pattern.
  void update(const Tensor<PetscScalar>& rows) {
    detail::check(MatUpdateMPIAIJWithArray(object_, rows.values().data()), "MatUpdateMPIAIJWithArray");
  }
  /// Those of this rank: what vectors to multiply with, and results, have of theirs.
  const BlockOfRank& rows() const { return rows_; }
  const BlockOfRank& columns() const { return columns_; }

 private:
  BlockOfRank rows_, columns_;
};

/// A vector of PETSc over the values of a dense one, in place and only to be read, until that has other contents; or one of
/// its own.
class Vector : public Owned<Vec, VecDestroy> {
 public:
  explicit Vector(const Tensor<PetscScalar>& dense, MPI_Comm ranks = PETSC_COMM_WORLD) : tensor_(dense) {
    if (dense.order() != 1 || !dense.format().is_dense())
      throw UserError("the tensor has the format " + dense.format().str() + ", and PETSc's vectors are dense",
                      "assign it to a tensor of the format d, and wrap that");
    std::span<const PetscScalar> values = dense.values();
    const BlockOfRank part = detail::block_of(ranks, dense, int64_t(values.size()));
    detail::check(
        VecCreateMPIWithArray(ranks, 1, PetscInt(part.count), detail::index(part.all), values.data(), &object_),
        "VecCreateMPIWithArray");
    detail::check(VecLockReadPush(object_), "VecLockReadPush");
  }
  explicit Vector(const BlockOfRank& part, MPI_Comm ranks = PETSC_COMM_WORLD) {
    detail::check(VecCreateMPI(ranks, PetscInt(part.count), detail::index(part.all), &object_), "VecCreateMPI");
  }
  Vector(Vector&&) noexcept = default;
  Vector& operator=(Vector&&) noexcept = default;
  ~Vector() {
    if (object_ && tensor_) VecLockReadPop(object_);
  }

 private:
  std::optional<Tensor<PetscScalar>> tensor_;  // whose values they are
};

/// What a vector of PETSc holds becomes the contents of a dense one, which is there already and lies in blocks.
inline void assign(Tensor<PetscScalar>& to, Vec from) {
  PetscInt count = 0;
  MPI_Comm ranks = PetscObjectComm(reinterpret_cast<PetscObject>(from));
  detail::check(VecGetLocalSize(from, &count), "VecGetLocalSize");
  const BlockOfRank part = detail::block_of(ranks, to, int64_t(to.values().size()));
  detail::agree(ranks, part.count == count, "a rank has other elements of the vector of PETSc than of the tensor",
                "make it of the rows of the Matrix: petsc::Vector y(A.rows())");
  const PetscScalar* values = nullptr;
  detail::check(VecGetArrayRead(from, &values), "VecGetArrayRead");
  to.set_values({values, size_t(count)});
  detail::check(VecRestoreArrayRead(from, &values), "VecRestoreArrayRead");
}

}  // namespace spdistal::petsc
