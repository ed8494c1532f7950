// Who holds what, without anyone knowing everything: the index space is cut into one block per rank, and what pieces
// hold or need within a block is known to the rank of that block. Every question about a distributed partition is
// answered block by block.
//
//   index space   | block of rank 0 | block of rank 1 | block of rank 2 |
//   held by a     #########
//   held by b              ############################
//   asked by c           ###############                                   -> ranks 0 and 1 each answer their part
//
// A rank sends and keeps O(intervals of its own pieces + intervals within its block).
#pragma once
#include <optional>
#include <vector>

#include "runtime/partition/partition.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

struct ColouredSpace {
  int64_t colour;
  Space set;
};

class Directory {
 public:
  /// Collective. Blocks of the bounding rectangle of all pieces that any rank knows.
  Directory(Transport& transport, const Partition& held);

  /// What lies outside no piece holds.
  const Rect& box() const { return box_; }
  /// This rank's block; empty where there are fewer indices than ranks.
  Space block_here() const { return block_of_rank(transport_.rank()); }

  /// Collective. Cuts the sets at the blocks and sends each part to the rank of its block; returns the parts that
  /// belong here, by colour.
  std::vector<ColouredSpace> send_to_blocks(const std::vector<ColouredSpace>& sets) const;

 private:
  Space block_of_rank(int rank) const;

  Transport& transport_;
  Rect box_;
  int dim_ = 0;  // the one that is cut: the longest
};

/// The pieces of the colours that the mapping gives this rank.
std::vector<ColouredSpace> pieces_here(const Transport& transport, const Partition& p);

}  // namespace spdistal::runtime
