#include "runtime/transport/transport.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "mpi/ranks.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/comparing.hpp"
#include "runtime/transport/deal.hpp"
#include "spdistal/error.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

std::vector<int64_t> numbers(int64_t seed, size_t count) {
  std::vector<int64_t> out(count);
  std::iota(out.begin(), out.end(), seed * 1000);
  return out;
}

void send_around(Transport& t) {
  int next = (t.rank() + 1) % t.size(), before = (t.rank() + t.size() - 1) % t.size();
  // Two messages of one tag and one of another, received in another order than sent.
  auto a = numbers(t.rank(), 100), b = numbers(t.rank() + 50, 7), c = numbers(t.rank() + 90, 31);
  std::vector<int64_t> a2(100), b2(7), c2(31);
  Pending pending;
  t.receive(std::as_writable_bytes(std::span(c2)), before, 6, pending);
  t.receive(std::as_writable_bytes(std::span(a2)), before, 5, pending);
  t.receive(std::as_writable_bytes(std::span(b2)), before, 5, pending);
  t.send(std::as_bytes(std::span(a)), next, 5, pending);
  t.send(std::as_bytes(std::span(b)), next, 5, pending);
  t.send(std::as_bytes(std::span(c)), next, 6, pending);
  t.wait(pending);
  EXPECT_TRUE(pending.empty());
  EXPECT_EQ(a2, numbers(before, 100));
  EXPECT_EQ(b2, numbers(before + 50, 7));
  EXPECT_EQ(c2, numbers(before + 90, 31));
  t.barrier();
}

void collect(Transport& t) {
  int64_t me = t.rank(), ranks = t.size();
  for (int root = 0; root < ranks; root++) {
    auto data = me == root ? numbers(root, 50) : std::vector<int64_t>(50);
    t.broadcast(std::as_writable_bytes(std::span(data)), root);
    EXPECT_EQ(data, numbers(root, 50));
  }
  EXPECT_EQ(t.allgather(me * 7), [&] {
    std::vector<int64_t> all;
    for (int64_t r = 0; r < ranks; r++) all.push_back(r * 7);
    return all;
  }());
  EXPECT_EQ(t.allreduce(me + 1, ReduceOp::Sum), ranks * (ranks + 1) / 2);
  EXPECT_EQ(t.allreduce(me, ReduceOp::Max), ranks - 1);
  EXPECT_EQ(t.allreduce(double(me), ReduceOp::Min), 0.0);
  EXPECT_EQ(t.exclusive_scan(me + 1), me * (me + 1) / 2);
  // The sum of floats is that of rank order, exactly.
  float mine = me == 0 ? 1e8f : 1.0f, sum = 1e8f;
  for (int64_t r = 1; r < ranks; r++) sum += 1.0f;
  EXPECT_EQ(t.allreduce(mine, ReduceOp::Sum), sum);
}

void deal_out(Transport& t) {
  std::vector<Bytes> to(static_cast<size_t>(t.size()));
  for (int r = 0; r < t.size(); r++)
    if ((t.rank() + r) % 2 == 0) to[size_t(r)].assign(size_t(10 * t.rank() + r + 1), std::byte(t.rank()));
  auto from = deal(t, to);
  for (int r = 0; r < t.size(); r++) {
    size_t expected = (t.rank() + r) % 2 == 0 ? size_t(10 * r + t.rank() + 1) : 0;
    EXPECT_EQ(from[size_t(r)], Bytes(expected, std::byte(r)));
  }
}

TEST(Transport, MessagesOfOneTagArriveInOrderAndTagsDoNotMix) { on_ranks(send_around); }
TEST(Transport, LargeMessagesAreCutAndArriveWhole) { on_ranks_cutting(40, send_around); }
TEST(Transport, CollectivesAgreeWithTheirDefinitions) { on_ranks(collect); }
TEST(Transport, CollectivesOfLargeBuffersAgreeWithTheirDefinitions) { on_ranks_cutting(24, collect); }
TEST(Transport, DealtMessagesArriveWithTheirSizes) { on_ranks(deal_out); }
TEST(Transport, DealtMessagesThatAreLargeAreCut) { on_ranks_cutting(8, deal_out); }

/// A transport over another that is not its own to keep.
class Borrowed final : public Transport {
 public:
  explicit Borrowed(Transport& t) : t_(t) {}
  int rank() const override { return t_.rank(); }
  int size() const override { return t_.size(); }

