// Ranks whose traffic is counted outside of the library: by what MPI is handed, or by a transport around threads.
#pragma once
#include <functional>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime::testkit {

/// Bytes that this rank has handed over so far, once for each rank that gets them.
using Handed = std::function<int64_t()>;

/// As `on_ranks`.
void on_watched_ranks(const std::function<void(Transport&, const Handed&)>& check);

}  // namespace spdistal::runtime::testkit
