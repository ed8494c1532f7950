// Well-known kernels, built by hand, against plain loops: interpreted and compiled.
#include "unit/ir/kernels.hpp"

#include <gtest/gtest.h>

#include "codegen/cpp.hpp"
#include "codegen/jit.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"

namespace spdistal::testing {
namespace {

codegen::Jit& jit() {
  static codegen::Jit jit{{}};
  return jit;
}

void expect_legal(const Function& f) {
  auto legal = verify(f);
  EXPECT_TRUE(legal) << (legal ? "" : legal.refusal().str()) << print(f);
}

TEST(Kernels, SpmvIsRightForAnyNumberOfThreads) {
  Function f = spmv();
  expect_legal(f);
  for (int64_t threads : {1, 2, 3, 7})
    for (int64_t rows : {0, 1, 5, 100}) {
      Csr B = random_csr(rows, 50, 6, 1);
      std::vector<double> c = random_dense(50, 2), expected(static_cast<size_t>(rows));
      for (size_t i = 0; i < expected.size(); i++)
        for (int p = B.pos[i]; p < B.pos[i + 1]; p++) expected[i] += B.vals[size_t(p)] * c[size_t(B.crd[size_t(p)])];
      for (bool compiled : {false, true}) {
        std::vector<double> a(static_cast<size_t>(rows), -1);
        Call call(threads);
        call.tensor({dense(rows)}, Call::view(a));
        add_csr(call, B);
        call.tensor({dense(50)}, Call::view(c));
        if (compiled)
          jit().load(f)(call.get());
        else
          interpret(f, call.get());
        EXPECT_EQ(a, expected) << threads << " threads, " << rows << " rows, "
                               << (compiled ? "compiled" : "interpreted");
      }
    }
}

TEST(Kernels, Show) {
  puts(print(spmv()).c_str());
  puts(codegen::cpp_text(spmv()).c_str());
}

}  // namespace
}  // namespace spdistal::testing
