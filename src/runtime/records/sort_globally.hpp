// Sample sort: the records of all ranks in order over all ranks. Each rank sorts its own, a few samples of each give
// the bounds between ranks, records go to the rank of their range, and are merged there.
//
// Always holds afterwards: all records of a rank come before those of the next; records of equal coordinates are on one
// rank. With many distinct coordinates the ranks have about as many records each.
#pragma once
#include "runtime/records/deliver.hpp"
#include "runtime/records/sort.hpp"

namespace spdistal::runtime {

/// Collective. Equal records that are kept, or added, stand in the order of the ranks they came from.
Records sort_globally(Transport& transport, Records mine, std::span<const int> modes, Duplicates duplicates,
                      DeliverOptions options = {});

}  // namespace spdistal::runtime
