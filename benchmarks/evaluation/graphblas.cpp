// SuiteSparse:GraphBLAS: matrices of one process, with OpenMP.
extern "C" {
#include <GraphBLAS.h>
}
#include <memory>

#include "contest.hpp"

using namespace evaluation;

namespace {

void call(GrB_Info info) {
  if (info == GrB_SUCCESS) return;
  std::fprintf(stderr, "GraphBLAS: error %d\n", int(info));
  std::exit(1);
}

using Matrix = std::shared_ptr<GB_Matrix_opaque>;
Matrix owned(GrB_Matrix matrix) {
  return Matrix(matrix, [](GrB_Matrix gone) { GrB_Matrix_free(&gone); });
}
Matrix empty(int64_t rows, int64_t width) {
  GrB_Matrix out;
  call(GrB_Matrix_new(&out, GrB_FP64, GrB_Index(rows), GrB_Index(width)));
  return owned(out);
}

Matrix matrix_of(const Rows& rows) {
  std::vector<GrB_Index> pos(rows.pos.begin(), rows.pos.end()), crd(rows.crd.begin(), rows.crd.end());
  GrB_Matrix out;
  call(GrB_Matrix_import_FP64(&out, GrB_FP64, GrB_Index(rows.n), GrB_Index(rows.m), pos.data(), crd.data(),
                              rows.values.data(), pos.size(), crd.size(), rows.values.size(), GrB_CSR_FORMAT));
  call(GrB_Matrix_wait(out, GrB_MATERIALIZE));
  return owned(out);
}
// Values that GraphBLAS takes over, and gives back to be changed.
class Operand {
 public:
  Operand(int64_t rows, int64_t width, int number)
      : rows_(rows), width_(width), number_(number), matrix_(empty(rows, width)) {
    pack(std::malloc(bytes()));
    change(0);
  }
  GrB_Matrix get() const { return matrix_.get(); }
  void change(int round) const {
    void* values = nullptr;
    GrB_Index size = 0;
    bool same = false;
    call(GxB_Matrix_unpack_FullR(get(), &values, &size, &same, nullptr));
    auto* to = static_cast<double*>(values);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows_; i++)
      for (int64_t k = 0; k < width_; k++) to[i * width_ + k] = dense_value(number_, i, k, round);
    pack(values);
  }

 private:
  size_t bytes() const { return size_t(rows_ * width_) * sizeof(double); }
  void pack(void* values) const { call(GxB_Matrix_pack_FullR(get(), &values, bytes(), false, nullptr)); }

  int64_t rows_, width_;
  int number_;
  Matrix matrix_;
};

using Vector = std::shared_ptr<GB_Vector_opaque>;
Vector vector(int64_t size) {
  GrB_Vector out;
  call(GrB_Vector_new(&out, GrB_FP64, GrB_Index(size)));
  return Vector(out, [](GrB_Vector gone) { GrB_Vector_free(&gone); });
}
void write(GrB_Vector to, int64_t size, int number, int round) {
  void* values = nullptr;
  GrB_Index bytes = 0, count = 0;
  bool same = false;
  call(GrB_Vector_nvals(&count, to));
  if (count == 0) values = std::malloc(bytes = size_t(size) * sizeof(double));
  else call(GxB_Vector_unpack_Full(to, &values, &bytes, &same, nullptr));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < size; i++) static_cast<double*>(values)[i] = dense_value(number, i, 0, round);
  call(GxB_Vector_pack_Full(to, &values, bytes, false, nullptr));
}

void each(GrB_Vector vector, const Visit& visit) {
  GrB_Index count;
  call(GrB_Vector_nvals(&count, vector));
  std::vector<GrB_Index> at(count);
  std::vector<double> values(count);
  call(GrB_Vector_extractTuples_FP64(at.data(), values.data(), &count, vector));
  for (size_t e = 0; e < count; e++) visit(int64_t(at[e]), 0, values[e]);
}
void each(GrB_Matrix matrix, const Visit& visit) {
  GrB_Index count;
  call(GrB_Matrix_nvals(&count, matrix));
  std::vector<GrB_Index> rows(count), crd(count);
  std::vector<double> values(count);
  call(GrB_Matrix_extractTuples_FP64(rows.data(), crd.data(), values.data(), &count, matrix));
  for (size_t e = 0; e < count; e++) visit(int64_t(rows[e]), int64_t(crd[e]), values[e]);
}

