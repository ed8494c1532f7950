// Well-known kernels, built by hand, against plain loops: interpreted and compiled.
#include "unit/ir/kernels.hpp"

#include <gtest/gtest.h>

#include <map>

#include "codegen/cpp.hpp"
#include "codegen/jit.hpp"
#include "codegen/processor.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "passes/pipeline.hpp"

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

/// Runs a kernel interpreted and compiled, as it is and after all passes, each on a call of its own.
void every_way(const Function& f, int64_t threads,
               const std::function<void(CallData&, const std::function<void()>&)>& test) {
  Function optimized = passes::optimize(f, {.target = {codegen::vector_bytes()}, .check = passes::Check::AfterEach});
  for (const Function* g : {&f, &std::as_const(optimized)})
    for (bool compiled : {false, true}) {
      SCOPED_TRACE(::testing::Message() << f.name << " with " << threads << " threads, "
                                        << (g == &f ? "plain, " : "optimized, ")
                                        << (compiled ? "compiled" : "interpreted"));
      CallData call(threads);
      test(call, [&] { compiled ? jit().load (*g)(call.get()) : interpret(*g, call.get(), Races::Found); });
    }
}

std::map<std::pair<int64_t, int32_t>, double> entries(const Csr& m) {
  std::map<std::pair<int64_t, int32_t>, double> out;
  for (int64_t i = 0; i < m.rows; i++)
    for (size_t p = size_t(m.pos[size_t(i)]); p < size_t(m.pos[size_t(i) + 1]); p++) out[{i, m.crd[p]}] += m.vals[p];
  return out;
}

/// The matrix that a kernel assembled, checked to be sorted and unique.
Csr result(CallData& call, size_t t, int64_t rows, int64_t cols) {
  spd_tensor& tensor = call.tensor(t);
  Csr out{rows, cols, CallData::contents<int32_t>(tensor.levels[1].arrays[0]),
          CallData::contents<int32_t>(tensor.levels[1].arrays[1]), CallData::contents<double>(tensor.vals)};
  EXPECT_EQ(size_t(out.pos.back()), out.crd.size());
  for (size_t i = 0; i < size_t(rows); i++)
    for (int p = out.pos[i] + 1; p < out.pos[i + 1]; p++) EXPECT_LT(out.crd[size_t(p) - 1], out.crd[size_t(p)]);
  return out;
}

size_t add_result(CallData& call, std::vector<int32_t>& pos, int64_t rows, int64_t cols) {
  CallData::Level second{cols};
  second.pos = CallData::view(pos), second.crd = call.growing();
  return call.tensor({dense(rows), second}, call.growing());
}

TEST(Kernels, SpmvIsRightForAnyNumberOfThreads) {
  Function f = spmv();
  expect_legal(f);
  for (int64_t threads : {1, 2, 3, 7})
    for (int64_t rows : {0, 1, 5, 100}) {
      Csr B = random_csr(rows, 50, 6, 1);
      std::vector<double> c = random_dense(50, 2), expected(static_cast<size_t>(rows));
      for (const auto& [at, v] : entries(B)) expected[size_t(at.first)] += v * c[size_t(at.second)];
      every_way(f, threads, [&](CallData& call, const auto& run) {
        std::vector<double> a(static_cast<size_t>(rows), -1);
        call.tensor({dense(rows)}, CallData::view(a));
        add_csr(call, B);
        call.tensor({dense(50)}, CallData::view(c));
        run();
        EXPECT_EQ(a, expected) << rows << " rows";
      });
    }
}

