// Kernels as grids and steps: the same results as in one piece, and loops divided among lanes where they can be.
#include "passes/launches.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "codegen/cuda.hpp"
#include "codegen/nvrtc.hpp"
#include "ir/build.hpp"
#include "ir/interpret.hpp"
#include "ir/interpret_code.hpp"
#include "ir/math.hpp"
#include "ir/verify.hpp"
#include "support/gpu.hpp"
#include "unit/ir/call_data.hpp"

namespace spdistal::codegen {
namespace {

using namespace ir;
using passes::GridMapping;
using testing::CallData;

Launches checked_launches(const Function& f, const GridMapping& mapping = {}) {
  auto whole = verify(f);
  EXPECT_TRUE(whole) << whole.refusal().str();
  Launches out = passes::launches(f, mapping);
  for (const Grid* grid : grids_of(out.steps)) {
    auto legal = verify(grid->function);
    EXPECT_TRUE(legal) << legal.refusal().str();
  }
  return out;
}

std::string grid_text(const Launches& launches, size_t which = 0) {
  std::string text = cuda_text({grids_of(launches.steps).at(which)->function});
  return text.substr(text.find("{\n", text.find("extern")) + 2);
}

/// pos[p], total = total, total + pos[p]; then pos[n] = total.
Function scan() {
  FunctionBuilder f("scan");
  Var pos = f.array("pos", 0, ScalarType::Int32, Access::Write), n = f.scalar("n", 0);
  Var total = f.variable("total", int64(0));
  f.loop("p", int64(0), n, [&](Var p) {
    Var here = f.constant("here", cast(ScalarType::Int64, load(pos, p)));
    f.store(pos, p, cast(ScalarType::Int32, total));
    f.increase(total, here);
  });
  f.store(pos, n, cast(ScalarType::Int32, total));
  return f.build();
}

TEST(Launches, ALoopThatCarriesASumRunsInShares) {
  Launches launches = checked_launches(scan());
  EXPECT_GT(grids_of(launches.steps).size(), 3u);
  Kernel kernel = test::gpu().load(launches);
  for (int64_t n : {0, 1, 2, 15, 16, 17, 300, 5000}) {
    std::vector<int32_t> counts(size_t(n) + 1), sums(size_t(n) + 1, 0);
    for (size_t k = 0; k < size_t(n); k++) counts[k] = int32_t(k * 7 % 5), sums[k + 1] = sums[k] + counts[k];
    CallData call;
    call.array(CallData::view(counts));
    call.scalar(n);
    kernel(call.get());
    EXPECT_EQ(counts, sums) << n;
  }
}

TEST(Launches, TurnsThatStoreApartAreAGrid) {
  FunctionBuilder f("twice");
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), n = f.scalar("n", 0);
  f.loop("i", int64(0), n, [&](Var i) { f.store(a, i * 2 + 1, load(a, i * 2 + 1) + 1.0); });
  Launches launches = checked_launches(f.build());
  ASSERT_EQ(grids_of(launches.steps).size(), 1u);
  EXPECT_EQ(grids_of(launches.steps)[0]->threads, 256);
}

TEST(Launches, TurnsThatUseEachOthersElementsAreOneThreads) {
  FunctionBuilder f("chain");
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), n = f.scalar("n", 0);
  f.loop("i", int64(1), n, [&](Var i) { f.store(a, i, load(a, i - 1) + 1.0); });
  Launches launches = checked_launches(f.build());
  ASSERT_EQ(grids_of(launches.steps).size(), 1u);
  EXPECT_EQ(grids_of(launches.steps)[0]->threads, 1);
}

/// a(i) = B(i,j) * c(j), a row for each item.
Function spmv() {
  FunctionBuilder f("spmv");
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), pos = f.array("pos", 1, ScalarType::Int32);
  Var B = f.array("B", 2, ScalarType::Float64), n = f.scalar("n", 0);
  f.parallel("i", n, [&](Var i) {
    Var sum = f.variable("sum", zero(Float64));
    f.loop("p", load(pos, i), load(pos, i + 1), [&](Var p) { f.increase(sum, load(B, p)); });
    f.store(a, i, sum);
  });
  return f.build();
}

