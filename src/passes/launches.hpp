// From a kernel to what a device runs of it: grids and the steps between them.
#pragma once
#include <optional>

#include "ir/launches.hpp"

namespace spdistal::passes {

struct GridMapping {
  /// How many threads take an item of a parallel loop together: 1, 2, 4, … 32, where its loops can be divided; none: as
  /// many as these loops are worth.
  std::optional<int> lanes = {};
  /// How long loops are of which the kernel does not say: how much operands store below a place.
  double average_row = 8;
  /// How many products a block has room for, where it adds up rows; an eighth as many positions, where it writes them one by one.
  int products = 2048;
};

/// Every Parallel becomes a grid, as do loops outside of them: over their turns where these are independent, in three
/// grids where all that they carry is a sum of integers, else by one thread. What decides what is launched, and how large
/// arrays are, stays with the host.
ir::Launches launches(const ir::Function& f, const GridMapping& mapping = {});

}  // namespace spdistal::passes
