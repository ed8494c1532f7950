// In the place of mpi.cpp where spdistal is built without MPI: a process is alone.
#include "runtime/transport/mpi.hpp"
#include "spdistal/error.hpp"

namespace spdistal::runtime {

bool mpi_is_running() { return false; }

std::unique_ptr<Transport> start_mpi(MpiOptions) {
  throw UserError("this process was started as one of several ranks, but spdistal was built without MPI",
                  "run it without mpirun or srun, or build spdistal with -DSPDISTAL_MPI=ON");
}

}  // namespace spdistal::runtime
