// A transport that numbers the collectives of another and names a mismatch: what a program that is not the same on every
// rank is found by. Every collective costs one more; debug builds use it, and others where SPDISTAL_CHECK_COLLECTIVES says
// so.
#pragma once
#include <memory>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// Collective calls through the result throw an InternalError on all ranks where ranks do not call the same one:
/// "collective 17: rank 0 calls broadcast of 8 bytes from rank 0, rank 2 calls barrier".
std::unique_ptr<Transport> comparing(std::shared_ptr<Transport> transport);

}  // namespace spdistal::runtime
