// Ranks as threads of the test's process.
#include "mpi/ranks.hpp"
#include "runtime/transport/threads.hpp"

namespace spdistal::runtime::testkit {

void on_ranks(const std::function<void(Transport&)>& check) {
  for (int ranks : {1, 2, 3, 4}) run_ranks(ranks, check);
}
void on_so_many_ranks(int ranks, const std::function<void(Transport&)>& check) { run_ranks(ranks, check); }
void on_ranks_cutting(int64_t largest_message, const std::function<void(Transport&)>& check) {
  for (int ranks : {1, 2, 3, 4}) run_ranks(ranks, check, {.largest_message = largest_message});
}
int cases(int alone, int) { return alone; }
void announce(Transport&, const char*, uint64_t) {}

}  // namespace spdistal::runtime::testkit
