// Slices: parts of storages that are consecutive in storage order, cut out and put together as they lie, arrays and
// values, without a list of entries and without sorting.
//
//   rows 0 … 4 of rank 0     pos 0 2 3 5 6   crd …   values …         What colour 1 takes, rows 3 … 6, is a slice of each:
//   rows 4 … 8 of rank 1     pos 0 1 1 4 5   crd …   values …         the row 3 of the first, 4 and 5 of the second.
//
// That is so where every colour takes an interval of the first level's coordinates, or a block of positions, and the ranks
// bring different coordinates of the first level each.
#pragma once
#include <optional>

#include "runtime/transport/transport.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Whether pieces of a format for these shares, which are simplified, are slices of whatever is in storage order.
bool are_slices(const Shares& simple, const Format& format, const std::vector<int64_t>& dims);

/// The first position of the first level, whose coordinates rise, with this coordinate or a later one.
int64_t first_position(const Pattern& pattern, int64_t coordinate);

/// For how long memory of somebody else may be used: until a call returns, or as long as it is of use.
enum class Loan : uint8_t { ForTheCall, ToKeep };

/// Collective. The home of what all ranks bring, each a storage in the format. Nothing where that takes more than slices:
/// by the shares, or because ranks bring the same coordinates of the first level. Borrowed storages become pieces as they are
/// where they are lent to keep and every rank's is just its piece: all pieces are borrowed, or none.
std::optional<Home> move_slices(runtime::Transport& transport, Storage& mine, const Format& format,
                                const Shares& shares, Loan loan = Loan::ForTheCall);

/// Collective, but nothing travels except counts: of a tensor that every rank has whole, each keeps its slices. Nothing
/// where that takes more than those.
std::optional<Home> keep_slices(runtime::Transport& transport, Storage& whole, const Format& format,
                                const Shares& shares);

}  // namespace spdistal
