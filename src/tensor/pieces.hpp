// Making pieces: entries on their way into the storage of the colours that hold them.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "runtime/records/deliver.hpp"
#include "tensor/coordinates.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Entries of this rank, and where they stand among all. Numbers are only there where position blocks need them, which
/// also need the entries in storage order.
struct Entries {
  runtime::Records records;
  std::vector<int64_t> before;                     // the nodes of each counted level among the entries before
  std::vector<int64_t> total;                      // among all
  std::optional<std::vector<int64_t>> forerunner;  // the coordinates of the entry before the first
  runtime::ReduceOp merging = runtime::ReduceOp::Sum;
};
/// Numbers entries that are in storage order over all ranks. Collective.
Entries number_entries(runtime::Transport& transport, runtime::Records sorted, const Format& format, const Tree& tree);
/// The same for entries that one rank has all of. Local.
Entries number_entries(runtime::Records sorted, const Format& format, const Tree& tree);

/// Brings records to the colours of this rank: over the transport, or by keeping what is here.
using Bring = std::function<std::vector<runtime::Records>(runtime::Records, const runtime::Destinations&)>;

/// Collective. The home of entries.
Home make_home(runtime::Transport& transport, Entries entries, const std::vector<int64_t>& dims, const Format& format,
               Shares shares, const Bring& bring);

/// Whether making a home needs entries in storage order.
bool needs_order(const Shares& simple);

runtime::Records to_records(Coordinates entries);
Coordinates to_coordinates(runtime::Records records, const std::vector<int64_t>& dims);

}  // namespace spdistal
