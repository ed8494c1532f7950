// MPI's own functions, taken over to count what they are handed: MPI has each under a second name for this.
#include <mpi.h>

#include "mpi/ranks.hpp"
#include "mpi/watched.hpp"

namespace {

int64_t handed = 0;

int64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return int64_t(count) * size;
}
int64_t others(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size - 1;
}
bool is_rank(int rank, MPI_Comm comm) {
  int mine = 0;
  MPI_Comm_rank(comm, &mine);
  return mine == rank;
}

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  handed += bytes_of(count, type);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (is_rank(root, comm)) handed += bytes_of(count, type) * others(comm);
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  handed += bytes_of(count, type) * others(comm);
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[], const int at[],
                   MPI_Datatype to_type, MPI_Comm comm) {
  handed += bytes_of(count, type) * others(comm);
  return PMPI_Allgatherv(from, count, type, to, counts, at, to_type, comm);
}
int MPI_Iallgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[], const int at[],
                    MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  handed += bytes_of(count, type) * others(comm);
  return PMPI_Iallgatherv(from, count, type, to, counts, at, to_type, comm, request);
}
int MPI_Alltoallv(const void* from, const int counts[], const int at[], MPI_Datatype type, void* to,
                  const int to_counts[], const int to_at[], MPI_Datatype to_type, MPI_Comm comm) {
  for (int r = 0; r <= others(comm); r++)
    if (!is_rank(r, comm)) handed += bytes_of(counts[r], type);
  return PMPI_Alltoallv(from, counts, at, type, to, to_counts, to_at, to_type, comm);
}

}  // extern "C"

namespace spdistal::runtime::testkit {

void on_watched_ranks(const std::function<void(Transport&, const Handed&)>& check) {
  on_ranks([&](Transport& t) { check(t, [] { return handed; }); });
}

}  // namespace spdistal::runtime::testkit
