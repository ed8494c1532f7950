// The transport of this process, chosen by how it was started.
#pragma once
#include <functional>
#include <memory>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// Whether the environment, asked through `lookup` (the caller passes std::getenv), is that of a process which an MPI
/// launcher started.
bool started_by_launcher(const std::function<const char*(const char*)>& lookup);

/// MPI where a launcher started the process (its variables are asked for through `lookup`) or where the program has MPI
/// running already; else the loopback, and MPI is never touched.
std::unique_ptr<Transport> start_transport(const std::function<const char*(const char*)>& lookup);

}  // namespace spdistal::runtime
