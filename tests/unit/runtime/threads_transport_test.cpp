#include "runtime/transport/threads.hpp"

#include <gtest/gtest.h>

#include <future>

namespace spdistal::runtime {
namespace {

// A rank that stops for an error gives its memory back while messages to it are under way.
TEST(ThreadRanks, WriteToTheirMemoryThemselves) {
  std::promise<void> posted, sent;
  run_ranks(2, [&](Transport& t) {
    int64_t word = 7;
    Pending pending;
    if (t.rank() == 1) {
      posted.get_future().wait();
      word = 42;
      t.send(std::as_bytes(std::span(&word, 1)), 0, 5, pending);
      sent.set_value();
      t.wait(pending);
    } else {
      t.receive(std::as_writable_bytes(std::span(&word, 1)), 1, 5, pending);
      posted.set_value();
      sent.get_future().wait();
      EXPECT_EQ(word, 7) << "nobody else writes there";
      t.wait(pending);
      EXPECT_EQ(word, 42);
    }
  });
}

}  // namespace
}  // namespace spdistal::runtime
