// Distributed tensors: data in, data out. All of it is collective: every rank calls, in the same order.
#pragma once
#include <span>

#include "format/fill.hpp"
#include "memory/copy.hpp"
#include "runtime/records/deliver.hpp"
#include "tensor/coordinates.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Collective. Stores the entries of all ranks in a format, each at the colours whose share it is in. Entries with the
/// same coordinates add, those of rank 0 first, then in the order of insertion. No rank holds more than what it brings,
/// what it keeps, and bounded messages. Throws UserError, the same on all ranks, for a coordinate outside its dimension
/// or a piece that does not fit into memory; `mine` has the sizes of the whole tensor.
Home pack(runtime::Transport& transport, Coordinates mine, const Format& format, Shares shares,
          runtime::DeliverOptions options = {});

/// Collective. The same where every rank has all the entries, in the same order; that they are the same is checked.
Home pack_alike(runtime::Transport& transport, Coordinates all, const Format& format, Shares shares,
                runtime::DeliverOptions options = {});

/// Collective, but nothing travels except counts: of a tensor that every rank has whole, each keeps its share.
Home scatter(runtime::Transport& transport, const Storage& whole, Shares shares);
Home scatter(runtime::Transport& transport, Storage&& whole, Shares shares);

/// Collective. The same elements in blocks of the positions of a level, one for each rank: consecutive, whatever they were before.
Home in_order_of_positions(runtime::Transport& transport, const Home& home, size_t level);

/// Collective. All elements on every rank, each once, in storage order.
Coordinates gather(runtime::Transport& transport, const Home& home);
/// The elements that belong to this rank's colours, colour by colour. Local.
Coordinates owned_elements(const Home& home);

/// Collective. The same elements in another format or other shares.
Home redistribute(runtime::Transport& transport, const Home& home, const Format& format, Shares shares,
                  runtime::DeliverOptions options = {});

/// Collective. Whether each piece that is there belongs whole to its colour, or whole to others.
bool is_cut_clean(runtime::Transport& transport, const Home& home);
/// Collective. Whether it is, and what colour 0, 1, … own is in storage order, one after the other.
bool is_in_order(runtime::Transport& transport, const Home& home);

/// Collective. The element at these coordinates, the fill value where none is stored.
template <class T>
T at(runtime::Transport& transport, const Home& home, std::span<const int64_t> coordinates);

/// Collective. Throws UserError on every rank where the entries are not the same on all; the error names a rank.
void check_alike(runtime::Transport& transport, const Coordinates& entries);

/// Collective. What must hold of a home: every piece passes `verify`, lies within its share, and positions and bases
/// are those of the whole tensor packed in one place. For tests: gathers everything.
Result<> verify(runtime::Transport& transport, const Home& home);

// ---- implementation ----

namespace detail {
/// The bytes of the element on the rank that owns it, on all ranks.
std::vector<std::byte> find_value(runtime::Transport& transport, const Home& home, std::span<const int64_t> at);
}  // namespace detail

template <class T>
T at(runtime::Transport& transport, const Home& home, std::span<const int64_t> coordinates) {
  require(scalar_type_of<T>() == home.type(), "values are read with the type they have");
  T out = std::get<T>(static_cast<const ScalarVariant&>(fill_value(home.format(), home.type())));
  std::vector<std::byte> bytes = detail::find_value(transport, home, coordinates);
  if (!bytes.empty()) memory::copy_bytes(static_cast<void*>(&out), bytes.data(), sizeof(T));
  return out;
}

}  // namespace spdistal
