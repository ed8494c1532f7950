// A sparse result that stores what an operand stores, of which colours have consecutive positions: it takes over the
// operand's pieces, and stays where it is computed.
//
//   operand   (0,0) (0,1) (1,3) | (1,4) (2,2)     two colours
//   result    (0)         (1)   | (1)   (2)       of its first level
//
// An element that is cut between colours belongs to the first of them, which adds up what the others have of it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "execute/move/reduce_op.hpp"
#include "runtime/region/exchange.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// A tensor in pieces, as the colours of this rank compute them: one behind the other in the order of colours, each in
/// storage order.
struct ComputedPieces {
  const Format& format;
  const std::vector<int64_t>& dims;
  runtime::ColourGrid grid;
  const std::vector<Storage>& made;
};

class TakenOver {
 public:
  /// Collective. Elements can be numbered (`numbers.hpp`); `name` is what traffic is counted under.
  TakenOver(runtime::Transport& transport, std::string tensor, std::string name, const ComputedPieces& pieces,
            notation::AssignOp operation, runtime::Traffic* traffic);

  const Shares& shares() const { return shares_; }
  /// Collective. Adds up what is cut, in a home of these pieces.
  void add_up(Home& home);

 private:
  // The numbers of the first and the last element of a piece; none where the first is behind the last.
  struct Ends {
    int64_t first = 0, last = -1;
  };
  // Elements that are cut, of the colours of this rank: the last of its owner, the first of the others.
  struct Cut {
    runtime::Space owned{1}, sent{1};
  };

  static std::vector<Ends> ends_of(runtime::Transport& transport, const std::vector<Storage>& made);
  void cut(const std::vector<Ends>& ends, const ComputedPieces& pieces);
  void connect(const Home& home);
  std::vector<const std::byte*> memory_of(Home& home) const;

  runtime::Transport& transport_;
  std::string tensor_, name_;
  runtime::ReduceOp operation_;
  runtime::Traffic* traffic_;
  Shares shares_;
  bool any_cut_ = false;  // on any rank
  std::vector<Cut> cuts_;
  std::optional<runtime::Exchange> exchange_;
  std::optional<runtime::Instances> owners_, senders_;
  std::vector<const std::byte*> bound_;  // the memory that the exchange knows
};

}  // namespace spdistal