TEST(Launches, LanesAddUpARowTogether) {
  EXPECT_EQ(grid_text(checked_launches(spmv(), {.lanes = 8})), R"(  const int64_t block = blockIdx.x;
  const int64_t thread = threadIdx.x;
  const int64_t worker = (block * 256 + thread) / 8;
  const int64_t lane = thread % 8;
  if (worker < n) {
    {
      double sum = 0;
      {
        double part = 0;
        {
          const int64_t p_last = pos[worker + 1];
          for (int64_t p_first = pos[worker] + lane; p_first < p_last; p_first += 8) {
            const int32_t p = int32_t(p_first);
            part += B[p];
          }
        }
        sum += warp_add<8>(part);
      }
      if (lane == 0)
        a[worker] = sum;
    }
  }
}
)");
}

TEST(Launches, AsManyLanesAsARowIsLong) {
  EXPECT_EQ(grids_of(checked_launches(spmv(), {.average_row = 1}).steps)[0]->lanes, 1);
  EXPECT_EQ(grids_of(checked_launches(spmv(), {.average_row = 11}).steps)[0]->lanes, 2);
  EXPECT_EQ(grids_of(checked_launches(spmv(), {.average_row = 1000}).steps)[0]->lanes, 32);
}

TEST(Launches, RowsOfAnyLengthAddUpWithAnyNumberOfLanes) {
  std::vector<int32_t> pos{0, 0, 1, 34, 40, 140};
  std::vector<double> B(140);
  std::iota(B.begin(), B.end(), 1.0);
  for (int lanes : {1, 2, 4, 8, 16, 32}) {
    std::vector<double> a(5, -1), wanted(5, 0);
    for (size_t i = 0; i < 5; i++)
      for (int32_t p = pos[i]; p < pos[i + 1]; p++) wanted[i] += B[size_t(p)];
    CallData call;
    call.array(CallData::view(a)), call.array(CallData::view(pos)), call.array(CallData::view(B));
    call.scalar(5);
    test::gpu().load(checked_launches(spmv(), {.lanes = lanes}))(call.get());
    EXPECT_EQ(a, wanted) << lanes;
  }
}

/// The text of the one loop of a grid that this stands in, up to the end.
std::string from_text(const Launches& launches, const std::string& first) {
  std::string text = grid_text(launches);
  size_t at = text.find(first);
  return at == text.npos ? text : text.substr(at);
}

/// The same in shares of equal numbers of positions; rows that are cut are added to.
Function spmv_in_shares() {
  FunctionBuilder f("spmv");
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), pos = f.array("pos", 1, ScalarType::Int32);
  Var B = f.array("B", 2, ScalarType::Float64), n = f.scalar("n", 0), stored = f.scalar("stored", 1);
  f.parallel("t", f.shares(), [&](Var t) {
    Var begin = f.constant("begin", Expr(stored) * t / f.shares());
    Var end = f.constant("end", Expr(stored) * (Expr(t) + 1) / f.shares());
    Var row = f.variable("row", upper_bound(pos, int64(0), n + 1, begin) - 1);
    f.loop_while(wide(load(pos, row)) < Expr(end), [&] {
      Var from = f.constant("from", wide(load(pos, row))), to = f.constant("to", wide(load(pos, Expr(row) + 1)));
      Var sum = f.variable("sum", zero(Float64));
      f.loop("p", max(from, begin), min(to, end), [&](Var p) { f.increase(sum, load(B, p)); });
      f.when(
          Expr(from) >= Expr(begin) && Expr(to) <= Expr(end), [&] { f.store(a, row, sum); },
          [&] { f.atomic_add(a, row, sum); });
      f.increase(row, 1);
    });
  });
  return f.build();
}

