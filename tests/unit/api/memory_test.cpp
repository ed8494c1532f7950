// What a user sees when memory runs out: which tensor it was for, and the sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/out_of_memory.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

using ::testing::HasSubstr;

/// Leaves so many bytes more to the buffers of this process while it lives.
struct Left {
  explicit Left(size_t bytes) { memory::set_limit(memory::bytes_held() + bytes); }
  ~Left() { memory::set_limit(SIZE_MAX); }
};

template <class F>
std::string failure(F&& f) {
  Left left(1 << 20);
  try {
    f();
  } catch (const SystemError& e) { return e.what(); }
  return "nothing was thrown";
}

struct OutOfMemory : ::testing::Test {
  IndexVar i{"i"}, j{"j"}, io{"io"}, ii{"ii"};
  Tensor<double> A{"A", {1000, 1000}, {Dense, Dense}}, b{"b", {1000}, {Dense}}, c{"c", {1000}, {Dense}};

  OutOfMemory() { b.fill(1), c.fill(2); }
};

TEST_F(OutOfMemory, NamesATensorThatIsFilled) {
  EXPECT_THAT(failure([&] { A.fill(1); }),
              HasSubstr("out of memory: A (1000 x 1000, double, dd) takes 7.6 MiB, tensors of "
                        "this process hold"));
  A.fill(1);
  EXPECT_EQ(A.at({999, 0}), 1) << "it can be filled when there is room again";
}

TEST_F(OutOfMemory, NamesAResult) {
  A(i, j) = b(i) * c(j);
  EXPECT_THAT(failure([&] { A.compute(); }), HasSubstr("out of memory: A (1000 x 1000, double, dd) takes 7.6 MiB"));
  A.compute();
  EXPECT_EQ(A.at({3, 4}), 2);
}

TEST_F(OutOfMemory, NamesAResultThatColoursCompute) {
  A(i, j) = b(i) * c(j);
  A.schedule().divide(i, io, ii, 2).distribute(io).communicate({A, b, c}, io);
  EXPECT_THAT(failure([&] { A.compute(); }), HasSubstr("out of memory: A (1000 x 1000, double, dd) takes 7.6 MiB"));
  A.compute();
  EXPECT_EQ(A.at({999, 4}), 2);
}

TEST_F(OutOfMemory, NamesASparseTensorThatIsPacked) {
  Tensor<double> B("B", {1000, 1000}, CSR);
  EXPECT_THAT(failure([&] {
                for (int64_t x = 0; x < 200'000; x++) B.insert({x / 200, x % 1000}, 1);
                B.pack();
              }),
              HasSubstr("out of memory: B (1000 x 1000, double, ds) takes"));
}

}  // namespace
}  // namespace spdistal
