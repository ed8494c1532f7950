// CUDA text, compiled by NVRTC where that is there.
#include "codegen/cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/require.hpp"
#include "codegen/nvrtc.hpp"
#include "ir/build.hpp"
#include "ir/math.hpp"
#include "ir/verify.hpp"
#include "unit/ir/call_data.hpp"
#include "unit/ir/level_arrays.hpp"

namespace spdistal::codegen {
namespace {

using namespace ir;
using testing::CallData;
using testing::crd_array;
using ::testing::HasSubstr;
using testing::pos_array;

void expect_compiles(const CudaKernel& kernel) {
  auto nvrtc = Nvrtc::find();
  if (!nvrtc) GTEST_SKIP() << "no NVRTC on this machine";
  try {
    EXPECT_THAT(nvrtc->compile(kernel.text, kernel.name), HasSubstr(".entry " + kernel.name));
  } catch (const SystemError& e) { FAIL() << e.what() << kernel.text; }
}

/// a(i) = B(i,j) * c(j): a warp for each row, four rows to a block.
Function warp_spmv() {
  FunctionBuilder f("spmv");
  Var a = f.vals("a", 0, ScalarType::Float64, Access::Write);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  Var pos = pos_array(f, "B_pos", 1, 1, ScalarType::Int32), crd = crd_array(f, "B_crd", 1, 1, ScalarType::Int32);
  Var B = f.vals("B", 1, ScalarType::Float64, Access::Read), c = f.vals("c", 2, ScalarType::Float64, Access::Read);
  Var blocks = f.constant("blocks", (n + 3) / 4);
  f.loop("block", int32(0), blocks,
         [&](Var block) {
           f.loop("thread", int32(0), int32(128),
                  [&](Var thread) {
                    Var lane = f.constant("lane", thread % 32);
                    Var i = f.constant("i", block * 4 + thread / 32);
                    f.when(i < n, [&] {
                      Var sum = f.variable("sum", zero(Float64));
                      f.loop("p", load(pos, i) + lane, load(pos, i + 1),
                             [&](Var p) { f.increase(sum, load(B, p) * load(c, load(crd, p))); }, {.step = int32(32)});
                      Var total = f.constant("total", Expr(WarpReduce{BinaryOp::Add, sum}));
                      f.when(equal(lane, 0), [&] { f.store(a, i, total); });
                    });
                  },
                  {.kind = LoopKind::GPUThread});
         },
         {.kind = LoopKind::GPUBlock});
  return f.build();
}

/// out[thread] = in[thread], by way of shared memory; used at once, or where all threads have waited.
enum class UsedWhere : uint8_t { AtOnce, BehindABarrier };
Function through_shared_memory(UsedWhere where) {
  FunctionBuilder f("pass_on");
  Var out = f.array("out", 0, ScalarType::Float64, Access::Write), in = f.array("in", 1, ScalarType::Float64);
  Var staged = var("staged", array_of(ScalarType::Float64));
  f.loop("block", int64(0), int64(1),
         [&](Var) {
           f.loop("thread", int64(0), int64(32),
                  [&](Var thread) {
                    f.add(Allocate{staged, int64(32), Fill::Uninitialised, MemorySpace::Shared});
                    f.add(store(staged, thread, Expr(Load{in, thread, 1, true})));
                    if (where == UsedWhere::BehindABarrier) f.add(Barrier{});
                    f.store(out, thread, load(staged, thread));
                  },
                  {.kind = LoopKind::GPUThread});
         },
         {.kind = LoopKind::GPUBlock});
  return f.build();
}

TEST(Cuda, WhatGoesIntoSharedMemoryIsCopiedAheadWhereItIsUsedBehindABarrierAlone) {
  CudaKernel behind = cuda_kernel(through_shared_memory(UsedWhere::BehindABarrier));
  EXPECT_THAT(behind.text,
              HasSubstr("copy_ahead(&staged[thread], &in[thread]);\n  wait_for_copies();\n  __syncthreads();"));
  expect_compiles(behind);
  CudaKernel at_once = cuda_kernel(through_shared_memory(UsedWhere::AtOnce));
  EXPECT_THAT(at_once.text, HasSubstr("staged[thread] = __ldcs(&in[thread]);"));
  expect_compiles(at_once);
}

TEST(Cuda, SpmvWithAWarpForEachRow) {
  Function f = warp_spmv();
  ASSERT_TRUE(verify(f));
  CudaKernel kernel = cuda_kernel(f);
  EXPECT_EQ(kernel.threads, 128);
  EXPECT_EQ(
      kernel.text.substr(kernel.text.find("extern")),
      R"(extern "C" __global__ void __launch_bounds__(128) spmv(double* __restrict__ a, const int32_t n, const int32_t* __restrict__ B_pos, const int32_t* __restrict__ B_crd, const double* __restrict__ B, const double* __restrict__ c) {
  const int32_t blocks = (n + 3) / 4;
  const int32_t block = blockIdx.x;
  const int32_t thread = threadIdx.x;
  const int32_t lane = thread % 32;
  const int32_t i = block * 4 + thread / 32;
  if (i < n) {
    double sum = 0;
    for (int32_t p = B_pos[i] + lane, p_end = B_pos[i + 1]; p < p_end; p += 32)
      sum += B[p] * c[B_crd[p]];
    const double total = warp_add(sum);
    if (lane == 0)
      a[i] = total;
  }
}
)");
  expect_compiles(kernel);
}

TEST(Cuda, WarpsAndLanesAreThreads) {
  FunctionBuilder f("sums");
  Var out = f.array("out", 0, ScalarType::Float64, Access::Write), n = f.scalar("n", 0, ScalarType::Int32);
  f.loop("block", int32(0), n,
         [&](Var block) {
           f.loop("warp", int32(0), int32(4),
                  [&](Var warp) {
                    f.loop("lane", int32(0), int32(32),
                           [&](Var lane) {
                             Var x = f.constant("x", Expr(Shuffle{Peer::Xor, load(out, lane), int32(4), 8}));
                             Var sum = f.constant("sum", Expr(WarpScan{BinaryOp::Add, x, 8}));
                             Var many = f.constant("many", Expr(WarpVote{Vote::Count, x > 0.0}));
                             f.add(Barrier{BarrierOf::Warp});
                             f.store(out, block * 4 + warp, sum + cast(ScalarType::Float64, many));
                           },
                           {.kind = LoopKind::GPULane});
                  },
                  {.kind = LoopKind::GPUWarp});
         },
         {.kind = LoopKind::GPUBlock});
  ASSERT_TRUE(verify(f.build()));
  CudaKernel kernel = cuda_kernel(f.build());
  EXPECT_EQ(kernel.threads, 128);
  EXPECT_EQ(kernel.text.substr(kernel.text.find("extern")),
            R"(extern "C" __global__ void __launch_bounds__(128) sums(double* __restrict__ out, const int32_t n) {
  const int32_t block = blockIdx.x;
  const int32_t warp = threadIdx.x / 32;
  const int32_t lane = threadIdx.x % 32;
  const double x = __shfl_xor_sync(group_mask<8>(), out[lane], 4, 8);
  const double sum = warp_scan_add<8>(x);
  const int32_t many = __popc(__ballot_sync(0xffffffff, x > 0.0));
  __syncwarp();
  out[block * 4 + warp] = sum + many;
}
)");
  expect_compiles(kernel);
}

