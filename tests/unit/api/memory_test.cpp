// What a user sees when memory runs out: which tensor it was for, and the sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/session.hpp"
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
std::string failure(F&& f, size_t bytes = 1 << 20) {
  Left left(bytes);
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

// Parts of a result that each share takes for itself, and workspaces that each thread has: with ever more memory, until it is
// enough.
TEST_F(OutOfMemory, InsideOfAKernelIsAnErrorToo) {
  constexpr int64_t n = 100'000;
  runtime::HostContext& context = Session::instance().context;
  int64_t threads = context.threads;
  context.use(3);
  IndexVar k("k");
  Tensor<double> B("B", {n, n}, CSR), C("C", {n, n}, CSR), S("S", {n, n}, CSR), P("P", {n, n}, CSR);
  for (int64_t x = 0; x < n; x++) B.insert({int64_t(0), x}, 2), C.insert({x, n - 1 - x}, 3);  // one share has all of B
  B.pack(), C.pack();
  S(i, j) = B(i, j) + C(i, j);
  P(i, j) = B(i, k) * C(k, j);
  for (Tensor<double>* result : {&S, &P}) {
    bool in_kernel = false, enough = false;
    for (size_t bytes = 100'000; !enough && bytes < 100'000'000; bytes += bytes / 8) {
      std::string said = failure([&] { result->compute(); }, bytes);
      enough = said == "nothing was thrown";
      if (!enough) { ASSERT_THAT(said, HasSubstr("out of memory: ")); }
      in_kernel |= said.find("scratch memory of a kernel takes") != said.npos;
    }
    EXPECT_TRUE(enough && in_kernel);
    EXPECT_EQ(result->at({0, 7}), result == &S ? 2 : 6);
  }
  context.use(threads);
}

}  // namespace
}  // namespace spdistal
