// How often this process has asked for memory with `new`, and requests that fail.
#pragma once
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime::testkit {

int64_t allocations();
/// Whether the count tells of this rank alone: not where ranks are threads and messages are copies.
bool counts_allocations(const Transport& transport);

/// Lets the request number `which` (from 0) for at least `bytes` that this thread makes from now on fail; -1: none.
void fail_large_allocation(int64_t which, size_t bytes);
/// Whether requests can be made to fail.
bool injects_failures();

}  // namespace spdistal::runtime::testkit
