#include "memory/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "memory/array.hpp"
#include "memory/poison.hpp"
#include "memory/pool.hpp"
#include "memory/scratch.hpp"

namespace spdistal::memory {
namespace {

std::span<uint64_t> words(Buffer& buffer) {
  return {reinterpret_cast<uint64_t*>(buffer.data()), buffer.size() / sizeof(uint64_t)};
}

TEST(Buffer, OfAnySizeIsMadeOfWhatWasGivenBackLast) {
  for (size_t bytes = (size_t(2) << 20) + 1; bytes < (size_t(40) << 20); bytes += bytes / 3) {
    Buffer other = Buffer::uninitialized(bytes);
    const std::byte* last = nullptr;
    {
      Buffer gone = Buffer::uninitialized(bytes);
      last = gone.address();
    }
    EXPECT_EQ(Buffer::uninitialized(bytes).address(), last) << bytes << " bytes";
  }
}

TEST(Buffer, KeepsWhatComesFirstWhenItShrinks) {
  for (size_t bytes : {size_t(4096), size_t(16) << 20})
    for (size_t kept : {bytes, bytes / 2, bytes / 3 / 8 * 8, size_t(8), size_t(0)}) {
      Buffer buffer = Buffer::uninitialized(bytes);
      std::iota(words(buffer).begin(), words(buffer).end(), uint64_t(7));
      buffer.shrink(kept);
      ASSERT_EQ(buffer.size(), kept);
      for (size_t k = 0; k < words(buffer).size(); k++) ASSERT_EQ(words(buffer)[k], k + 7);
    }
}

TEST(Buffer, IsZeroedWhenThatIsAskedForWhateverItsMemoryHeldBefore) {
  constexpr size_t bytes = size_t(3) << 20;
  for (int round = 0; round < 3; round++) {
    // More than are kept as they are for whoever wants memory next.
    std::vector<Buffer> used;
    for (int k = 0; k < 12; k++)
      std::ranges::fill(words(used.emplace_back(Buffer::uninitialized(bytes))), ~uint64_t(0));
    used[0].shrink(8);
    used.clear();
    for (int k = 0; k < 12; k++) {
      used.push_back(Buffer::zeroed(bytes));
      for (uint64_t word : words(used.back())) ASSERT_EQ(word, 0u);
    }
  }
}

TEST(Buffer, IsAlignedAndLargeOnesBeginWithAHugePage) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(100), (size_t(2) << 20) - 1, size_t(2) << 20, size_t(5) << 20}) {
    Buffer buffer = Buffer::uninitialized(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_GE(buffer.capacity(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % (bytes >= 2 << 20 ? 2 << 20 : 64), 0u);
  }
}

TEST(Buffer, KeepsMemoryThatSuffices) {
  Buffer buffer = Buffer::uninitialized(1000);
  const std::byte* before = buffer.data();
  buffer.reserve(10);
  buffer.reserve(900);
  EXPECT_EQ(buffer.data(), before);
  EXPECT_EQ(buffer.size(), 900u);
  buffer.reserve(100'000);
  EXPECT_GE(buffer.capacity(), 100'000u);
}

TEST(Buffer, KeepsAllOfItsMemoryWhenThereIsMoreRoom) {
  for (size_t bytes : {size_t(64), size_t(4) << 20}) {
    Buffer buffer = Buffer::uninitialized(bytes);
    std::iota(words(buffer).begin(), words(buffer).end(), uint64_t(7));
    buffer.make_room(bytes);
    const std::byte* before = buffer.address();
    buffer.make_room(buffer.capacity());
    EXPECT_EQ(buffer.address(), before) << "there was room";
    // What somebody keeps behind the bytes in use is kept as well.
    std::span<std::byte> room(buffer.data(), buffer.capacity());
    if (room.size() > bytes) room.back() = std::byte(42);
    buffer.make_room(3 * room.size());
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_GE(buffer.capacity(), 3 * room.size());
    for (size_t k = 0; k < words(buffer).size(); k++) ASSERT_EQ(words(buffer)[k], k + 7);
    if (room.size() > bytes) { EXPECT_EQ(buffer.data()[room.size() - 1], std::byte(42)); }
  }
}

// In front of the first byte as behind the last, in any order; what is kept there goes along whenever it moves.
TEST(Buffer, KeepsWhatLiesAroundItsBytesWhenThereIsMoreRoom) {
  for (size_t bytes : {size_t(64), size_t(4) << 20}) {
    size_t before = bytes_held();
    {
      Buffer buffer = Buffer::uninitialized(bytes);
      std::iota(words(buffer).begin(), words(buffer).end(), uint64_t(7));
      buffer.make_room(bytes + 100, 24);
      EXPECT_GE(buffer.front(), 24u);
      EXPECT_GE(buffer.capacity(), bytes + 100);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.address()) % 64, 0u);
      for (size_t k = 1; k <= 24; k++) buffer.data()[-std::ptrdiff_t(k)] = std::byte(k);
      buffer.data()[bytes + 99] = std::byte(99);
      for (auto [room, front] :
           {std::pair(bytes + 200, size_t(0)), {size_t(9) << 20, size_t(25)}, {bytes, size_t(5) << 20}}) {
        buffer.make_room(room, front);
        EXPECT_EQ(buffer.size(), bytes);
        EXPECT_GE(buffer.capacity(), room);
        EXPECT_GE(buffer.front(), front);
        EXPECT_EQ(bytes_held() - before, buffer.front() + buffer.capacity());
        for (size_t k = 0; k < words(buffer).size(); k++) ASSERT_EQ(words(buffer)[k], k + 7);
        for (size_t k = 1; k <= 24; k++) ASSERT_EQ(buffer.data()[-std::ptrdiff_t(k)], std::byte(k));
        EXPECT_EQ(buffer.data()[bytes + 99], std::byte(99));
        buffer.data()[-std::ptrdiff_t(front)] = buffer.data()[-std::ptrdiff_t(front)];  // it is there
      }
      buffer.shrink(bytes / 2);
      for (size_t k = 0; k < words(buffer).size(); k++) ASSERT_EQ(words(buffer)[k], k + 7);
      Buffer moved = std::move(buffer);
      EXPECT_EQ(buffer.front(), 0u);
      EXPECT_GE(moved.front(), size_t(5) << 20);
    }
    EXPECT_EQ(bytes_held(), before);
  }
}

TEST(Buffer, LeavesItsMemoryToWhoeverKeepsItWhenItMovesForMoreRoom) {
  Buffer buffer = Buffer::uninitialized(size_t(4) << 20);
  std::iota(words(buffer).begin(), words(buffer).end(), uint64_t(7));
  std::shared_ptr<const void> kept = buffer.owner();
  buffer.make_room(size_t(64) << 20);
  std::ranges::fill(words(buffer), uint64_t(1));
  const auto* before = static_cast<const uint64_t*>(kept.get());
  for (size_t k = 0; k < words(buffer).size(); k++) ASSERT_EQ(before[k], k + 7);
}

TEST(Buffer, CountsWhatItHoldsHoweverItCameToMoreRoom) {
  size_t before = bytes_held();
  {
    Buffer buffer = Buffer::uninitialized(size_t(4) << 20);
    for (size_t room = size_t(5) << 20; room < size_t(200) << 20; room *= 2) {
      buffer.make_room(room);
      EXPECT_EQ(bytes_held() - before, buffer.capacity());
    }
  }
  EXPECT_EQ(bytes_held(), before);
}

TEST(Buffer, OfSomebodyElseIsUsedInPlaceKeptAliveAndNeverGrows) {
  auto mine = std::make_shared<std::vector<std::byte>>(16);
  std::weak_ptr<std::vector<std::byte>> watched = mine;
  {
    Buffer buffer = Buffer::borrowed(*mine, mine);
    EXPECT_EQ(buffer.data(), mine->data());
    mine.reset();
    EXPECT_FALSE(watched.expired());
    EXPECT_TRUE(buffer.is_borrowed());
    EXPECT_THROW(buffer.reserve(17), InternalError);
    EXPECT_THROW(buffer.make_room(17), InternalError);
    buffer.shrink(8);
    Buffer own = buffer.clone();
    EXPECT_FALSE(own.is_borrowed());
    EXPECT_NE(own.data(), buffer.data());
    Buffer moved = std::move(buffer);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

/// Memory of a device that does not exist: the host's, counted.
struct CountedPool final : Pool {
  struct Counts {
    int taken = 0, given = 0, filled = 0, copied = 0;
  };
  std::shared_ptr<Counts> counts;
  explicit CountedPool(std::shared_ptr<Counts> c) : counts(std::move(c)) {}
  PoolBlock take(size_t bytes) override {
    if (bytes > 1000) return {};
    counts->taken++;
    return {static_cast<std::byte*>(std::malloc(bytes)), bytes};
  }
  void give(PoolBlock block) noexcept override {
    counts->given++;
    std::free(block.data);
  }
  void fill(std::byte* to, std::byte value, size_t bytes) override {
    counts->filled++;
    std::fill_n(to, bytes, value);
  }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    counts->copied++;
    std::copy_n(from, bytes, to);
  }
  void drop_behind(PoolBlock, size_t) noexcept override {}
};

TEST(Buffer, GivesItsMemoryToTheNextOneAndToTheSystemWhereThatIsAskedFor) {
  constexpr size_t bytes = size_t(64) << 20;
  auto resident = [] {
    size_t all = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> all >> pages;
    return pages * 4096;
  };
  if (resident() == 0) GTEST_SKIP() << "this system does not tell how much memory a process has";
  give_back_idle(bytes);
  size_t before = resident();
  {
    Buffer used = Buffer::uninitialized(bytes);
    std::fill_n(used.data(), bytes, std::byte(1));
  }
  EXPECT_GT(resident(), before + bytes / 2);
  give_back_idle(1);
  EXPECT_GT(resident(), before + bytes / 2);
  give_back_idle(bytes);
  EXPECT_LT(resident(), before + bytes / 2);
}

TEST(Buffer, LiesWhereItIsAskedFor) {
  auto counts = std::make_shared<CountedPool::Counts>();
  Place there = device(7);
  EXPECT_THROW(Buffer::uninitialized(8, there), InternalError) << "there is no such device yet";
  add_pool(there, std::make_unique<CountedPool>(counts));
  {
    Buffer buffer = Buffer::zeroed(80, there), copy = buffer.clone();
    EXPECT_EQ(buffer.place(), there);
    EXPECT_EQ(copy.place(), there);
    EXPECT_FALSE(there.is_visible());
    EXPECT_EQ(copy.data()[79], std::byte(0));
  }
  EXPECT_EQ(counts->taken, 2);
  EXPECT_EQ(counts->given, 2);
  EXPECT_EQ(counts->filled, 1);
  EXPECT_EQ(counts->copied, 1);
  try {
    Buffer::uninitialized(1001, there);
    FAIL();
  } catch (const OutOfMemory& e) {
    EXPECT_NE(std::string(e.what()).find("out of memory on device 7:"), std::string::npos);
  }
  EXPECT_EQ(Buffer::zeroed(8, pinned).place(), pinned);
}

struct Limit {
  explicit Limit(size_t bytes) { set_limit(bytes); }
  ~Limit() { set_limit(SIZE_MAX); }
};

TEST(OutOfMemory, NamesWhatTheMemoryWasForAndTheSizes) {
  size_t before = bytes_held();
  Buffer some = Buffer::uninitialized(3 << 20);
  EXPECT_GE(bytes_held(), before + (3 << 20));
  Limit limit(bytes_held() + (1 << 20));
  auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const SystemError& e) { return e.what(); }
    return "nothing was thrown";
  };
  auto want = [] { return Buffer::uninitialized(5 << 20); };
  std::string hold = "tensors of this process hold " + describe_bytes(double(bytes_held())) + " already";
  EXPECT_EQ(message(want), "out of memory: 5.0 MiB are wanted, " + hold);
  EXPECT_EQ(message([&] { naming([] { return "A"; }, want); }), "out of memory: A takes 5.0 MiB, " + hold);
  // Who is nearer knows better.
  auto inner = [&] { return naming([] { return "the values of A"; }, want); };
  EXPECT_EQ(message([&] { naming([] { return "A"; }, inner); }),
            "out of memory: the values of A takes 5.0 MiB, " + hold);
  auto elsewhere = []() -> int { throw std::bad_alloc(); };
  EXPECT_EQ(message([&] { naming([] { return "A"; }, elsewhere); }), "out of memory: for A: " + hold);
  EXPECT_EQ(naming([] { return "A"; }, [] { return 3; }), 3);
  EXPECT_EQ(Purpose::current(), "");
}

