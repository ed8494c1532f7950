// A communicator of the program around as a transport. MPI must be initialised; it is never finalised from here.
#pragma once
#include <mpi.h>

#include "runtime/transport/mpi.hpp"

namespace spdistal::runtime {

/// Collective over the communicator, which is duplicated.
std::unique_ptr<Transport> over_communicator(MPI_Comm communicator, MpiOptions options = {});

}  // namespace spdistal::runtime
