// Ranks of mpirun. Rank 0 alone reports; a failure on any rank fails all.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "mpi/ranks.hpp"
#include "runtime/transport/mpi.hpp"

namespace spdistal::runtime::testkit {
namespace {

std::unique_ptr<Transport> world;

}  // namespace

void on_ranks(const std::function<void(Transport&)>& check) { check(*world); }
void on_so_many_ranks(int ranks, const std::function<void(Transport&)>& check) {
  if (world->size() == ranks) check(*world);
}
void on_ranks_cutting(int64_t largest_message, const std::function<void(Transport&)>& check) {
  auto cutting = start_mpi({.largest_message = largest_message});
  check(*cutting);
}
int cases(int, int under_mpi) { return under_mpi; }
void announce(Transport& transport, const char* test, uint64_t seed) {
  if (transport.rank() != 0) return;
  std::printf("%s seed %llu\n", test, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

}  // namespace spdistal::runtime::testkit

int main(int argc, char** argv) {
  using namespace spdistal::runtime;
  testkit::world = start_mpi();
  ::testing::InitGoogleTest(&argc, argv);
  if (testkit::world->rank() != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    // Failures of other ranks must be seen too; only the chatter of success is left to rank 0.
    class Failures : public ::testing::EmptyTestEventListener {
      void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (result.failed())
          std::fprintf(stderr, "rank %d: %s:%d: %s\n", testkit::world->rank(),
                       result.file_name() ? result.file_name() : "?", result.line_number(), result.message());
      }
    };
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());  // the file of results is rank 0's
    listeners.Append(new Failures);
  }
  int failed = RUN_ALL_TESTS();
  failed = testkit::world->allreduce(failed, ReduceOp::Max);
  testkit::world.reset();
  return failed;
}
