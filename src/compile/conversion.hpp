// Operands whose storage no loop order suits, such as C in A(i,j) = B(i,j) + C(j,i) with all in CSR: a copy stored the
// other way round takes their place. It is made by a statement of its own, C'(j,i) = C(j,i), that is compiled and run as
// any other: from storage to storage in one process, over the pieces of its operand and its result otherwise.
#pragma once
#include <string>
#include <vector>

#include "notation/concrete.hpp"
#include "notation/print.hpp"

namespace spdistal {

/// `to` holds what `from` holds, its dimensions stored in another order: the statement copies it.
struct Conversion {
  notation::TensorVar from, to;
  notation::ConcreteStatement statement;
};
struct Converted {
  notation::Assignment assignment;
  std::vector<Conversion> conversions;
};

/// The statement with converted operands where its loops would walk a sparse tensor against its levels; the same
/// statement where none do.
Converted insert_conversions(const notation::Assignment& assignment);

/// "C' stored as ds:1,0", and the loops of each.
std::string print(const std::vector<Conversion>& conversions, notation::Printer& names);

}  // namespace spdistal
