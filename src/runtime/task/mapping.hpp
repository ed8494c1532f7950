// Which rank runs which colours: consecutive blocks of colours, so that colours in order are ranks in order. With fewer
// colours than ranks the last ranks have none.
#pragma once
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

}  // namespace spdistal::runtime
