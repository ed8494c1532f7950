// A matrix in rows, over arrays of somebody else: what callers have in memory, on its way into a tensor.
#pragma once
#include <span>

#include "tensor/coordinates.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// crd[pos[r]] up to crd[pos[r + 1]] are the columns of row first + r, with the values beside them; pos begins with 0.
struct Rows {
  std::vector<int64_t> dims;
  int64_t first;
  IndexArray pos, crd;
  ScalarType type;
  std::span<const std::byte> values;
  std::shared_ptr<const void> owner = nullptr;  // keeps the arrays alive

  int64_t count() const { return pos.size() - 1; }
};

/// Refuses arrays that are not rows. Whether rows and columns lie inside the matrix is not asked.
Result<> check(const Rows& rows);

/// Whether all rows and columns lie inside the matrix, and the columns of each row rise: as CSR stores them.
bool are_in_order(const Rows& rows);
/// Such rows as a storage over the same arrays, in a format whose levels are those of CSR.
Storage as_storage(const Rows& rows, const Format& format);

/// Any rows, copied.
Coordinates as_entries(const Rows& rows);

/// Equal rows in arrays of equal widths have equal hashes, on every rank.
uint64_t hash(const Rows& rows);

}  // namespace spdistal