TEST(Kernels, SpmmWith32ColumnsIsRight) {
  Function f = spmm32();
  expect_legal(f);
  Csr B = random_csr(40, 30, 5, 3);
  std::vector<double> C = random_dense(30 * 32, 4), expected(40 * 32);
  for (const auto& [at, v] : entries(B))
    for (size_t k = 0; k < 32; k++) expected[size_t(at.first) * 32 + k] += v * C[size_t(at.second) * 32 + k];
  for (int64_t threads : {1, 3})
    every_way(f, threads, [&](CallData& call, const auto& run) {
      std::vector<double> A(40 * 32, -1);
      call.tensor({dense(40), dense(32)}, CallData::view(A));
      add_csr(call, B);
      call.tensor({dense(30), dense(32)}, CallData::view(C));
      run();
      EXPECT_EQ(A, expected);
    });
}

TEST(Kernels, LargeResultsAreStreamedInVectorsOfAnyWidth) {
  Csr B = random_csr(40, 30, 5, 3);
  std::vector<double> C = random_dense(30 * 32, 4), expected(40 * 32);
  for (const auto& [at, v] : entries(B))
    for (size_t k = 0; k < 32; k++) expected[size_t(at.first) * 32 + k] += v * C[size_t(at.second) * 32 + k];
  for (int bytes = 16; bytes <= codegen::vector_bytes(); bytes *= 2)
    for (int64_t threads : {1, 3}) {
      Function f = passes::optimize(spmm32(), {.target = {bytes}, .check = passes::Check::AfterEach});
      codegen::Kernel kernel = jit().load(f);
      EXPECT_NE(kernel.text().find("stream("), std::string::npos) << kernel.text();
      // Elements that do not begin with a cache line are not.
      for (size_t skipped : {0, 1}) {
        CallData call(threads);
        runtime::ResultArray memory;
        auto* A = static_cast<double*>(memory.reserve((40 * 32 + 1) * sizeof(double))) + skipped;
        call.tensor({dense(40), dense(32)}, {A, 40 * 32, nullptr});
        add_csr(call, B);
        call.tensor({dense(30), dense(32)}, CallData::view(C));
        for (int64_t caches : {int64_t(0), int64_t(1) << 20}) {
          std::fill_n(A, 40 * 32, -1);
          call.get().context->caches = caches;
          kernel(call.get());
          EXPECT_EQ(std::vector<double>(A, A + 40 * 32), expected);
        }
      }
    }
}

TEST(Kernels, MttkrpWith32ColumnsIsRightWithBothAccumulatorsInRegisters) {
  Function f = mttkrp32();
  expect_legal(f);
  Csr rows = random_csr(20, 30, 5, 10), fibres = random_csr(int64_t(rows.crd.size()), 25, 4, 11);
  std::vector<double> C = random_dense(30 * 32, 12), D = random_dense(25 * 32, 13), expected(20 * 32);
  for (size_t i = 0; i < 20; i++)
    for (size_t p = size_t(rows.pos[i]); p < size_t(rows.pos[i + 1]); p++)
      for (size_t q = size_t(fibres.pos[p]); q < size_t(fibres.pos[p + 1]); q++)
        for (size_t l = 0; l < 32; l++)
          expected[i * 32 + l] += fibres.vals[q] * C[size_t(rows.crd[p]) * 32 + l] * D[size_t(fibres.crd[q]) * 32 + l];
  every_way(f, 2, [&](CallData& call, const auto& run) {
    std::vector<double> A(20 * 32, -1);
    call.tensor({dense(20), dense(32)}, CallData::view(A));
    CallData::Level second{30}, third{25};
    second.pos = CallData::view(rows.pos), second.crd = CallData::view(rows.crd);
    third.pos = CallData::view(fibres.pos), third.crd = CallData::view(fibres.crd);
    call.tensor({dense(20), second, third}, CallData::view(fibres.vals));
    call.tensor({dense(30), dense(32)}, CallData::view(C));
    call.tensor({dense(25), dense(32)}, CallData::view(D));
    run();
    EXPECT_EQ(A, expected);
  });
  std::string text = codegen::cpp_text(passes::optimize(f));
  EXPECT_EQ(text.find("[32]"), text.npos) << text;
}