TEST(Cuda, TheHostCountsTheBlocksOfACall) {
  CudaKernel kernel = cuda_kernel(warp_spmv());
  CallData call;
  call.tensor({{0}}, {});
  call.tensor({{.extent = 10}, {}}, {});
  EXPECT_EQ(block_count(kernel, call.get()), 3);
}

TEST(Cuda, EveryStatementAndHelperCompiles) {
  FunctionBuilder f("all");
  std::vector<Var> arrays;
  for (ScalarType type : all_scalar_types)
    arrays.push_back(f.array("a" + std::to_string(int(type)), int(type), type, Access::Write));
  Var n = f.scalar("n", 0);
  f.loop("block", int64(0), n,
         [&](Var block) {
           f.loop(
               "t", int64(0), int64(64),
               [&](Var t) {
                 Var shared = var("shared", array_of(ScalarType::Float64));
                 f.add(Allocate{shared, int64(64), Fill::Uninitialised, MemorySpace::Shared});
                 f.store(shared, t, 1);
                 f.add(Barrier{});
                 Var local = f.allocate("local", ScalarType::Int32, 8, Fill::Zeroed);
                 f.sort(local, 0, 8);
                 f.loop("k", int32(0), int32(8), [&](Var k) { f.store(local, k, k); },
                        {.kind = LoopKind::Vector, .unroll = 4});
                 for (size_t type = 1; type < 7; type++) {
                   f.atomic_add(arrays[type], block, load(arrays[type], t) * load(arrays[type], t));
                   f.store(arrays[type], t, -(load(arrays[type], 0) / load(arrays[type], 1)) - load(arrays[type], 2));
                 }
                 for (size_t type = 1; type < 5; type++) {
                   Expr x = load(arrays[type], t);
                   f.store(arrays[type], 0, min(max(x, 1), Expr(WarpReduce{BinaryOp::Max, x})));
                   for (BinaryOp op : {BinaryOp::Add, BinaryOp::Min, BinaryOp::Max}) {
                     f.store(arrays[type], t, Expr(WarpReduce{op, x, 8}));
                     f.store(arrays[type], t, Expr(WarpScan{op, x}));
                     f.store(arrays[type], t, Expr(WarpScan{op, x, 4}));
                   }
                   for (Peer peer : {Peer::Lane, Peer::Up, Peer::Down, Peer::Xor})
                     f.store(arrays[type], t, Expr(Shuffle{peer, x, int32(1)}) + Expr(Shuffle{peer, x, int32(1), 8}));
                 }
                 for (Vote vote : {Vote::Any, Vote::All, Vote::Count})
                   f.store(arrays[1], t, cast(ScalarType::Int32, Expr(WarpVote{vote, t < 7})));
                 f.add(Barrier{BarrierOf::Warp});
                 for (int m = 0; m < math_functions; m++)
                   for (ScalarType type :
                        {ScalarType::Int32, ScalarType::Int64, ScalarType::Float32, ScalarType::Float64}) {
                     if (!exists_for(Math(m), type)) continue;
                     std::vector<Expr> args(size_t(info(Math(m)).arity), load(arrays[size_t(type)], t));
                     f.store(arrays[size_t(type)], t, call(Math(m), args));
                   }
                 for (Math m : {Math::Abs, Math::Real, Math::Imag})
                   f.store(arrays[4], t, call(m, {load(arrays[6], t)}));
                 f.store(arrays[5], t, call(Math::Conj, {load(arrays[5], t)}));
                 f.store(arrays[6], t,
                         cast(ScalarType::Complex128, load(arrays[5], t)) +
                             literal(ir::Scalar::of(std::complex<double>(1, 2))));
                 f.store(arrays[6], t, load(shared, 63 - t));
                 f.store(arrays[2], t, lower_bound(local, 0, int64(8), 3));
                 f.store(arrays[0], t, cast(ScalarType::Bool, load(arrays[4], t)));
                 f.prefetch(arrays[4], t + 1);
                 f.store(arrays[4], t, literal(ir::Scalar::of(std::numeric_limits<double>::infinity())));
               },
               {.kind = LoopKind::GPUThread});
         },
         {.kind = LoopKind::GPUBlock});
  auto legal = verify(f.build());
  ASSERT_TRUE(legal) << legal.refusal().str();
  expect_compiles(cuda_kernel(f.build()));
}

TEST(Cuda, RefusesWhatIsNoGpuKernel) {
  FunctionBuilder f("f");
  Var n = f.scalar("n", 0);
  f.loop("i", 0, n, [](Var) {});
  EXPECT_THROW(cuda_kernel(f.build()), InternalError);
}

TEST(Cuda, AFailureOfNvrtcCarriesItsLog) {
  auto nvrtc = Nvrtc::find();
  if (!nvrtc) GTEST_SKIP() << "no NVRTC on this machine";
  try {
    nvrtc->compile("this is no CUDA", "broken");
    FAIL();
  } catch (const SystemError& e) { EXPECT_THAT(e.log(), HasSubstr("broken.cu")); }
}

}  // namespace
}  // namespace spdistal::codegen
