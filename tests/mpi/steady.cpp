// Iterations after the first make no pieces and ask for no kernels, whether their statements are said once or anew.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "api/session.hpp"
#include "spdistal/spdistal.hpp"

namespace {

constexpr size_t large = 1 << 17;  // less than a piece of a vector
std::atomic<int64_t> large_requests{0};

[[maybe_unused]] void note(size_t bytes) {
  if (bytes >= large) large_requests++;
}

}  // namespace

// All requests for memory, as the C library takes them; the address sanitizer has its own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define COUNTS_REQUESTS 1
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) { return note(bytes), __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return note(count * bytes), __libc_calloc(count, bytes); }
void* realloc(void* memory, size_t bytes) { return note(bytes), __libc_realloc(memory, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return note(bytes), __libc_memalign(alignment, bytes); }
}
#else
#define COUNTS_REQUESTS 0
#endif

namespace spdistal {
namespace {

struct Steady : ::testing::Test {
  static constexpr int64_t n = 100'000;
  IndexVar i{"i"}, j{"j"};
  Tensor<double> A{"A", {n, n}, CSR}, p{"p", {n}, {Dense}}, q{"q", {n}, {Dense}}, r{"r", {n}, {Dense}};
  Tensor<double> pq{"pq"};

  Steady() {
    std::vector<std::vector<int64_t>> at(2);
    std::vector<double> values;
    for (int64_t row = 0; row < n; row++)
      for (int64_t column : {row - 1, row, row + 1})
        if (column >= 0 && column < n) {
          at[0].push_back(row), at[1].push_back(column);
          values.push_back(column == row ? 0.5 : 0.25);
        }
    A = Tensor<double>::from_coo({n, n}, at, values, CSR);
    p.fill(1), r.fill(1);
  }

  // Runs an iteration a few times; what the later ones ask for is counted.
  template <class F>
  void expect_steady(F&& iteration) {
    if (!COUNTS_REQUESTS) GTEST_SKIP() << "requests for memory are not counted here";
    for (int k = 0; k < 2; k++) iteration();
    ASSERT_GT(large_requests, 0) << "pieces were made at first";
    int64_t requests = large_requests, kernels = Session::instance().jit.loads();
    for (int k = 0; k < 3; k++) iteration();
    EXPECT_EQ(large_requests - requests, 0) << "memory as large as a piece was asked for";
    EXPECT_EQ(Session::instance().jit.loads() - kernels, 0) << "kernels were asked for";
  }
};

TEST_F(Steady, StatementsSaidOnce) {
  q(i) = A(i, j) * p(j);
  pq() = p(i) * q(i);
  r(i) += 0.5 * q(i);
  p(i) = r(i) + p(i) / pq();
  expect_steady([&] {
    for (TensorBase* each : {&q, &pq, &r, &p}) each->compute();
  });
}

TEST_F(Steady, StatementsSaidAnewWithOtherNumbers) {
  double alpha = 0.5;
  expect_steady([&] {
    q(i) = A(i, j) * p(j);
    pq() = p(i) * q(i);
    r(i) += (alpha *= 0.9) * q(i);
    p(i) = r(i) + p(i) / pq();
    p.compute();
  });
}

TEST_F(Steady, OperandsFilledAnew) {
  double next = 0;
  q(i) = A(i, j) * p(j);
  expect_steady([&] {
    p.fill(next += 1);
    q.compute();
  });
}

}  // namespace
}  // namespace spdistal
