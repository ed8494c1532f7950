// What runs where nobody said how: conversions, distribution, threads.
#pragma once
#include <string>
#include <vector>

#include "compile/conversion.hpp"
#include "compile/homes.hpp"
#include "process/process.hpp"
#include "schedule/statement.hpp"

namespace spdistal {

/// What runs: the scheduled loops, or, where nothing was said, loops over operands converted where that suits them, cut
/// into as many pieces as there are, the outermost inside over threads where that is safe.
struct Chosen {
  notation::ConcreteStatement statement;
  std::vector<Conversion> conversions = {};
  std::vector<Command> commands = {};  // how it is distributed, where nobody said
  std::string reason = {};             // why so
  std::vector<Command> inside = {};    // what threads and vectors take of a piece, likewise
};

/// In one piece.
Chosen choose(const ScheduledStatement& statement);
/// Collective. In so many pieces; `homes` tells how skewed operands are.
Chosen choose(Process& process, const ScheduledStatement& statement, int64_t pieces, const Homes& homes = {});
/// The loop that is cut into pieces, where there is one, and why it.
struct LoopToCut {
  IndexVar var;
  std::string reason;
};
std::optional<LoopToCut> loop_to_cut(const notation::ConcreteStatement& statement);
/// The loops cut into so many pieces, of one size or of one weight: divide, bring to the outside, distribute.
Chosen over_pieces(Chosen chosen, int64_t pieces, const std::vector<TensorRef>& weights = {});
/// The outermost loop that is not distributed.
std::optional<IndexVar> first_local(const notation::ConcreteStatement& statement);
/// How many pieces a statement is cut into where nobody says: those of the machine that its tensors live on, else one for
/// each rank.
int64_t pieces_of(const ScheduledStatement& statement, int ranks);
/// The loops with the outermost over threads where that is safe, and sums over dense ranges in vectors.
notation::ConcreteStatement over_threads(const notation::ConcreteStatement& statement);
/// The loops with the outermost over the threads of a GPU; where iterations race, sums are kept apart.
notation::ConcreteStatement over_gpu(const notation::ConcreteStatement& statement);
/// Does a statement run on GPUs: do its tensors live on a machine of them, or its loops run there?
bool is_for_gpus(const ScheduledStatement& statement);

}  // namespace spdistal
