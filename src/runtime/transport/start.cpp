#include "runtime/transport/start.hpp"

#include "runtime/transport/mpi.hpp"
#include "runtime/transport/threads.hpp"

namespace spdistal::runtime {

bool started_by_launcher(const std::function<const char*(const char*)>& lookup) {
  // Open MPI; PMIx and PMI (MPICH, Intel MPI, Slurm's srun --mpi); MVAPICH.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"})
    if (lookup(name)) return true;
  return false;
}

std::unique_ptr<Transport> start_transport(const std::function<const char*(const char*)>& lookup) {
  if (mpi_is_running() || started_by_launcher(lookup)) return start_mpi();
  return loopback();
}

}  // namespace spdistal::runtime