TEST(Kernels, SpAdd3AssemblesTheUnionInTwoPhases) {
  Function f = spadd3();
  expect_legal(f);
  Csr B = random_csr(40, 30, 5, 5), C = random_csr(40, 30, 4, 6), D = random_csr(40, 30, 1, 7);
  auto expected = entries(B);
  for (const Csr& m : {C, D})
    for (const auto& [at, v] : entries(m)) expected[at] += v;
  for (int64_t threads : {1, 3})
    every_way(f, threads, [&](CallData& call, const auto& run) {
      std::vector<int32_t> pos(41, -1);
      add_result(call, pos, 40, 30);
      for (Csr* m : {&B, &C, &D}) add_csr(call, *m);
      for (int again = 0; again < 2; again++) {
        run();
        EXPECT_EQ(entries(result(call, 0, 40, 30)), expected);
      }
    });
}

TEST(Kernels, AMergeThatIsWrittenOnceCountsAndFills) {
  Function f = spadd_once();
  expect_legal(f);
  Csr B = random_csr(40, 30, 5, 5), C = random_csr(40, 30, 4, 6);
  auto expected = entries(B);
  for (const auto& [at, v] : entries(C)) expected[at] += v;
  for (int64_t threads : {1, 3})
    every_way(f, threads, [&](CallData& call, const auto& run) {
      std::vector<int32_t> pos(41, -1);
      add_result(call, pos, 40, 30);
      for (Csr* m : {&B, &C}) add_csr(call, *m);
      run();
      EXPECT_EQ(entries(result(call, 0, 40, 30)), expected);
    });
}

TEST(Kernels, SpgemmGathersRowsInAWorkspaceAndSortsThem) {
  Function f = spgemm();
  expect_legal(f);
  Csr B = random_csr(40, 30, 4, 8), C = random_csr(30, 200, 40, 9);
  std::map<std::pair<int64_t, int32_t>, double> expected;
  for (const auto& [b, x] : entries(B))
    for (const auto& [c, y] : entries(C))
      if (b.second == c.first) expected[{b.first, c.second}] += x * y;
  for (int64_t threads : {1, 3})
    every_way(f, threads, [&](CallData& call, const auto& run) {
      std::vector<int32_t> pos(41, -1);
      add_result(call, pos, 40, 200);
      add_csr(call, B);
      add_csr(call, C);
      run();
      EXPECT_EQ(entries(result(call, 0, 40, 200)), expected);
    });
}

// Share t makes t % 4 numbers.
TEST(Kernels, PartsOfSharesStandBehindEachOther) {
  constexpr int64_t count = 100;
  FunctionBuilder f("parts");
  Var out = f.array("out", 0, ScalarType::Int64, Access::Write), shares = f.scalar("shares", 0);
  f.resize(out, shares * 3);
  f.parallel("t", shares, [&](const Var& t) {
    Var part = f.allocate("part", ScalarType::Int64, 4, Fill::Uninitialised), at = f.variable("at", int64(0));
    f.loop("k", int64(0), Expr(t) % 4, [&](const Var& k) {
      f.store(part, at, Expr(t) * 10 + k);
      f.increase(at, 1);
    });
    f.append(out, t, shares, part, at);
  });
  f.shrink(out, shares / 4 * 6);
  Function built = f.build();
  expect_legal(built);
  std::vector<int64_t> expected;
  for (int64_t t = 0; t < count; t++)
    for (int64_t k = 0; k < t % 4; k++) expected.push_back(t * 10 + k);
  for (int64_t threads : {1, 3})
    every_way(built, threads, [&](CallData& call, const auto& run) {
      call.array(call.growing());
      call.scalar(count);
      for (int again = 0; again < 2; again++) {
        run();
        EXPECT_EQ(CallData::contents<int64_t>(call.get().arrays[0]), expected);
      }
    });
}

}  // namespace
}  // namespace spdistal::testing
