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
  call(GrB_Matrix_import_FP64(&out, GrB_FP64, GrB_Index(rows.n), GrB_Index(rows.n), pos.data(), crd.data(),
                              rows.values.data(), pos.size(), crd.size(), rows.values.size(), GrB_CSR_FORMAT));
  call(GrB_Matrix_wait(out, GrB_MATERIALIZE));
  return owned(out);
}
// Values that GraphBLAS takes over.
void* dense_values(int64_t rows, int64_t width, int number) {
  auto* values = static_cast<double*>(std::malloc(size_t(rows * width) * sizeof(double)));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < width; k++) values[i * width + k] = dense_value(number, i, k);
  return values;
}
Matrix dense(int64_t rows, int64_t width, int number) {
  Matrix out = empty(rows, width);
  void* values = dense_values(rows, width, number);
  call(GxB_Matrix_pack_FullR(out.get(), &values, size_t(rows * width) * sizeof(double), false, nullptr));
  return out;
}

using Vector = std::shared_ptr<GB_Vector_opaque>;
Vector vector(int64_t size) {
  GrB_Vector out;
  call(GrB_Vector_new(&out, GrB_FP64, GrB_Index(size)));
  return Vector(out, [](GrB_Vector gone) { GrB_Vector_free(&gone); });
}
double weighed(GrB_Vector vector) {
  GrB_Index count;
  call(GrB_Vector_nvals(&count, vector));
  std::vector<GrB_Index> at(count);
  std::vector<double> values(count);
  call(GrB_Vector_extractTuples_FP64(at.data(), values.data(), &count, vector));
  double out = 0;
  for (size_t e = 0; e < count; e++) out += values[e] * weight(at[e], 0);
  return out;
}

GrB_Index stored(GrB_Matrix matrix) {
  GrB_Index out;
  call(GrB_Matrix_nvals(&out, matrix));
  return out;
}
double weighed(GrB_Matrix matrix) {
  GrB_Index count = stored(matrix);
  std::vector<GrB_Index> rows(count), crd(count);
  std::vector<double> values(count);
  call(GrB_Matrix_extractTuples_FP64(rows.data(), crd.data(), values.data(), &count, matrix));
  double out = 0;
  for (size_t e = 0; e < count; e++) out += values[e] * weight(rows[e], crd[e]);
  return out;
}

class GraphBlas : public System {
 public:
  const char* name() const override { return "GraphBLAS"; }
  void bring(const Rows& rows) override { B_ = matrix_of(rows), n_ = rows.n; }
  void drop() override { B_.reset(); }

  Job job(const std::string& kernel, const Problem& problem) override {
    if (problem.ranks > 1) return {};
    auto A = std::make_shared<Matrix>();
    GrB_Semiring semiring = GrB_PLUS_TIMES_SEMIRING_FP64;
    auto result = [=](std::function<void(GrB_Matrix)> fill, int64_t width) {
      return Job{{},
                 [=, n = n_] {
                   *A = empty(n, width);
                   fill(A->get());
                   call(GrB_Matrix_wait(A->get(), GrB_MATERIALIZE));
                 },
                 [=] { return weighed(A->get()); },
                 [=] { return double(stored(A->get())); }};
    };
    if (kernel == "SpMV") {
      Vector c = vector(n_), a = vector(n_);
      void* values = dense_values(n_, 1, 1);
      call(GxB_Vector_pack_Full(c.get(), &values, size_t(n_) * sizeof(double), false, nullptr));
      return {{},
              [=, B = B_] {
                call(GrB_mxv(a.get(), nullptr, nullptr, semiring, B.get(), c.get(), nullptr));
                call(GrB_Vector_wait(a.get(), GrB_MATERIALIZE));
              },
              [=] { return weighed(a.get()); }};
    }
    if (kernel == "SpMM") {
      Matrix C = dense(n_, columns, 2);
      return result(
          [=, B = B_](GrB_Matrix to) { call(GrB_mxm(to, nullptr, nullptr, semiring, B.get(), C.get(), nullptr)); },
          columns);
    }
    if (kernel == "SDDMM") {
      Matrix C = dense(n_, columns, 3), D = dense(n_, columns, 4);
      return result(
          [=, B = B_, n = n_](GrB_Matrix to) {
            Matrix product = empty(n, n);
            call(GrB_mxm(product.get(), B.get(), nullptr, semiring, C.get(), D.get(), GrB_DESC_ST1));
            call(GrB_Matrix_eWiseMult_BinaryOp(to, nullptr, nullptr, GrB_TIMES_FP64, B.get(), product.get(), nullptr));
          },
          n_);
    }
    if (kernel == "SpAdd3") {
      Matrix C = matrix_of(problem.rows(1)), D = matrix_of(problem.rows(2));
      return result(
          [=, B = B_, n = n_](GrB_Matrix to) {
            Matrix sum = empty(n, n);
            call(GrB_Matrix_eWiseAdd_BinaryOp(sum.get(), nullptr, nullptr, GrB_PLUS_FP64, B.get(), C.get(), nullptr));
            call(GrB_Matrix_eWiseAdd_BinaryOp(to, nullptr, nullptr, GrB_PLUS_FP64, sum.get(), D.get(), nullptr));
          },
          n_);
    }
    if (kernel == "SpGEMM")
      return result(
          [=, B = B_](GrB_Matrix to) { call(GrB_mxm(to, nullptr, nullptr, semiring, B.get(), B.get(), nullptr)); }, n_);
    return {};
  }

 private:
  Matrix B_;
  int64_t n_ = 0;
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