TEST(OutOfMemory, ComesFromTheSystemToo) {
  EXPECT_THROW(Buffer::uninitialized(SIZE_MAX), OutOfMemory);
  EXPECT_THROW(Buffer::zeroed(size_t(1) << 60), OutOfMemory);
}

TEST(Scratch, IsOneThreadsUntilItIsGivenBackByWhomever) {
  Scratch scratch;
  std::mutex mutex;
  std::vector<std::pair<uint64_t*, uint64_t>> left;  // for others to give back, and what is in it
  auto work = [&](uint64_t thread) {
    for (uint64_t k = 0; k < 2000; k++) {
      size_t words = 1 + (k * 37 + thread) % 700;
      auto* mine = static_cast<uint64_t*>(scratch.take(words * 8, 4));
      std::fill_n(mine, words, thread << 32 | k);
      std::pair<uint64_t*, uint64_t> other{mine, thread << 32 | k};
      {
        std::lock_guard lock(mutex);
        left.push_back(other);
        if (k % 3 == 0) std::swap(left.front(), left.back());
        other = left.back();
        left.pop_back();
      }
      EXPECT_EQ(other.first[0], other.second);
      scratch.give(other.first);
    }
  };
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < 4; t++) threads.emplace_back(work, t);
  threads.clear();
  for (auto [memory, word] : left) {
    EXPECT_EQ(memory[0], word);
    scratch.give(memory);
  }
}

