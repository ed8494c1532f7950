// MPI as a transport, without its header: the program that includes this need not know MPI.
//
// Always holds: MPI is initialised here only if nobody did, for one thread (MPI_THREAD_FUNNELED), and then finalised at
// the end of the process; a program that did it itself is left alone. Communicators are duplicated, so that messages
// never meet those of the program around. A build without MPI (without_mpi.cpp) never has it running, and refuses to start it.
#pragma once
#include <climits>
#include <memory>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

struct MpiOptions {
  /// The most bytes one message may have; MPI counts with int. Tests lower it.
  int64_t largest_message = INT_MAX;
};

/// Whether this process has MPI initialised and not yet finalised.
bool mpi_is_running();

/// MPI_COMM_WORLD; initialises MPI first where that has not been done. Throws UserError where this build has no MPI.
std::unique_ptr<Transport> start_mpi(MpiOptions options = {});

}  // namespace spdistal::runtime