TEST(Launches, BlocksAddUpTheRowsOfTheirPositions) {
  // Rows that are empty, alone and in hundreds, rows of one block and of many, with ends where blocks have theirs.
  std::vector<int32_t> lengths{0, 0, 1, 33, 30, 0, 64, 0, 0, 130, 47, 48, 49, 50, 1000, 3, 0};
  lengths.insert(lengths.end(), 300, 0);
  for (int32_t k = 0; k < 90; k++) lengths.push_back(k % 3);
  lengths.push_back(0);
  std::vector<int32_t> pos{0};
  for (int32_t length : lengths) pos.push_back(pos.back() + length);
  std::vector<double> B(size_t(pos.back())), wanted(lengths.size(), 0);
  std::iota(B.begin(), B.end(), 1.0);
  for (size_t i = 0; i < lengths.size(); i++)
    wanted[i] = std::accumulate(B.begin() + pos[i], B.begin() + pos[i + 1], 0.0);
  for (int products : {32, 64, 512, 2048}) {
    Launches launches = checked_launches(spmv_in_shares(), {.products = products});
    auto* choice = std::get_if<std::shared_ptr<const Choice>>(&launches.steps.at(0));
    ASSERT_TRUE(choice && (*choice)->yes.size() == 3) << "rows are looked up, then added up";
    for (int64_t stored : {int64_t(pos.back()), int64_t(0)}) {
      std::vector<double> a(lengths.size(), 0);
      std::vector<int32_t> bounds = stored ? pos : std::vector<int32_t>(pos.size(), 0);
      CallData call;
      call.array(CallData::view(a));
      call.array(CallData::view(bounds));
      call.array(CallData::view(B));
      call.scalar(int64_t(lengths.size()));
      call.scalar(stored);
      test::gpu().load(launches)(call.get());
      EXPECT_EQ(a, stored ? wanted : std::vector<double>(lengths.size(), 0)) << products;
    }
  }
}

TEST(Launches, SumsAskForWhatAWholeRowLoadsBeforeTheyUseIt) {
  std::string text = from_text(checked_launches(spmv(), {.lanes = 2, .average_row = 5.5}), "for (int64_t p_first");
  EXPECT_EQ(text.substr(0, text.find("sum += warp")),
            R"(for (int64_t p_first = pos[worker] + lane; p_first < p_last; p_first += 6) {
            double B_ahead[3];
            #pragma unroll
            for (int64_t u = 0; u < 3; u++) {
              const int32_t p = int32_t(p_first + min_of(u * 2, p_last - 1 - p_first));
              B_ahead[u] = B[p];
            }
            #pragma unroll
            for (int64_t u = 0; u < 3; u++) {
              if (u * 2 < p_last - p_first) {
                const int32_t p = int32_t(p_first + u * 2);
                part += B_ahead[u];
              }
            }
          }
        }
        )");
}

/// a[i * 32 + k] = b[i * 32 + k], and of another array whose rows begin anywhere.
Function copied_rows() {
  FunctionBuilder f("rows");
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), b = f.array("b", 1, ScalarType::Float64);
  Var c = f.array("c", 2, ScalarType::Float64), n = f.scalar("n", 0), m = f.scalar("m", 1);
  f.parallel("i", n, [&](Var i) {
    f.loop("k", int64(0), int64(32), [&](Var k) { f.store(a, i * 32 + k, load(b, i * 32 + k) + load(c, i * m + k)); },
           {.kind = LoopKind::Vector});
  });
  return f.build();
}

TEST(Launches, LanesTakeAsManyColumnsAsAreLoadedAtOnceOfRowsThatAreAligned) {
  EXPECT_EQ(from_text(checked_launches(copied_rows(), {.lanes = 8}), "const int64_t k_first"),
            R"(const int64_t k_first = (kq * 8 + lane) * 2;
      alignas(16) double b_near[2];
      *(doublex2*)b_near = *(const doublex2*)&b[worker * 32 + k_first];
      alignas(16) double a_near[2];
      #pragma unroll
      for (int64_t k_next = 0; k_next < 2; k_next++) {
        const int64_t k = k_first + k_next;
        a_near[k_next] = b_near[k_next] + c[worker * m + k];
      }
      *(doublex2*)&a[worker * 32 + k_first] = *(doublex2*)a_near;
    }
  }
}
)");
}

/// a[p] = sum of b[p * 32 + k], for the elements p of each row.
Function sums_of_turns() {
  FunctionBuilder f("turns");
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), b = f.array("b", 1, ScalarType::Float64);
  Var pos = f.array("pos", 2, ScalarType::Int32), n = f.scalar("n", 0);
  f.parallel("i", n, [&](Var i) {
    f.loop("p", load(pos, i), load(pos, i + 1), [&](Var p) {
      Var sum = f.variable("sum", zero(Float64));
      Expr row = cast(ScalarType::Int64, p) * 32;
      f.loop("k", int64(0), int64(32), [&](Var k) { f.increase(sum, load(b, row + k)); });
      f.store(a, p, sum);
    });
  });
  return f.build();
}

