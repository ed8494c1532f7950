// What the host does with the memory of kernels: scratch that is reused, parts of results that are put behind each other.
#include "runtime/device/host_context.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

/// A result of shares of different lengths, and what it must be: 0, 1, 2, …
struct Shares {
  std::vector<int64_t> counts;
  std::vector<int32_t> result;
  spd_array array{};

  explicit Shares(std::vector<int64_t> lengths)
      : counts(std::move(lengths)), result(size_t(std::accumulate(counts.begin(), counts.end(), int64_t(0))), -1) {
    array = {result.data(), int64_t(result.size()), nullptr};
  }
  /// Fills the part of one share and appends it; is it with the host now?
  bool append(HostContext& host, int64_t share) {
    int64_t count = counts[size_t(share)];
    void* part = host.take(&host, count * 4, 0);
    std::iota(static_cast<int32_t*>(part), static_cast<int32_t*>(part) + count,
              int32_t(std::accumulate(counts.begin(), counts.begin() + share, int64_t(0))));
    host.append(&host, &array, int64_t(counts.size()), share, &part, count, 4);
    return part == nullptr;
  }
  void expect_all() const {
    for (size_t i = 0; i < result.size(); i++) ASSERT_EQ(result[i], int32_t(i));
  }
};

TEST(HostMemory, PartsAreAppendedInWhateverOrderTheyCome) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; round++) {
    HostContext host;
    std::vector<int64_t> counts(1 + random() % 20);
    for (int64_t& n : counts) n = random() % 3 == 0 ? 0 : int64_t(random() % 100);
    Shares shares(counts);
    std::vector<int64_t> order(counts.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t share : order) EXPECT_TRUE(shares.append(host, share));
    shares.expect_all();
  }
}

TEST(HostMemory, PartsOfManyThreadsAreAllThereInTheEnd) {
  HostContext host(4);
  std::vector<int64_t> counts(400);
  for (size_t k = 0; k < counts.size(); k++) counts[k] = int64_t(k * 37 % 211);
  for (int again = 0; again < 3; again++) {
    Shares shares(counts);
    std::atomic<int64_t> next = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
      threads.emplace_back([&] {
        for (int64_t share = next++; share < int64_t(counts.size()); share = next++) shares.append(host, share);
      });
    for (std::thread& thread : threads) thread.join();
    shares.expect_all();
  }
}

// Those go past the caches, in lines: beginnings and ends of parts lie anywhere.
TEST(HostMemory, LargeResultsAreAppendedToo) {
  HostContext host;
  host.caches = 1 << 16;
  Shares shares({1, 30'001, 15, 0, 29'983, 17, 30'000});
  for (int64_t share : {1, 0, 6, 5, 2, 3, 4}) shares.append(host, share);
  shares.expect_all();
}

TEST(HostMemory, AShareAppendsOnce) {
  HostContext host;
  Shares shares({2, 3});
  shares.append(host, 1);
  EXPECT_THROW(shares.append(host, 1), InternalError);
}

TEST(HostMemory, WhatAShareCaughtIsThrownAfterAllAndTheOthersPartsAreGivenUp) {
  HostContext host;
  Shares shares({2, 3, 4});
  EXPECT_FALSE(host.failed(&host));
  host.rethrow(&host);  // nothing happened
  shares.append(host, 2);
  for (const char* said : {"first", "second"}) try {
      throw SystemError(said);
    } catch (...) { host.fail(&host); }
  EXPECT_TRUE(host.failed(&host));
  try {
    host.rethrow(&host);
    FAIL() << "a failure is thrown";
  } catch (const SystemError& e) { EXPECT_STREQ(e.what(), "first"); }
  EXPECT_FALSE(host.failed(&host));
  for (int64_t share : {1, 2, 0}) shares.append(host, share);
  shares.expect_all();
}

TEST(HostMemory, ThreadsGetBackWhatTheyGave) {
  HostContext host(2);
  void *mine = host.take(&host, 1000, 0), *other = nullptr;
  host.give(&host, mine);
  std::thread([&] {
    other = host.take(&host, 900, 0);
    host.give(&host, other);
  }).join();
  EXPECT_NE(other, mine);
  EXPECT_EQ(host.take(&host, 900, 0), mine);
  host.give(&host, nullptr);
}

TEST(HostMemory, LargeMemoryServesEveryThread) {
  HostContext host(2);
  void *mine = host.take(&host, 2 << 20, 0), *other = nullptr;
  host.give(&host, mine);
  std::thread([&] { other = host.take(&host, 2 << 20, 1); }).join();
  EXPECT_EQ(other, mine);
}

}  // namespace
}  // namespace spdistal::runtime
