// Sparse results on their way home when both ends store what they stored before: values alone travel, and are added up in
// the order of colours by everyone who holds them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "execute/move/reduce_op.hpp"
#include "runtime/region/exchange.hpp"
#include "tensor/home.hpp"

namespace spdistal {

class SparseHomecoming {
 public:
  /// Collective. From pieces that the colours of this rank compute; their elements can be numbered (`numbers.hpp`). `name` is
  /// what traffic is counted under.
  SparseHomecoming(runtime::Transport& transport, std::string tensor, std::string name, const runtime::ColourGrid& grid,
                   const std::vector<Storage>& made, const Home& home, notation::AssignOp operation,
                   runtime::Traffic* traffic);

  /// Collective. Pieces and home have the patterns that this was planned for.
  void run(const std::vector<Storage>& made, Home& home, const Scalar& background);

 private:
  runtime::Transport& transport_;
  std::string tensor_;
  std::optional<runtime::Exchange> exchange_;
  std::optional<runtime::Instances> owners_, senders_;
};

}  // namespace spdistal
