// Statements over pieces whose sizes change between runs.
#include <gtest/gtest.h>

#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

TEST(Sizes, OfTensorsInPiecesMayChangeBetweenRuns) {
  Machine machine{Grid(3)};
  DistVar x;
  Format blocks(Format({Dense}), Distribution({x}, machine, {x}));
  Param n("n");
  Tensor<double> a("a", {n}, blocks), b("b", {n}, blocks);
  IndexVar i("i");
  for (int64_t size : {6, 10, 4}) {
    n = size;
    b.fill([](std::span<const int64_t> at) { return double(at[0]); });
    if (size == 6) a(i) = 2.0 * b(i);
    a.compute();
    ASSERT_EQ(a.gather().size(), size_t(size));
    for (const auto& [at, value] : a.gather()) EXPECT_EQ(value, 2.0 * double(at[0]));
  }
}

}  // namespace
}  // namespace spdistal
