// Rows: arrays that several vectors are taken from at one offset are spelled with a pointer to the row.
//
//   offset = j * 32;                              const double* C_row = C + j * 32;
//   s0 += b * *(const doublex8*)&C[offset];   →   s0 += b * *(const doublex8*)&C_row[0];
//   s1 += b * *(const doublex8*)&C[offset + 8];   s1 += b * *(const doublex8*)&C_row[8];
//
// The C++ compiler would give every access its own sum of base and index, which many processors take apart again.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ir/nodes.hpp"

namespace spdistal::codegen {

/// offset + distance, as an index is made of a variable and a constant.
struct Distance {
  ir::Var offset;
  int64_t distance;
};
std::optional<Distance> distance_of(const ir::Expr& index);

struct RowArrays {
  std::vector<ir::Var> arrays;  // taken in vectors at the offset, twice or more
  bool only_use;                // the offset is used for nothing else
};
/// The rows that begin at a constant, given the statements in which it is known.
RowArrays rows_at(const ir::Declare& offset, std::span<const ir::Stmt> scope);

}  // namespace spdistal::codegen
