// How many kernels a statement takes, and that each is lowered once.
#include <gtest/gtest.h>

#include "api/session.hpp"
#include "api/state.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

const IndexVar i("i"), j("j");

Format in_blocks(Format format, const Machine& machine) {
  std::vector<DistVar> dims(format.order());
  return Format(std::move(format), Distribution(dims, machine, {dims[0]}));
}

// SpMV on pieces of one process, n by n with two entries in a row.
struct InPieces {
  Machine machine{Grid(3)};
  Tensor<double> a{"a", {Extent(9)}, in_blocks(Format({Dense}), machine)};
  Tensor<double> B{"B", {Extent(9), Extent(9)}, in_blocks(CSR, machine)};
  Tensor<double> c{"c", {Extent(9)}, in_blocks(Format({Dense}), machine)};

  InPieces() {
    for (int64_t row = 0; row < 9; row++) {
      B.insert({row, row}, 2.0);
      B.insert({row, 8 - row}, 1.0);
    }
    B.pack();
    c.fill(1.0);
  }
};

const Compiled& compiled(const TensorBase& tensor) { return find_tensor(tensor.var())->current->execution->compiled(); }

TEST(Kernels, OfPiecesAreLoweredOnceEach) {
  InPieces t;
  int64_t loaded = Session::instance().jit.loads();
  t.a(i) = t.B(i, j) * t.c(j);
  for (int run = 0; run < 3; run++) t.a.compute();
  EXPECT_EQ(compiled(t.a).leaves(), 1u) << "one kernel is lowered, for all pieces and runs";
  EXPECT_EQ(Session::instance().jit.loads() - loaded, 1) << "and it is the one that runs";
  EXPECT_DOUBLE_EQ(t.a.at({0}), 3);
}

TEST(Kernels, ThatAddAreLoweredOnceEach) {
  InPieces t;
  t.a.fill(1.0);
  int64_t loaded = Session::instance().jit.loads();
  t.a(i) += t.B(i, j) * t.c(j);
  t.a.compute();
  EXPECT_EQ(int64_t(compiled(t.a).leaves()), Session::instance().jit.loads() - loaded);
  EXPECT_DOUBLE_EQ(t.a.at({0}), 4);
}

TEST(Kernels, OfWholeTensorsAreLoweredOnceEach) {
  Tensor<double> a("a", {Extent(4)}, Format({Dense})), b("b", {Extent(4)}, Format({Dense}));
  b.fill(1.5);
  int64_t loaded = Session::instance().jit.loads();
  a(i) = b(i) * b(i);
  for (int run = 0; run < 3; run++) a.compute();
  EXPECT_EQ(compiled(a).leaves(), 1u);
  EXPECT_EQ(Session::instance().jit.loads() - loaded, 1);
}

}  // namespace
}  // namespace spdistal
