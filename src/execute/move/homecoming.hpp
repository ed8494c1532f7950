// Dense results: the pieces that colours compute, and how they go home.
//
//   in place    a colour's piece is a home piece, all of it: computed there, nothing moves
//   assigned    colours share no element: each goes to all who hold it
//   added       colours share elements, or what was there counts: owners put them together in the order of colours, then the
//               other holders get the sums
//
// Where what was there does not count, and a colour computes rows of its own home piece and others near them, its piece lies around the
// home piece: its own rows are computed where they live, what others give is put to them in the order of colours, and rows of others are
// sent from where they lie around it.
//
//   rows        2 3 | 4 5 6 7 |        computed: 2 to 6; at home: 4 to 7
//   computed    x x   x x x            2 and 3 lie in front of the home piece, and go to their owner; 7 begins as the background
#pragma once
#include <algorithm>
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

/// Where pieces lie: by themselves, or around home pieces where they can.
enum class PiecePlace : uint8_t { Apart, AroundHome };

class Homecoming {
 public:
  /// Local. Of the colours of this rank. Traffic is counted under the name.
  Homecoming(runtime::Transport& transport, std::string tensor, std::string name, const Home& home,
             const runtime::ColourGrid& grid, Range colours, std::vector<ResultTarget> targets,
             runtime::Arrival arrival, notation::AssignOp operation, PiecePlace place, runtime::Traffic* traffic,
             runtime::DeviceMoves* moves = nullptr);

  /// Does the piece of a colour, or any of this rank, lie around a home piece, of homes with this pattern and no others?
  bool is_around_home(int64_t home_colour) const;
  bool is_around_home() const;
  uint64_t home_pattern() const { return home_pattern_; }

  /// Local. Sees to the memory of pieces that lie around those of the home, which may have come to lie elsewhere.
  void prepare(Home& home);
  /// The piece to compute into, of a home that was prepared for.
  Storage& operator[](int64_t colour);
  /// The parts of a home piece that are not computed there: those in front of and behind what is.
  std::vector<Storage> not_computed(Home& home, int64_t colour);

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

  // A piece that lies around a home piece: rows of the outermost level.
  struct Around {
    Range home, computed;
    int64_t row;                       // elements
    std::optional<Tails::Rows> taken;  // for those that are not at home

    Range all() const { return {std::min(home.lo, computed.lo), std::max(home.hi, computed.hi)}; }
  };

  runtime::Space box(int64_t colour, const Format& format) const;
  std::optional<Around> find_around(const Home& home, int64_t colour) const;
  void place(Home& home, int64_t colour);
  size_t index(int64_t colour) const { return size_t(colour - colours_.lo); }
  runtime::Instances own_instances() const;
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
  std::vector<PatternHandle> patterns_;
  std::vector<std::optional<Around>> around_;
  std::vector<Storage> pieces_;
  uint64_t home_pattern_;
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
