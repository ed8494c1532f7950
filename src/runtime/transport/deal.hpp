// Messages of any size from every rank to every other, where receivers do not know beforehand what comes.
#pragma once
#include <vector>

#include "runtime/transport/bytes.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// Collective. to[r] goes to rank r; the result holds what each rank sent here. Pairs with nothing to say send nothing.
std::vector<Bytes> deal(Transport& transport, std::vector<Bytes> to);

/// The two halves of `deal`, for those who must not fail between them: how many bytes each rank will send here; and
/// sending, with from[r] of the size that was announced. Collective, both.
std::vector<int64_t> announce_sizes(Transport& transport, const std::vector<Bytes>& to);
void deal_into(Transport& transport, std::vector<Bytes>& to, std::vector<Bytes>& from);

/// Collective. What each rank gave, on every rank.
std::vector<Bytes> share(Transport& transport, const Bytes& mine);

}  // namespace spdistal::runtime