struct Poisoned {
  Poisoned() { set_poison(Poison::On); }
  ~Poisoned() { set_poison(Poison::Off); }
};

TEST(Poison, FillsWhatNobodyAskedToBeZero) {
  Poisoned poisoned;
  for (size_t bytes : {size_t(64), size_t(4096), size_t(3) << 20}) {
    for (int again = 0; again < 2; again++) {
      Buffer fresh = Buffer::uninitialized(bytes), zero = Buffer::zeroed(bytes);
      for (uint64_t word : words(fresh)) ASSERT_EQ(word, poison_pattern);
      for (uint64_t word : words(zero)) ASSERT_EQ(word, 0u);
      std::ranges::fill(words(fresh), uint64_t(5));
      fresh.reserve(bytes);
      for (uint64_t word : words(fresh)) ASSERT_EQ(word, poison_pattern) << "what was there is lost";
    }
    Scratch scratch;
    auto* taken = static_cast<uint64_t*>(scratch.take(bytes, 1));
    EXPECT_EQ(taken[bytes / 8 - 1], poison_pattern);
    taken[0] = 5;
    scratch.give(taken);
    EXPECT_EQ(*static_cast<uint64_t*>(scratch.take(bytes, 1)), poison_pattern);
  }
  Array<int64_t> array(1);
  array[0] = 3;
  array.resize(100);
  EXPECT_EQ(array[0], 3);
  EXPECT_EQ(uint64_t(array[99]), poison_pattern);
}

TEST(Poison, IsNoNumberAndNoPosition) {
  double number;
  float halves[2];
  int32_t positions[2];
  std::memcpy(&number, &poison_pattern, 8);
  std::memcpy(halves, &poison_pattern, 8);
  std::memcpy(positions, &poison_pattern, 8);
  EXPECT_NE(number, number);
  EXPECT_NE(halves[0], halves[0]);
  EXPECT_NE(halves[1], halves[1]);
  EXPECT_GT(std::min(positions[0], positions[1]), 2'000'000'000);
}

}  // namespace
}  // namespace spdistal::memory
