// The transport of this process, chosen by how it was started.
#pragma once
#include "runtime/transport/mpi.hpp"
#include "runtime/transport/threads.hpp"

namespace spdistal::runtime {

/// MPI where a launcher started the process (its variables are asked for through `lookup`) or where the program has MPI
/// running already; else the loopback, and MPI is never touched.
inline std::unique_ptr<Transport> start_transport(const std::function<const char*(const char*)>& lookup) {
  if (mpi_is_running() || started_by_launcher(lookup)) return start_mpi();
  return loopback();
}

}  // namespace spdistal::runtime
