// Messages of any size from every rank to every other, where receivers do not know beforehand what comes.
#pragma once
#include <vector>

#include "runtime/transport/bytes.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// Collective. to[r] goes to rank r; the result holds what each rank sent here. Pairs with nothing to say send nothing.
std::vector<Bytes> deal(Transport& transport, std::vector<Bytes> to);

/// Collective. What each rank gave, on every rank.
std::vector<Bytes> share(Transport& transport, const Bytes& mine);

}  // namespace spdistal::runtime
