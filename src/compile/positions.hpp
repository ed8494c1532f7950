// Positions of an operand as what loops are cut by: which operand, how uneven blocks of its rows would be.
#pragma once
#include <optional>
#include <vector>

#include "compile/homes.hpp"
#include "notation/concrete.hpp"
#include "runtime/transport/transport.hpp"
#include "schedule/statement.hpp"

namespace spdistal {

/// An operand whose stored elements the outer loops go over, all of them: its positions can be dealt out.
struct Walked {
  notation::Access access;
  const Home* home;
  size_t common;  // levels from the first on that index the result
};
std::optional<Walked> walked_operand(const notation::ConcreteStatement& statement, const Homes& homes);

/// Has the result the pattern of an operand?
bool shares_pattern(const notation::ConcreteStatement& statement, const notation::Access& operand);
/// Can the result take parts of elements from anywhere? A dense one can; a sparse one where it stays with the operand whose
/// pattern it has.
bool can_follow(const notation::ConcreteStatement& statement, Residence residence, const notation::Access& operand);

/// Fuses the loops over the first levels of an access into one over their positions.
std::vector<Command> into_positions(const notation::ConcreteStatement& statement, const notation::Access& access,
                                    size_t levels, const IndexVar& position);

/// The operands whose first levels a loop's variable walks, and which are not dense: what they store tells how much there is
/// to do for a value of it.
std::vector<TensorRef> weights_of(const notation::ConcreteStatement& statement, const IndexVar& loop,
                                  const Homes& homes);

/// Collective. The most stored elements in a block of the first level's dimension, over their mean.
double imbalance(runtime::Transport& transport, const Home& home, int64_t pieces);

/// Collective. Are coordinates of the last level that follow each other mostly far apart, by a sample of them? What is read at
/// them comes from all over memory then.
bool is_scattered(runtime::Transport& transport, const Home& home);

}  // namespace spdistal
