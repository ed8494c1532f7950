// Which loops get hints, what they ask for, and that nothing else changes.
#include <gtest/gtest.h>

#include "codegen/jit.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "passes/pipeline.hpp"
#include "unit/ir/kernels.hpp"

namespace spdistal::testing {
namespace {

using passes::prefetch;

int hints_in(const Function& f) {
  int n = 0;
  each<Prefetch>(f.body, [&](const Prefetch&) { n++; });
  return n;
}

class PrefetchTest : public ::testing::Test {
 protected:
  FunctionBuilder f{"f"};
  Var a = f.vals("a", 0, ScalarType::Float64, Access::Write), n = f.scalar("n", 0);
  Var crd = crd_array(f, "crd", 1, 1, ScalarType::Int32), C = f.vals("C", 2, ScalarType::Float64, Access::Read);
  LoopOptions vector{.kind = LoopKind::Vector};

  Expr row(const Expr& p) const { return cast(ScalarType::Int64, load(crd, p)) * 32; }
  void add_row(const Expr& offset, int64_t columns = 32) {
    f.loop(
        "k", int64(0), int64(columns), [&](Var k) { f.store_add(a, k, load(C, offset + k)); }, vector);
  }
  void over_positions(const std::function<void(Var)>& fill) { f.loop("p", int64(0), n, fill); }
  int hints() const {
    Function before = f.build(), after = prefetch(before, {});
    auto legal = verify(after);
    EXPECT_TRUE(legal) << (legal ? "" : legal.refusal().str()) << print(after);
    return hints_in(after);
  }
};

TEST_F(PrefetchTest, AsksForRowsAheadWhereASampleSaysSo) {
  over_positions([&](Var p) {
    Var offset = f.constant("offset", row(p));
    f.store_add(a, 0, load(C, offset, 8));
    f.store_add(a, 8, load(C, offset + 24, 8));
  });
  Function after = prefetch(f.build(), {});
  EXPECT_TRUE(verify(after));
  EXPECT_EQ("\n" + print(after), R"(
function f
  param a: double[] = tensor 0 vals
  param n: int64 = scalar 0
  param crd: const int32[] = tensor 1 level 1 crd
  param C: const double[] = tensor 2 vals
  param C_rows: int64 = tensor 2 level 0 end
  param crd_count: int64 = tensor 1 level 1 end
  var crd_jumps: int32 = 0
  for s: int64 in 0 .. crd_count - 1 step crd_count / 64 + 1
    crd_jumps = crd_jumps + (abs(crd[s + 1] - crd[s]) > 64 ? 1 : -1)
  const C_scattered: bool = C_rows > 65536 && crd_jumps > 0
  for p: int64 in 0 .. n
    if C_scattered
      const next: int64 = int64(crd[min(p + 16, crd_count - 1)]) * 32
      for k: int64 in 0 .. 32 step 8
        prefetch C[next + k]
    const offset: int64 = int64(crd[p]) * 32
    a[0] += C[offset x 8]
    a[8] += C[offset + 24 x 8]
)");
}

TEST_F(PrefetchTest, SeesRowsOfPiecesAndLongRowsByTheirFirstLines) {
  Var lo = f.number("C_lo", Source::Field::Lo, 2, 0);
  over_positions([&](Var p) { add_row((cast(ScalarType::Int64, load(crd, p)) - lo) * 320, 320); });
  EXPECT_EQ(hints(), 1);
  std::string text = print(prefetch(f.build(), {}));
  EXPECT_NE(text.find("(int64(crd[min(p + 16, crd_count - 1)]) - C_lo) * 320"), text.npos) << text;
  EXPECT_NE(text.find("for k: int64 in 0 .. 64 step 8"), text.npos) << text;
}

TEST_F(PrefetchTest, CountsPositionsFromWhereAPieceBegins) {
  Var base = f.number("B_base", Source::Field::Lo, 1, 1);
  over_positions([&](Var p) { add_row(row(p - base)); });
  EXPECT_EQ(hints(), 1);
  std::string text = print(prefetch(f.build(), {}));
  EXPECT_NE(text.find("int64(crd[min(p - B_base + 16, crd_count - 1)]) * 32"), text.npos) << text;
}

TEST_F(PrefetchTest, DecidesOutsideOfLoopsThatHoldOthers) {
  over_positions([&](Var p) {
    Var sum = f.variable("sum", zero(Float64));
    f.loop(
        "k", int64(0), int64(32), [&](Var k) { f.increase(sum, load(C, row(p) + k)); }, vector);
    f.store(a, p, sum);
  });
  EXPECT_EQ(hints(), 1);
  Function with = prefetch(f.build(), {.own_cache_bytes = 0});
  int conditions = 0;
  each<If>(with.body, [&](const If& chosen) {
    ASSERT_TRUE(chosen.then.is<For>() && chosen.otherwise && chosen.otherwise->is<For>()) << print(with);
    conditions++;
  });
  EXPECT_EQ(conditions, 1);
  // Scattered and not: the sums of rows.
  for (int64_t step : {1, 389}) {
    std::vector<double> rows = random_dense(1000 * 32, 4), sums(100, -1), expected(100);
    std::vector<int32_t> columns;
    for (int64_t p = 0; p < 100; p++) {
      columns.push_back(int32_t(p * step % 1000));
      for (size_t k = 0; k < 32; k++) expected[size_t(p)] += rows[size_t(columns.back()) * 32 + k];
    }
    CallData call;
    call.tensor({}, CallData::view(sums));
    call.tensor({{}, {.end = 100, .crd = CallData::view(columns)}}, {});
    call.tensor({{.end = 1000}}, CallData::view(rows));
    call.scalar(100);
    interpret(with, call.get());
    EXPECT_EQ(sums, expected) << step;
  }
}

TEST_F(PrefetchTest, LeavesSingleElementsAndShortRows) {
  over_positions([&](Var p) { f.store_add(a, 0, load(C, load(crd, p))); });
  over_positions([&](Var p) { add_row(row(p), 15); });
  EXPECT_EQ(hints(), 0);
  over_positions([&](Var p) { add_row(row(p), 16); });
  EXPECT_EQ(hints(), 1);
}

TEST_F(PrefetchTest, LeavesWhatIsNotACoordinateAtThePosition) {
  over_positions([&](Var p) { add_row(Expr(p) * 32); });
  over_positions([&](Var p) { add_row(row(p + 1)); });
  over_positions([&](Var p) { add_row(row(p) / n); });
  over_positions([&](Var p) { add_row(row(p) + row(n)); });
  over_positions([&](Var p) { add_row(row(n - p)); });
  over_positions([&](Var p) { add_row(row(p) + row(p - n)); });
  f.loop("i", int64(0), n, [&](Var i) { over_positions([&](Var p) { add_row(row(p) + i); }); });
  EXPECT_EQ(hints(), 0);
}

TEST_F(PrefetchTest, LeavesArraysThatAreWritten) {
  Var made = crd_array(f, "made", 3, 1, ScalarType::Int32, Access::Write);
  over_positions([&](Var p) { add_row(cast(ScalarType::Int64, load(made, p)) * 32); });
  over_positions([&](Var p) { f.store_add(a, 0, load(a, row(p), 32)); });
  EXPECT_EQ(hints(), 0);
}

TEST_F(PrefetchTest, LeavesLoopsOverTwoLevelsAndThoseOfOtherKinds) {
  Var pos = pos_array(f, "pos", 1, 2, ScalarType::Int32), inner = crd_array(f, "inner", 1, 2, ScalarType::Int32);
  over_positions([&](Var p) {
    Var offset = f.constant("offset", row(p));
    f.loop("q", load(pos, p), load(pos, p + 1), [&](Var q) {
      add_row(cast(ScalarType::Int64, load(inner, q)) * 32);
      add_row(offset);
    });
  });
  f.loop("p", int64(0), n, [&](Var p) { add_row(row(p)); }, {.step = int64(2)});
  f.loop("p", int64(0), int64(9), [&](Var p) { add_row(row(p)); });
  EXPECT_EQ(hints(), 0);
}

TEST_F(PrefetchTest, LeavesKernelsOfGpus) {
  f.loop("b", int64(0), n, [&](Var) { over_positions([&](Var p) { add_row(row(p)); }); }, {.kind = LoopKind::GPUBlock});
  EXPECT_EQ(hints(), 0);
}

/// A kernel that counts the hints for each element instead of giving them.
Function counting(Function f) {
  Var counts = var("counts", array_of(ScalarType::Int64));
  f.params.push_back({counts, {Source::Field::Array, 0}});
  f.body = rewrite(f.body, [&](const Prefetch& n) { return store(counts, n.index, 1, StoreMode::AtomicAdd); });
  return f;
}

/// Entry p is in column p * step, around the end.
Csr matrix(int64_t entries, int64_t step) {
  Csr out{5, 1000, {0}, {}, {}};
  for (int64_t p = 0; p < entries; p++) {
    out.crd.push_back(int32_t(p * step % out.cols));
    out.vals.push_back(double(p % 7) - 3);
  }
  for (int64_t i = 1; i <= out.rows; i++) out.pos.push_back(int32_t(entries * i / out.rows));
  return out;
}

std::vector<int64_t> expected_counts(const Csr& B, int64_t step) {
  std::vector<int64_t> out(size_t(B.cols) * 32);
  if (step * 256 <= 1 << 14 || B.crd.size() < 2) return out;
  for (size_t p = 0; p < B.crd.size(); p++)
    for (size_t k = 0; k < 32; k += 8) out[size_t(B.crd[std::min(p + 16, B.crd.size() - 1)]) * 32 + k]++;
  return out;
}

TEST(Prefetch, AsksForWhatWillBeReadAndChangesNoResult) {
  Function plain = spmm32();
  Function with = passes::optimize(
      plain, {.target = {.own_cache_bytes = 0, .shared_cache_bytes = 0}, .check = passes::Check::AfterEach});
  ASSERT_EQ(hints_in(with), 1) << print(with);
  codegen::Jit jit{{}};
  codegen::Kernel compiled = jit.load(with), compiled_counting = jit.load(counting(with));
  std::vector<double> C = random_dense(1000 * 32, 4);
  for (int64_t threads : {1, 3})
    for (int64_t entries : {0, 1, 2, 15, 16, 17, 18, 100, 1000})
      for (int64_t step : {1, 389}) {
        SCOPED_TRACE(::testing::Message() << entries << " entries, step " << step << ", " << threads << " threads");
        Csr B = matrix(entries, step);
        std::vector<int64_t> counts;
        auto result = [&](const std::function<void(spd_call&)>& run) {
          std::vector<double> A(size_t(B.rows) * 32, -1);
          counts.assign(size_t(B.cols) * 32, 0);
          CallData call(threads);
          call.tensor({dense(B.rows), dense(32)}, CallData::view(A));
          add_csr(call, B);
          call.tensor({dense(B.cols), dense(32)}, CallData::view(C));
          call.array(CallData::view(counts));
          run(call.get());
          return A;
        };
        std::vector<double> expected = result([&](spd_call& call) { interpret(plain, call); });
        EXPECT_EQ(result([&](spd_call& call) { interpret(with, call, Races::Found); }), expected);
        EXPECT_EQ(result([&](spd_call& call) { compiled(call); }), expected);
        EXPECT_EQ(result([&](spd_call& call) { interpret(counting(with), call); }), expected);
        EXPECT_EQ(counts, expected_counts(B, step));
        EXPECT_EQ(result([&](spd_call& call) { compiled_counting(call); }), expected);
        EXPECT_EQ(counts, expected_counts(B, step));
      }
}

}  // namespace
}  // namespace spdistal::testing