TEST(Launches, SumsOfAsManyTurnsAsThereAreLanesAreAddedUpTogether) {
  std::vector<int32_t> pos{0, 0, 3, 16, 17, 40};
  std::vector<double> b(40 * 32);
  std::iota(b.begin(), b.end(), 1.0);
  std::vector<double> wanted(40, 0);
  for (size_t k = 0; k < b.size(); k++) wanted[k / 32] += b[k];
  for (int lanes : {1, 2, 4, 8, 16}) {
    Launches launches = checked_launches(sums_of_turns(), {.lanes = lanes});
    bool together = from_text(launches, "double parts[").starts_with("double parts[");
    EXPECT_EQ(together, lanes >= 2 && lanes <= 8) << lanes;
    std::vector<double> a(40, -1);
    CallData call;
    call.array(CallData::view(a)), call.array(CallData::view(b)), call.array(CallData::view(pos));
    call.scalar(5);
    test::gpu().load(launches)(call.get());
    EXPECT_EQ(a, wanted) << lanes;
  }
}

/// out[16 f + p] = function f, of those that complex numbers have, of in[p] (and of in[15 - p], where it has two arguments).
Function complex_functions(ScalarType type, std::vector<Math>& functions) {
  FunctionBuilder f("functions");
  Var out = f.array("out", 0, type, Access::Write), in = f.array("in", 1, type);
  for (int k = 0; k < math_functions; k++)
    if (exists_for(Math(k), type) && !info(Math(k)).real_result) functions.push_back(Math(k));
  f.parallel("p", int64(16), [&](Var p) {
    for (size_t k = 0; k < functions.size(); k++) {
      std::vector<Expr> args{load(in, p)};
      if (info(functions[k]).arity == 2) args.push_back(load(in, 15 - Expr(p)));
      f.store(out, p + int64_t(16 * k), call(functions[k], args));
    }
  });
  return f.build();
}

// Says something of a GPU alone (TEST_GPU=cuda): interpreted, both sides are the host. `OfDevices` compiles the same text for it.
TEST(Launches, FunctionsOfComplexNumbersAreThoseOfTheHost) {
  auto run = [&]<class T>(T, ScalarType type, double tolerance) {
    std::vector<Math> functions;
    Launches launches = checked_launches(complex_functions(type, functions));
    if (auto nvrtc = Nvrtc::find()) nvrtc->compile(cuda_text({grids_of(launches.steps)[0]->function}), "functions");
    std::vector<std::complex<T>> in, out(16 * functions.size());
    for (int p = 0; p < 12; p++) in.emplace_back(T(p % 4) * T(0.7) - T(1.1), T(p / 4) * T(0.9) - T(1.3));
    for (T re : {T(2), T(-2)})
      for (T im : {T(0), -T(0)}) in.emplace_back(re, im);  // on the cuts
    CallData call;
    call.array(CallData::view(out)), call.array(CallData::view(in));
    test::gpu().load(launches)(call.get());
    for (size_t k = 0; k < functions.size(); k++)
      for (size_t p = 0; p < 16; p++) {
        std::complex<T> wanted = evaluate_math(functions[k], in[p], in[15 - p]), made = out[16 * k + p];
        EXPECT_LE(std::abs(made - wanted), tolerance * std::max(T(1), std::abs(wanted)))
            << info(functions[k]).name << " of " << in[p];
      }
  };
  run(0.0, ScalarType::Complex128, 1e-12);
  run(0.0f, ScalarType::Complex64, 1e-4);
}

TEST(Launches, WhatLanesWouldRaceForIsOneLanes) {
  FunctionBuilder f("neighbours");
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), n = f.scalar("n", 0);
  f.parallel("i", n, [&](Var i) {
    f.loop("k", int64(0), int64(32), [&](Var k) { f.store(a, i * 33 + k, 1.0); }, {.kind = LoopKind::Vector});
    f.store(a, i * 33 + 32, load(a, i * 33));
  });
  EXPECT_EQ(grids_of(checked_launches(f.build(), {.lanes = 8}).steps)[0]->lanes, 1);
}

}  // namespace
}  // namespace spdistal::codegen
