// Which rank runs which colours: consecutive blocks of colours, so that colours in order are ranks in order. With fewer
// colours than ranks the last ranks have none. The colours of a rank are dealt out to its devices in the same way.
#pragma once
#include <algorithm>

#include "base/blocks.hpp"
#include "base/require.hpp"

namespace spdistal::runtime {

class Mapping {
 public:
  Mapping(int64_t colours, int ranks) : colours_(colours), ranks_(ranks) {
    require(colours >= 0 && ranks > 0, "colours are mapped to at least one rank");
  }

  int64_t colours() const { return colours_; }
  int ranks() const { return ranks_; }
  int rank_of(int64_t colour) const {
    require(colour >= 0 && colour < colours_, "a colour is one of the grid's");
    return int(block_of(colours_, ranks_, colour));
  }
  Range colours_of(int rank) const { return block(colours_, ranks_, rank); }

 private:
  int64_t colours_;
  int ranks_;
};

/// Which of the devices of a node one of its ranks uses: each its part of them; where there are more ranks than devices, consecutive
/// ranks share one.
inline Range devices_of(int rank, int ranks, int devices) {
  require(rank >= 0 && rank < ranks && devices > 0, "ranks of a node share the devices that are there");
  int64_t first = int64_t(rank) * devices / ranks, end = (int64_t(rank) + 1) * devices / ranks;
  return {first, std::max(end, first + 1)};
}

}  // namespace spdistal::runtime
