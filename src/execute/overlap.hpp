// Computing while data is under way: the outermost loop of the leaf is cut into chunks. Those that need nothing from
// other ranks run between the start and the end of the exchange, which is polled after each; the others run then.
#pragma once
#include <optional>
#include <vector>

#include "execute/tasks.hpp"

namespace spdistal {

/// By colour of this rank and chunk: does it need nothing from other ranks? Empty where no chunk is to be run early.
using ReadyChunks = std::vector<std::vector<bool>>;

class Chunks {
 public:
  static constexpr int64_t per_colour = 8;

  /// None where there are no loops around the leaf, or it does not begin with one over coordinates.
  static std::optional<Chunks> of(const lower::Distributed& program);

  /// The statement inside of the loops around the leaf and the one over chunks.
  const notation::ConcreteStatement& leaf() const { return leaf_; }
  /// The variable that counts them.
  const IndexVar& var() const { return var_; }

  /// Local. Looks at fetches as they are planned; computing meanwhile pays from `least` bytes on that come from other ranks.
  ReadyChunks ready(const lower::Distributed& program, Tasks& tasks, const Tasks::Pieces& pieces,
                    const runtime::Transport& transport, int64_t least) const;

 private:
  Chunks(notation::ConcreteStatement leaf, IndexVar var) : leaf_(std::move(leaf)), var_(std::move(var)) {}

  // What comes from other ranks: the elements whose coordinate of a dimension is one of these.
  struct Received {
    size_t dim;
    runtime::Space coordinates;
  };
  static std::optional<Received> elsewhere(const Shares& homes, const runtime::Transport& transport, const Need& need);
  std::vector<bool> ready(int64_t colour, const lower::Distributed& program, Tasks& tasks, const Tasks::Pieces& pieces,
                          const std::vector<std::optional<Received>>& received) const;

  notation::ConcreteStatement leaf_;
  IndexVar var_;
};

}  // namespace spdistal
