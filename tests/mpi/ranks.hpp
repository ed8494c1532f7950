// Tests that run the same on every way of having ranks: threads of one process in the unit tests, MPI under mpirun.
#pragma once
#include <functional>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime::testkit {

/// Calls the check with the transport of each rank: those of `mpirun`, or for one, two, three and four ranks as
/// threads.
void on_ranks(const std::function<void(Transport&)>& check);
/// The same on so many ranks; under mpirun of another number nothing is done.
void on_so_many_ranks(int ranks, const std::function<void(Transport&)>& check);
/// As the first, with messages of at most so many bytes.
void on_ranks_cutting(int64_t largest_message, const std::function<void(Transport&)>& check);
/// How many of the random cases of a test to run: under mpirun a share of them.
int cases(int alone, int under_mpi);
/// Says which case runs, so that one that hangs is known; under mpirun only.
void announce(Transport& transport, const char* test, uint64_t seed);

}  // namespace spdistal::runtime::testkit
