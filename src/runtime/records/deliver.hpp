// Brings records to the colours they belong to, in rounds of bounded size: no rank holds more than what it brings, what
// it gets, and one round.
#pragma once
#include <functional>

#include "runtime/records/records.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// Names the colours that get a record, given its coordinates and its number among the records of this rank; it may
/// name none, one or several. What it throws is thrown on all ranks.
using Destinations = std::function<void(std::span<const int64_t> at, int64_t record, std::vector<int64_t>& colours)>;

struct DeliverOptions {
  /// About how many bytes a rank sends in one round.
  size_t round_bytes = size_t(4) << 20;
};

/// Collective. The records of each colour of this rank, those of rank 0 first, in the order they stood there.
std::vector<Records> deliver(Transport& transport, Records mine, int64_t colours, const Destinations& place,
                             DeliverOptions options = {});

}  // namespace spdistal::runtime
