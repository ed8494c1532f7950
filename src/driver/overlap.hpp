// Computing while data is under way: the outermost loop of the leaf is cut into chunks. Those that need nothing from
// other ranks run between the start and the end of the exchange, which is polled after each; the others run then.
#pragma once
#include <optional>
#include <vector>

#include "driver/tasks.hpp"

namespace spdistal {

/// What comes from other ranks: the elements whose coordinate of a dimension is one of these.
struct Received {
  size_t dim;
  runtime::Space coordinates;
};

class Chunks {
 public:
  static constexpr int64_t per_colour = 8;

  /// None where the leaf does not begin with a loop over coordinates.
  static std::optional<Chunks> of(const lower::Distributed& program);

  /// The statement inside of the loops around the leaf and the one over chunks.
  const notation::ConcreteStatement& leaf() const { return leaf_; }
  /// The variable that counts them.
  const IndexVar& var() const { return var_; }

  /// Local. Which chunks of a colour of this rank need nothing that comes from other ranks. `received` tells for each
  /// access what does, if anything.
  std::vector<bool> ready(int64_t colour, const lower::Distributed& program, Tasks& tasks, const Tasks::Pieces& pieces,
                          const std::vector<std::optional<Received>>& received) const;

 private:
  Chunks(notation::ConcreteStatement leaf, IndexVar var) : leaf_(std::move(leaf)), var_(std::move(var)) {}

  notation::ConcreteStatement leaf_;
  IndexVar var_;
};

}  // namespace spdistal
