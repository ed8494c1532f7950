// MPI as a transport, without its header: the program that includes this need not know MPI.
//
// Always holds: MPI is initialised here only if nobody did, for one thread (MPI_THREAD_FUNNELED), and then finalised at
// the end of the process; a program that did it itself is left alone. Communicators are duplicated, so that messages
// never meet those of the program around.
#pragma once
#include <climits>
#include <functional>
#include <memory>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

struct MpiOptions {
  /// The most bytes one message may have; MPI counts with int. Tests lower it.
  int64_t largest_message = INT_MAX;
};

/// Whether the environment, asked through `lookup` (the caller passes std::getenv), is that of a process which an MPI
/// launcher started.
bool started_by_launcher(const std::function<const char*(const char*)>& lookup);

/// Whether this process has MPI initialised and not yet finalised.
bool mpi_is_running();

/// MPI_COMM_WORLD; initialises MPI first where that has not been done.
std::unique_ptr<Transport> start_mpi(MpiOptions options = {});

}  // namespace spdistal::runtime