 protected:
  Request post_send(std::span<const std::byte> data, int to, int tag) override {
    Pending pending;
    t_.send(data, to, tag % Transport::tag_count, pending);
    t_.wait(pending);
    return 0;
  }
  Request post_receive(std::span<std::byte> data, int from, int tag) override {
    receives_.emplace_back();
    t_.receive(data, from, tag % Transport::tag_count, receives_.back());
    return receives_.size();
  }
  void complete(std::span<Request> requests) override {
    for (Request request : requests) t_.wait(receives_[request - 1]);
  }
  bool try_complete(std::span<Request> requests) override { return complete(requests), true; }
  int64_t largest_message() const override { return INT64_MAX; }

 private:
  Transport& t_;
  std::vector<Pending> receives_;
};

TEST(NumberedTransport, WorksAsTheOneItWrapsAndNamesCollectivesThatDoNotMatch) {
  on_ranks([](Transport& t) {
    auto checked = comparing(std::make_unique<Borrowed>(t));
    send_around(*checked);
    collect(*checked);
    deal_out(*checked);
    if (t.size() == 1) return;
    int64_t value = 1;
    try {
      if (t.rank() == 1) checked->barrier();
      else checked->broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
      ADD_FAILURE() << "a mismatch went unseen";
    } catch (const InternalError& e) {
      EXPECT_NE(std::string(e.what()).find("rank 0 calls broadcast of 8 bytes from rank 0, rank 1 calls barrier"),
                std::string::npos)
          << e.what();
    }
  });
}

TEST(NumberedTransport, GivesNoNumberThatTheOneItWrapsGives) {
  on_ranks([](Transport& t) {
    auto checked = comparing(std::shared_ptr<Transport>(&t, [](Transport*) {}));
    uint64_t first = t.fresh_number(), second = checked->fresh_number(), third = t.fresh_number();
    EXPECT_LT(first, second);
    EXPECT_LT(second, third);
    EXPECT_NE(t.fresh_tag(), checked->fresh_tag());
  });
}

TEST(Agreement, NobodyThrowsWhereNothingIsWrong) {
  on_ranks([](Transport& t) { EXPECT_EQ(together(t, [&] { return t.rank() * 2; }), t.rank() * 2); });
}

TEST(Agreement, AnErrorOnOneRankIsThrownOnAllAndNamesTheRank) {
  on_ranks([](Transport& t) {
    for (int bad = 0; bad < t.size(); bad++) {
      auto failing = [&] {
        if (t.rank() == bad) throw UserError("coordinate 9 is outside [0, 4)", "sizes start at 0");
      };
      try {
        together(t, failing);
        ADD_FAILURE() << "an error was swallowed";
      } catch (const UserError& e) {
        std::string where = t.size() > 1 ? "rank " + std::to_string(bad) + ": " : "";
        EXPECT_EQ(e.diagnostic().message, where + "coordinate 9 is outside [0, 4)");
        EXPECT_EQ(e.diagnostic().hint, "sizes start at 0");
      }
    }
    EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
  });
}

TEST(Agreement, AnErrorThatAllRanksBringIsThrownAsItIs) {
  on_ranks([](Transport& t) {
    try {
      together(t, [&] { throw UserError("no such tensor"); });
      ADD_FAILURE() << "an error was swallowed";
    } catch (const UserError& e) { EXPECT_EQ(e.diagnostic().message, "no such tensor"); }
  });
}

TEST(Agreement, TheLowestRankThatFailsSpeaksAndKindsAreKept) {
  on_ranks([](Transport& t) {
    auto failing = [&] {
      if (t.rank() == t.size() - 1) throw SystemError("disk full");
      if (t.rank() == t.size() - 2) throw std::bad_alloc();
    };
    if (t.size() == 1) return;
    try {
      together(t, failing);
      ADD_FAILURE() << "an error was swallowed";
    } catch (const SystemError& e) {
      EXPECT_EQ(std::string(e.what()), "rank " + std::to_string(t.size() - 2) + ": out of memory");
    }
  });
}

TEST(Agreement, ArgumentsThatDifferBetweenRanksAreRefusedByName) {
  on_ranks([](Transport& t) {
    agree_same(t, 5, "the tensor");
    if (t.size() == 1) return;
    try {
      agree_same(t, t.rank() == 1 ? 6 : 5, "the tensor");
      ADD_FAILURE() << "a mismatch went unseen";
    } catch (const UserError& e) { EXPECT_EQ(e.diagnostic().message, "the tensor on rank 1 is not that of rank 0"); }
  });
}

}  // namespace
}  // namespace spdistal::runtime
