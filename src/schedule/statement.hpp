// A statement as it was said: checked, its loops written out, and its schedule applied to them.
#pragma once
#include <optional>
#include <vector>

#include "notation/concrete.hpp"
#include "spdistal/schedule/commands.hpp"

namespace spdistal {

/// Where a result lives: where its distribution says, or wherever it is computed, for nobody asked for a place.
enum class Residence : uint8_t { AsSaid, Anywhere };

struct ScheduledStatement {
  notation::Assignment assignment;
  notation::ConcreteStatement initial;  // before any command
  notation::ConcreteStatement scheduled;
  std::vector<Command> commands = {};
  Residence residence = Residence::AsSaid;
  /// Where a window of the result is assigned: what the loops compute, a tensor of the window's size, A'(i,j) = …. It is then
  /// put in its place.
  std::optional<notation::Assignment> part = {};
  /// As it was written, where `assignment` says the same in other words: A min= e with a sparse A is A = min(A, e).
  std::optional<notation::Assignment> written = {};
};
/// What the loops of a statement compute: what it assigns, or the part that is put in the place of a window.
inline const notation::Assignment& computed(const ScheduledStatement& statement) {
  return statement.part ? *statement.part : statement.assignment;
}

/// Checks and concretises a statement. `+=` to a sparse tensor means that what it holds is an operand. Throws UserError.
ScheduledStatement make_statement(const notation::Assignment& assignment);
}  // namespace spdistal
