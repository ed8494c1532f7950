// Dense results: the pieces that colours compute, and how they go home.
//
//   in place    a colour's piece is a home piece, all of it: computed there, nothing moves
//   assigned    colours share no element: each goes to all who hold it
//   added       colours share elements, or what was there counts: owners put them together in the order of colours, then the
//               other holders get the sums
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "execute/move/fetch.hpp"
#include "execute/move/reduce_op.hpp"
#include "runtime/partition/grid.hpp"
#include "runtime/region/ends.hpp"
#include "runtime/region/exchange.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// What a colour computes of the result.
struct ResultTarget {
  std::vector<runtime::Space> touched;  // coordinates, by dimension
  std::vector<Range> ranges;            // that its piece covers
  bool idle = false;                    // nothing
};

class Homecoming {
 public:
  /// Collective. Of the colours of this rank. Traffic is counted under the name.
  Homecoming(runtime::Transport& transport, std::string tensor, std::string name, const Home& home,
             const runtime::ColourGrid& grid, Range colours, std::vector<ResultTarget> targets,
             runtime::Arrival arrival, notation::AssignOp operation, runtime::Traffic* traffic,
             runtime::DeviceMoves* moves = nullptr);

  /// The piece to compute into.
  Storage& operator[](int64_t colour);

  /// Collective.
  void run(Home& home);
  /// Local: adds what the first colour of this rank computed to the pieces of this rank.
  void keep_here(Home& home);

 private:
  // What a home piece here gets of the one that was computed here.
  struct KeptPart {
    int64_t home;
    runtime::Selection from, to;
    runtime::End out, in;
    Buffer between = {};
  };

  runtime::Space box(int64_t colour, const Format& format) const;
  void bring_to_host(Home& home);
  void plan(Home& home);
  void plan_here(const Home& home);
  void refresh_replicas(Home& home);

  runtime::Transport& transport_;
  std::string tensor_, name_;
  runtime::ColourGrid grid_;
  Range colours_;
  std::vector<ResultTarget> targets_;
  runtime::Arrival arrival_;
  runtime::ReduceOp operation_;
  runtime::Traffic* traffic_;
  runtime::DeviceMoves* moves_;  // where pieces are on devices
  Copies copies_;
  bool has_replicas_;  // does any element of the home have several holders?
  std::vector<Storage> pieces_;
  std::optional<runtime::Exchange> home_, replicas_;
  std::optional<runtime::Instances> instances_, home_instances_;
  std::optional<std::vector<KeptPart>> kept_;
  MemoryBound bound_;  // the memory of the home that the exchanges know
};

/// Is every colour's piece that of the same colour in a home with these shares, all of it? Of the colours of this rank; where that
/// is so on all ranks and colours compute no element twice, nobody else holds any of it.
bool are_home_pieces(const Shares& shares, const runtime::ColourGrid& grid, Range colours,
                     const std::vector<ResultTarget>& targets);

}  // namespace spdistal
