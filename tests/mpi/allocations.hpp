// How often this process has asked for memory with `new`.
#pragma once
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime::testkit {

int64_t allocations();
/// Whether the count tells of this rank alone: not where ranks are threads and messages are copies.
bool counts_allocations(const Transport& transport);

}  // namespace spdistal::runtime::testkit
