// Operands whose storage no loop order suits, such as C in A(i,j) = B(i,j) + C(j,i) with all in CSR: a copy stored the
// other way round takes their place.
#pragma once
#include <string>
#include <vector>

#include "notation/index_notation.hpp"
#include "notation/print.hpp"

namespace spdistal {

/// `to` holds what `from` holds, its dimensions stored in another order.
struct Conversion {
  notation::TensorVar from, to;
};
struct Converted {
  notation::Assignment assignment;
  std::vector<Conversion> conversions;
};

/// The statement with converted operands where its loops would walk a sparse tensor against its levels; the same
/// statement where none do.
Converted insert_conversions(const notation::Assignment& assignment);

/// "C' = C stored as ds:1,0", a line each.
std::string print(const std::vector<Conversion>& conversions, notation::Printer& names);

}  // namespace spdistal
