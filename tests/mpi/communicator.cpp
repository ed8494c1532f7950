// Embedded in a program that uses MPI itself.
#include <gtest/gtest.h>

#include "runtime/transport/mpi_comm.hpp"

namespace spdistal::runtime {
namespace {

TEST(Communicator, OfTheProgramAroundIsUsedWithoutMeetingItsMessages) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // A message of the program, with a tag that the runtime uses too, waits while the runtime talks.
  int mine = 1000 + rank, theirs = 0;
  MPI_Request request;
  MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
  {
    auto transport = over_communicator(MPI_COMM_WORLD);
    int32_t out = rank, in = -1;
    Pending pending;
    transport->receive(std::as_writable_bytes(std::span(&in, 1)), (rank + size - 1) % size, 0, pending);
    transport->send(std::as_bytes(std::span(&out, 1)), (rank + 1) % size, 0, pending);
    transport->wait(pending);
    EXPECT_EQ(in, (rank + size - 1) % size);
  }
  MPI_Recv(&theirs, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(theirs, 1000 + (rank + size - 1) % size);
  EXPECT_TRUE(mpi_is_running()) << "what the program started is not ended";
}

TEST(Communicator, OfSomeRanksConnectsThose) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  int members = 0;
  MPI_Comm_size(half, &members);
  {
    auto transport = over_communicator(half);
    EXPECT_EQ(transport->size(), members);
    EXPECT_EQ(transport->rank(), rank / 2);
    EXPECT_EQ(transport->allreduce(int64_t(rank % 2), ReduceOp::Sum), (rank % 2) * members);
  }
  MPI_Comm_free(&half);
}

}  // namespace
}  // namespace spdistal::runtime