class GraphBlas : public System {
 public:
  const char* name() const override { return "GraphBLAS"; }
  void bring(const Rows& rows) override { B_ = matrix_of(rows), n_ = rows.n, m_ = rows.m; }
  void drop() override { B_.reset(); }

  std::string version() const override {
    return std::to_string(GxB_IMPLEMENTATION_MAJOR) + '.' + std::to_string(GxB_IMPLEMENTATION_MINOR) + '.' +
           std::to_string(GxB_IMPLEMENTATION_SUB);
  }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (problem.ranks > 1) return {};
    if (kernel == "SpMV") {
      Vector c = vector(m_), a = vector(n_);
      write(c.get(), m_, 1, 0);
      return {[=, m = m_](int round) { write(c.get(), m, 1, round); },
              {},
              [=, times = times_, B = B_] {
                call(GrB_mxv(a.get(), nullptr, nullptr, times, B.get(), c.get(), nullptr));
                call(GrB_Vector_wait(a.get(), GrB_MATERIALIZE));
              },
              [=](const Visit& visit) { each(a.get(), visit); }};
    }
    if (kernel == "SpMM") {
      Operand C(m_, columns, 2);
      return job({C}, columns, 0, [=, times = times_, B = B_](GrB_Matrix to, GrB_Matrix) {
        call(GrB_mxm(to, nullptr, nullptr, times, B.get(), C.get(), nullptr));
      });
    }
    if (kernel == "SDDMM") {
      Operand C(n_, columns, 3), D(m_, columns, 4);
      return job({C, D}, m_, m_, [=, times = times_, B = B_](GrB_Matrix to, GrB_Matrix product) {
        call(GrB_mxm(product, B.get(), nullptr, times, C.get(), D.get(), GrB_DESC_ST1));
        call(GrB_Matrix_eWiseMult_BinaryOp(to, nullptr, nullptr, GrB_TIMES_FP64, B.get(), product, nullptr));
      });
    }
    if (kernel == "SpAdd3") {
      Matrix C = matrix_of(problem.rows(1)), D = matrix_of(problem.rows(2));
      return job({}, m_, m_, [=, times = times_, B = B_](GrB_Matrix to, GrB_Matrix sum) {
        call(GrB_Matrix_eWiseAdd_BinaryOp(sum, nullptr, nullptr, GrB_PLUS_FP64, B.get(), C.get(), nullptr));
        call(GrB_Matrix_eWiseAdd_BinaryOp(to, nullptr, nullptr, GrB_PLUS_FP64, sum, D.get(), nullptr));
      });
    }
    if (kernel == "SpGEMM")
      return job({}, m_, 0, [=, times = times_, B = B_](GrB_Matrix to, GrB_Matrix) {
        call(GrB_mxm(to, nullptr, nullptr, times, B.get(), B.get(), nullptr));
      });
    return {};
  }

 private:
  // The result and what is in between, where `between` is not 0, are new ones in each run, and gone before it.
  Job job(std::vector<Operand> operands, int64_t width, int64_t between,
          std::function<void(GrB_Matrix, GrB_Matrix)> fill) const {
    auto A = std::make_shared<Matrix>(), other = std::make_shared<Matrix>();
    std::function<void(int)> change;
    if (!operands.empty())
      change = [=](int round) {
        for (const Operand& operand : operands) operand.change(round);
      };
    return {change, [=] { A->reset(), other->reset(); },
            [=, n = n_] {
              *A = empty(n, width);
              if (between > 0) *other = empty(n, between);
              fill(A->get(), other->get());
              call(GrB_Matrix_wait(A->get(), GrB_MATERIALIZE));
            },
            [=](const Visit& visit) { each(A->get(), visit); }};
  }

  GrB_Semiring times_ = GrB_PLUS_TIMES_SEMIRING_FP64;
  Matrix B_;
  int64_t n_ = 0, m_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  call(GrB_init(GrB_BLOCKING));
  call(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, omp_get_max_threads()));
  {
    GraphBlas system;
    Contest(argc, argv).run(system);
  }
  call(GrB_finalize());
  MPI_Finalize();
}
