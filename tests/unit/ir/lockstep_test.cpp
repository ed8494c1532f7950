// What a GPU runs, interpreted: blocks, warps and lanes, barriers, shared memory, what warps compute together, races.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/require.hpp"
#include "ir/build.hpp"
#include "ir/interpret.hpp"
#include "ir/verify.hpp"
#include "unit/ir/call_data.hpp"

namespace spdistal::ir {
namespace {

using testing::CallData;
using ::testing::HasSubstr;

using Fill2 = std::function<void(const Var& block, const Var& thread)>;

/// A grid of so many blocks of so many threads.
void grid(FunctionBuilder& f, const Operand& blocks, int threads, const Fill2& fill) {
  f.loop("block", int32(0), blocks,
         [&](Var block) {
           f.loop("thread", int32(0), int32(threads), [&](Var thread) { fill(block, thread); },
                  {.kind = LoopKind::GPUThread});
         },
         {.kind = LoopKind::GPUBlock});
}

Var shared(FunctionBuilder& f, const std::string& name, ScalarType type, int count) {
  Var v = var(name, array_of(type));
  f.add(Allocate{v, int32(count), Fill::Uninitialised, MemorySpace::Shared});
  return v;
}
void barrier(FunctionBuilder& f, BarrierOf of = BarrierOf::Block) { f.add(Barrier{of}); }

/// Runs it on two arrays, with races found.
template <class In, class Out>
void run(const FunctionBuilder& f, std::vector<In>& in, std::vector<Out>& out, std::vector<int64_t> scalars = {}) {
  Function function = f.build();
  auto legal = verify(function);
  ASSERT_TRUE(legal) << legal.refusal().str();
  CallData call;
  call.array(CallData::view(in));
  call.array(CallData::view(out));
  for (int64_t s : scalars) call.scalar(s);
  interpret(function, call.get(), Races::Found);
}

/// What running it says where it fails.
template <class In, class Out>
std::string failure(const FunctionBuilder& f, std::vector<In>& in, std::vector<Out>& out) {
  try {
    run(f, in, out);
  } catch (const InternalError& e) { return e.what(); }
  return "nothing was found";
}

enum class Waits : uint8_t { Everywhere, NotInTheLoop };

/// out[block] = the sum of 64 elements of in: a tree in shared memory.
FunctionBuilder block_sum(Waits waits) {
  FunctionBuilder f("block_sum");
  Var in = f.array("in", 0, ScalarType::Int64), out = f.array("out", 1, ScalarType::Int64, Access::Write);
  Var blocks = f.scalar("blocks", 0, ScalarType::Int32);
  grid(f, blocks, 64, [&](const Var& block, const Var& thread) {
    Var part = shared(f, "part", ScalarType::Int64, 64);
    f.store(part, thread, load(in, block * 64 + thread));
    barrier(f);
    Var stride = f.variable("stride", int32(32));
    f.loop_while(stride > 0, [&] {
      f.when(thread < stride, [&] { f.store_add(part, thread, load(part, thread + stride)); });
      if (waits == Waits::Everywhere) barrier(f);
      f.assign(stride, stride / 2);
    });
    f.when(equal(thread, 0), [&] { f.store(out, block, load(part, 0)); });
  });
  return f;
}

TEST(Lockstep, ABlockAddsUpATreeInSharedMemory) {
  std::vector<int64_t> in(192), out(3, -1);
  std::iota(in.begin(), in.end(), 1);
  run(block_sum(Waits::Everywhere), in, out, {3});
  EXPECT_EQ(out, (std::vector<int64_t>{64 * 65 / 2, 64 * 65 / 2 + 64 * 64, 64 * 65 / 2 + 64 * 128}));
}

TEST(Lockstep, AMissingBarrierIsARace) {
  std::vector<int64_t> in(64, 1), out(1);
  Function f = block_sum(Waits::NotInTheLoop).build();
  ASSERT_TRUE(verify(f));
  CallData call;
  call.array(CallData::view(in));
  call.array(CallData::view(out));
  call.scalar(1);
  interpret(f, call.get(), Races::Ignored);
  EXPECT_EQ(out[0], 64) << "in lockstep it happens to work";
  try {
    interpret(f, call.get(), Races::Found);
    FAIL();
  } catch (const InternalError& e) { EXPECT_THAT(e.what(), HasSubstr("threads of a kernel race for element")); }
}

TEST(Lockstep, AWarpForEachRowOfASparseMatrix) {
  // Rows of 0, 1, 40, 3 and 70 entries; warps and lanes by their own loops.
  std::vector<int32_t> pos{0, 0, 1, 41, 44, 114};
  FunctionBuilder f("rows");
  Var pos_ = f.array("pos", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Float64, Access::Write);
  f.loop("block", int32(0), int32(3),
         [&](Var block) {
           f.loop("warp", int32(0), int32(2),
                  [&](Var warp) {
                    Var row = f.constant("row", block * 2 + warp);
                    f.loop("lane", int32(0), int32(32),
                           [&](Var lane) {
                             f.when(row < 5, [&] {
                               Var sum = f.variable("sum", zero(Float64));
                               f.loop("p", load(pos_, row) + lane, load(pos_, row + 1),
                                      [&](Var p) { f.increase(sum, cast(ScalarType::Float64, p)); },
                                      {.step = int32(32)});
                               Var total = f.constant("total", Expr(WarpReduce{BinaryOp::Add, sum}));
                               f.when(equal(lane, 0), [&] { f.store(out, row, total); });
                             });
                           },
                           {.kind = LoopKind::GPULane});
                  },
                  {.kind = LoopKind::GPUWarp});
         },
         {.kind = LoopKind::GPUBlock});
  std::vector<double> sums(5, -1), expected(5, 0);
  run(f, pos, sums);
  for (size_t i = 0; i < 5; i++)
    for (int32_t p = pos[i]; p < pos[i + 1]; p++) expected[i] += p;
  EXPECT_EQ(sums, expected);
}

TEST(Lockstep, AWarpAddsUpSegmentsOfItsLanes) {
  // Lanes of one key follow each other; the last one of each has the sum of them all.
  std::vector<int32_t> keys(64);
  for (size_t t = 0; t < 64; t++) keys[t] = int32_t(t * t / 150);
  FunctionBuilder f("segments");
  Var key = f.array("key", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int64, Access::Write);
  grid(f, 1, 64, [&](const Var&, const Var& thread) {
    Var mine = f.constant("mine", load(key, thread)), lane = f.constant("lane", thread % 32);
    Var sum = f.variable("sum", cast(ScalarType::Int64, thread) + 1);
    for (int d = 1; d < 32; d *= 2) {
      Var below = f.constant("below", Expr(Shuffle{Peer::Up, sum, int32(d)}));
      Var other = f.constant("other", Expr(Shuffle{Peer::Up, mine, int32(d)}));
      f.when(lane >= d && equal(mine, other), [&] { f.increase(sum, below); });
    }
    Var next = f.constant("next", Expr(Shuffle{Peer::Down, mine, int32(1)}));
    // Segments that warps cut are added by both.
    f.when(equal(lane, 31) || differ(mine, next), [&] { f.atomic_add(out, mine, sum); });
  });
  std::vector<int64_t> sums(size_t(keys.back()) + 1), expected = sums;
  for (size_t t = 0; t < 64; t++) expected[size_t(keys[t])] += int64_t(t) + 1;
  run(f, keys, sums);
  EXPECT_EQ(sums, expected);
}

TEST(Lockstep, ABlockScansThroughSharedMemory) {
  FunctionBuilder f("scan");
  Var in = f.array("in", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int32, Access::Write);
  grid(f, 1, 128, [&](const Var&, const Var& thread) {
    Var totals = shared(f, "totals", ScalarType::Int32, 4);
    Var lane = f.constant("lane", thread % 32), warp = f.constant("warp", thread / 32);
    Var sum = f.variable("sum", Expr(WarpScan{BinaryOp::Add, load(in, thread)}));
    f.when(equal(lane, 31), [&] { f.store(totals, warp, sum); });
    barrier(f);
    f.loop("w", int32(0), warp, [&](Var w) { f.increase(sum, load(totals, w)); });
    f.store(out, thread, sum);
  });
  std::vector<int32_t> input(128), sums(128), expected(128);
  for (size_t t = 0; t < input.size(); t++) input[t] = int32_t(t * 37 % 101) - 40;
  std::partial_sum(input.begin(), input.end(), expected.begin());
  run(f, input, sums);
  EXPECT_EQ(sums, expected);
}

TEST(Lockstep, OfThreadsThatClaimAnElementOneFindsItFree) {
  FunctionBuilder f("claims");
  Var keys = f.array("keys", 0, ScalarType::Int32, Access::Write);
  Var found = f.array("found", 1, ScalarType::Int32, Access::Write);
  grid(f, 2, 64, [&](const Var& block, const Var& t) {
    Var before = f.variable("before", int32(0));
    f.add(Claim{before, keys, t % 8, t / 8 + block * 8 + 1});
    f.store(found, block * 64 + t, before);
  });
  std::vector<int32_t> places(8, 0), seen(128, -1);
  run(f, places, seen);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 8);
  for (size_t t = 0; t < 128; t++) EXPECT_TRUE(seen[t] == 0 || seen[t] == places[t % 8]) << t;
}

TEST(Lockstep, AWarpSortsTogether) {
  FunctionBuilder f("sort");
  Var in = f.array("in", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int32, Access::Write);
  grid(f, 1, 64, [&](const Var&, const Var& t) {
    f.store(out, t, load(in, t));
    barrier(f, BarrierOf::Warp);
    f.add(Sort{out, t / 32 * 32, t / 32 * 32 + 27, warp_size});
    barrier(f, BarrierOf::Warp);
  });
  std::vector<int32_t> values(64), sorted(64);
  for (size_t t = 0; t < 64; t++) values[t] = int32_t(t * 29 % 64);
  std::vector<int32_t> expected = values;
  for (auto warp : {expected.begin(), expected.begin() + 32}) std::sort(warp, warp + 27);
  run(f, values, sorted);
  EXPECT_EQ(sorted, expected);
}

/// out[t] = make(in[t], t) for the 64 threads of a block, in[t] = t * 7 % 64.
std::vector<int32_t> of_lanes(const std::function<Expr(const Expr& x, const Var& thread)>& make) {
  FunctionBuilder f("lanes");
  Var in = f.array("in", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int32, Access::Write);
  grid(f, 1, 64, [&](const Var&, const Var& t) { f.store(out, t, cast(ScalarType::Int32, make(load(in, t), t))); });
  std::vector<int32_t> values(64), made(64);
  for (size_t t = 0; t < 64; t++) values[t] = int32_t(t * 7 % 64);
  run(f, values, made);
  return made;
}

TEST(Lockstep, LanesTakeValuesOfOthers) {
  auto value = [](int t) { return t * 7 % 64; };
  for (int width : {2, 8, 32}) {
    int by = width / 2;
    auto shuffled = [&](Peer peer) {
      return of_lanes([&](const Expr& x, const Var&) { return Expr(Shuffle{peer, x, int32(by), width}); });
    };
    std::vector<int32_t> lane = shuffled(Peer::Lane), up = shuffled(Peer::Up), down = shuffled(Peer::Down),
                         other = shuffled(Peer::Xor);
    for (int t = 0; t < 64; t++) {
      int first = t / width * width;
      EXPECT_EQ(lane[size_t(t)], value(first + by));
      EXPECT_EQ(up[size_t(t)], value(t - by >= first ? t - by : t));
      EXPECT_EQ(down[size_t(t)], value(t + by < first + width ? t + by : t));
      EXPECT_EQ(other[size_t(t)], value(first + ((t - first) ^ by)));
    }
  }
}

TEST(Lockstep, GroupsOfLanesReduceAndScan) {
  auto value = [](int t) { return t * 7 % 64; };
  for (int width : {4, 16, 32})
    for (BinaryOp op : {BinaryOp::Add, BinaryOp::Min, BinaryOp::Max}) {
      auto all = of_lanes([&](const Expr& x, const Var&) { return Expr(WarpReduce{op, x, width}); });
      auto upto = of_lanes([&](const Expr& x, const Var&) { return Expr(WarpScan{op, x, width}); });
      for (int t = 0; t < 64; t++) {
        int first = t / width * width, whole = value(first), part = value(first);
        auto with = [&](int a, int b) {
          return op == BinaryOp::Add ? a + b : op == BinaryOp::Min ? std::min(a, b) : std::max(a, b);
        };
        for (int u = first + 1; u < first + width; u++) whole = with(whole, value(u));
        for (int u = first + 1; u <= t; u++) part = with(part, value(u));
        EXPECT_EQ(all[size_t(t)], whole);
        EXPECT_EQ(upto[size_t(t)], part);
      }
    }
}

TEST(Lockstep, WarpsVote) {
  auto any = of_lanes([](const Expr&, const Var& t) { return Expr(WarpVote{Vote::Any, equal(t, 40)}); });
  auto all = of_lanes([](const Expr&, const Var& t) { return Expr(WarpVote{Vote::All, t < 40}); });
  auto count = of_lanes([](const Expr&, const Var& t) { return Expr(WarpVote{Vote::Count, t < 40}); });
  for (size_t t = 0; t < 64; t++) {
    EXPECT_EQ(any[t], t >= 32);
    EXPECT_EQ(all[t], t < 32);
    EXPECT_EQ(count[t], t < 32 ? 32 : 8);
  }
}

TEST(Lockstep, ThreadsLeaveLoopsEachInItsTurn) {
  // The number of steps of 3n + 1, with a way out in the middle of the loop.
  FunctionBuilder f("steps");
  Var in = f.array("in", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int32, Access::Write);
  grid(f, 1, 40, [&](const Var&, const Var& t) {
    Var x = f.variable("x", load(in, t)), steps = f.variable("steps", int32(0));
    f.loop("k", int32(0), int32(1000), [&](Var) {
      f.when(x <= 1, [&] { f.stop(); });
      f.increase(steps, 1);
      f.when(
          equal(x % 2, 0), [&] { f.assign(x, x / 2); }, [&] { f.assign(x, x * 3 + 1); });
    });
    f.store(out, t, steps);
  });
  std::vector<int32_t> input(40), made(40);
  std::iota(input.begin(), input.end(), 1);
  run(f, input, made);
  for (int32_t n = 1; n <= 40; n++) {
    int32_t steps = 0;
    for (int32_t x = n; x > 1; steps++) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    EXPECT_EQ(made[size_t(n) - 1], steps);
  }
}

// ---- what is found ------------------------------------------------------------------------------------------------------

/// A kernel of 64 threads a block that has arrays in and out of int32.
std::string found(int blocks,
                  const std::function<void(FunctionBuilder&, Var in, Var out, Var block, Var thread)>& fill) {
  FunctionBuilder f("kernel");
  Var in = f.array("in", 0, ScalarType::Int32, Access::Write),
      out = f.array("out", 1, ScalarType::Int32, Access::Write);
  grid(f, blocks, 64, [&](const Var& block, const Var& thread) { fill(f, in, out, block, thread); });
  std::vector<int32_t> a(128), b(128);
  return failure(f, a, b);
}

constexpr const char* nothing = "nothing was found";

TEST(GpuRaces, BetweenThreadsThatStoreOneElement) {
  EXPECT_THAT(found(1, [](auto& f, Var, Var out, Var, Var t) { f.store(out, t / 2, t); }),
              HasSubstr("threads of a kernel race for element 0 of array 'out'"));
  EXPECT_EQ(found(1, [](auto& f, Var, Var out, Var, Var t) { f.store(out, t, t); }), nothing);
  EXPECT_EQ(found(1, [](auto& f, Var, Var out, Var, Var t) { f.atomic_add(out, t / 2, t); }), nothing);
}

TEST(GpuRaces, BetweenAStoreAndALoad) {
  auto neighbour = [](BarrierOf of, bool waits, int distance) {
    return found(1, [=](FunctionBuilder& f, Var in, Var out, Var, Var t) {
      f.store(out, t, t);
      if (waits) barrier(f, of);
      f.store(in, t, load(out, Expr(Binary{BinaryOp::Mod, t + distance, int32(64)})));
    });
  };
  EXPECT_THAT(neighbour(BarrierOf::Block, false, 1), HasSubstr("race for element"));
  EXPECT_EQ(neighbour(BarrierOf::Block, true, 1), nothing);
  EXPECT_EQ(neighbour(BarrierOf::Block, true, 32), nothing);
  EXPECT_THAT(neighbour(BarrierOf::Warp, true, 32), HasSubstr("race for element")) << "another warp has not waited";
  // The other way round: what was loaded is stored by somebody else.
  EXPECT_THAT(found(1,
                    [](auto& f, Var in, Var out, Var, Var t) {
                      f.store(in, t, load(out, 63 - Expr(t)));
                      f.store(out, t, t);
                    }),
              HasSubstr("race for element"));
}

TEST(GpuRaces, ABarrierOfTheWarpOrdersItsLanes) {
  auto pairs = [](bool waits) {
    return found(1, [=](FunctionBuilder& f, Var in, Var out, Var, Var t) {
      f.store(out, t, t);
      if (waits) barrier(f, BarrierOf::Warp);
      f.store(in, t, load(out, t / 2 * 2 + (1 - t % 2)));
    });
  };
  EXPECT_EQ(pairs(true), nothing);
  EXPECT_THAT(pairs(false), HasSubstr("race for element"));
}

TEST(GpuRaces, BetweenBlocksWhateverTheyWaitFor) {
  EXPECT_THAT(found(2,
                    [](auto& f, Var, Var out, Var block, Var t) {
                      barrier(f);
                      f.when(equal(t, 0), [&] { f.store(out, 5, block); });
                      barrier(f);
                    }),
              HasSubstr("blocks of a kernel race for element 5"));
  EXPECT_EQ(found(2, [](auto& f, Var, Var out, Var, Var t) { f.atomic_add(out, 5, t); }), nothing);
  EXPECT_EQ(found(2, [](auto& f, Var in, Var out, Var block, Var t) { f.store(out, block * 64 + t, load(in, 5)); }),
            nothing);
}

TEST(GpuRaces, SharedMemoryIsOfOneBlock) {
  EXPECT_EQ(found(2,
                  [](FunctionBuilder& f, Var, Var out, Var block, Var t) {
                    Var own = shared(f, "own", ScalarType::Int32, 64);
                    f.store(own, t, t);
                    barrier(f);
                    f.store(out, block * 64 + t, load(own, 63 - Expr(t)));
                  }),
            nothing);
}

TEST(Lockstep, ABarrierThatOnlySomeThreadsComeToIsRefused) {
  EXPECT_THAT(found(1, [](auto& f, Var, Var, Var, Var t) { f.when(t < 32, [&] { barrier(f); }); }),
              HasSubstr("only some threads of a block come to a barrier"));
  EXPECT_EQ(found(1, [](auto& f, Var, Var, Var b, Var) { f.when(b < 1, [&] { barrier(f); }); }), nothing);
  EXPECT_THAT(found(1, [](auto& f, Var, Var, Var, Var t) { f.loop("k", int32(0), t, [&](Var) { barrier(f); }); }),
              HasSubstr("only some threads of a block come to a barrier"));
  EXPECT_THAT(found(1, [](auto& f, Var, Var, Var, Var t) { f.when(t < 40, [&] { barrier(f, BarrierOf::Warp); }); }),
              HasSubstr("only some lanes of a warp come to a barrier"));
  EXPECT_EQ(found(1, [](auto& f, Var, Var, Var, Var t) { f.when(t < 32, [&] { barrier(f, BarrierOf::Warp); }); }),
            nothing);
}

TEST(Lockstep, WarpsComputeTogetherOrNotAtAll) {
  auto summed = [](int threads) {
    return found(1, [=](FunctionBuilder& f, Var in, Var out, Var, Var t) {
      f.when(t < threads, [&] { f.store(out, t, Expr(WarpReduce{BinaryOp::Add, load(in, t)})); });
    });
  };
  EXPECT_EQ(summed(64), nothing);
  EXPECT_EQ(summed(32), nothing);
  EXPECT_THAT(summed(33), HasSubstr("only some lanes of a warp come to what it computes together"));
}

TEST(Lockstep, SharedMemoryHoldsNothingAtFirst) {
  FunctionBuilder f("fresh");
  Var in = f.array("in", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int32, Access::Write);
  grid(f, 1, 32, [&](const Var&, const Var& t) {
    Var own = shared(f, "own", ScalarType::Int32, 32);
    f.store(out, t, load(own, t) + load(in, t));
  });
  std::vector<int32_t> zeros(32), made(32);
  run(f, zeros, made);
  EXPECT_EQ(made, std::vector<int32_t>(32, -1));
}

TEST(Lockstep, GroupsOfAWarpRunApart) {
  auto summed = [](int threads) {
    return found(1, [=](FunctionBuilder& f, Var in, Var out, Var, Var t) {
      f.when(t < threads, [&] { f.store(out, t, Expr(WarpReduce{BinaryOp::Add, load(in, t), 8})); });
    });
  };
  EXPECT_EQ(summed(40), nothing);
  EXPECT_THAT(summed(44), HasSubstr("only some lanes of a group come to what it computes together"));
}

TEST(VerifyGpu, RefusesWhatNoGpuCanRun) {
  auto refused = [](const std::function<void(FunctionBuilder&, Var out, Var thread)>& fill) -> std::string {
    FunctionBuilder f("kernel");
    Var out = f.array("out", 0, ScalarType::Float64, Access::Write);
    grid(f, 1, 32, [&](const Var&, const Var& t) { fill(f, out, t); });
    auto legal = verify(f.build());
    return legal ? "legal" : legal.refusal().str();
  };
  Expr one = literal(Scalar::of(1.0));
  Expr sum = WarpReduce{BinaryOp::Add, one};
  EXPECT_EQ(refused([&](auto& f, Var out, Var t) { f.store(out, t, sum); }), "legal");
  EXPECT_THAT(refused([&](auto& f, Var out, Var t) { f.store(out, t, select(t < 3, sum, one)); }),
              HasSubstr("all lanes of a warp come to what they compute together"));
  EXPECT_THAT(refused([&](auto& f, Var out, Var t) { f.when(t < 3 && sum > 1.0, [&] { f.store(out, t, one); }); }),
              HasSubstr("all lanes of a warp come to what they compute together"));
  EXPECT_THAT(refused([&](auto& f, Var out, Var t) {
                f.store(out, t, Expr(WarpReduce{BinaryOp::Mul, one}));
              }),
              HasSubstr("warps add, or take extremes"));
  EXPECT_THAT(refused([&](auto& f, Var out, Var t) {
                f.store(out, t, Expr(WarpScan{BinaryOp::Add, one, 12}));
              }),
              HasSubstr("groups have 2, 4, 8, 16 or 32 lanes"));
  EXPECT_THAT(refused([&](auto& f, Var out, Var t) {
                f.store(out, t, Expr(Shuffle{Peer::Up, one, one}));
              }),
              HasSubstr("an index is an int32 or int64"));
  EXPECT_THAT(refused([&](auto& f, Var, Var t) {
                f.loop("lane", int32(0), int32(32), [](Var) {}, {.kind = LoopKind::GPULane});
                (void)t;
              }),
              HasSubstr("lanes from 0 to 32 are inside of warps"));
  EXPECT_THAT(refused([&](auto& f, Var, Var) {
                f.loop("again", int32(0), int32(32), [](Var) {}, {.kind = LoopKind::GPUWarp});
              }),
              HasSubstr("GPU threads do not nest"));
  EXPECT_THAT(refused([&](auto& f, Var, Var) {
                f.add(Allocate{var("s", array_of(ScalarType::Int32)), int32(4), Fill::Zeroed, MemorySpace::Shared});
              }),
              HasSubstr("shared arrays are not initialised"));
  FunctionBuilder outside("outside");
  outside.constant("x", sum);
  EXPECT_THAT(verify(outside.build()).refusal().str(), HasSubstr("warps compute together inside of GPU threads"));
}

}  // namespace
}  // namespace spdistal::ir
