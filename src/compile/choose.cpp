#include "compile/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "compile/leaf.hpp"
#include "compile/positions.hpp"
#include "format/questions.hpp"
#include "level/level.hpp"
#include "notation/concretize.hpp"
#include "notation/presence.hpp"
#include "notation/races.hpp"
#include "routine/match.hpp"
#include "schedule/apply.hpp"
#include "tensor/weights.hpp"

namespace spdistal {

using namespace notation;

namespace {

// Collective. How many positions a level has, of all pieces.
int64_t positions_at(runtime::Transport& transport, const Home& home, size_t level) {
  int64_t count = 0;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++)
    if (!home.owns_nothing(q)) count += home.piece(q).pattern().level(level).positions;
  transport.allreduce(&count, 1, ScalarType::Int64, runtime::ReduceOp::Sum);
  return count;
}

// From where on blocks are badly skewed. A dense result moves where it is computed elsewhere than it lives; one that follows an
// operand, or stays where it is computed, does not. Of two blocks none has more than twice its share.
enum class ResultPlace : uint8_t { Moves, Stays };
double badly_skewed(ResultPlace place, int64_t blocks) {
  return place == ResultPlace::Moves ? std::min(2.0, double(blocks + 1) / 2) : 1.25;
}
double badly_skewed(const ConcreteStatement& statement, int64_t blocks) {
  return badly_skewed(statement.result.format().is_dense() ? ResultPlace::Moves : ResultPlace::Stays, blocks);
}

// Has a loop so few turns, as is known before data is, that to add up the lanes of a sum takes longer than the sum?
bool is_short(const ConcreteStatement& statement, const IndexVar& var) {
  constexpr int64_t few = 16;
  const Root* root = statement.provenance.root(var);
  return root && !root->size.grid_dim() && root->size.extent().is_literal() && *root->size.value() < few;
}

// Where it is legal.
void add_inside(Chosen& chosen, const Command& command) {
  Result<ConcreteStatement> done = schedule::apply(command, chosen.statement);
  if (!done) return;
  chosen.statement = *done;
  chosen.inside.push_back(command);
}

// An innermost loop that sums over a dense range sums in vectors; over sparse ones the command has no effect.
void add_vectors(Chosen& chosen) {
  const ConcreteStatement& statement = chosen.statement;
  IndexVar inner = outer_loops(statement.body).back().var;
  if (first_local(statement) == inner || !find_race(statement, inner) || is_short(statement, inner)) return;
  add_inside(chosen, Parallelize{inner, CPUVector, Race::Auto});
}

Chosen with_threads(Chosen chosen) {
  std::optional<IndexVar> outer = first_local(chosen.statement);
  if (!outer) return chosen;
  add_inside(chosen, Parallelize{*outer, CPUThread, NoRaces});
  add_vectors(chosen);
  return chosen;
}

Chosen with_gpu_threads(Chosen chosen) {
  if (std::optional<IndexVar> outer = first_local(chosen.statement))
    add_inside(chosen, Parallelize{*outer, GPUThread, Race::Auto});
  return chosen;
}

// Equal shares of the non-zeros, where blocks of rows would be badly skewed.
std::optional<Chosen> over_non_zeros(Process& process, const Chosen& chosen, int64_t pieces, const Homes& homes,
                                     Residence residence, Unit unit) {
  constexpr int64_t worth_it = 4096;  // non-zeros of a piece
  const ConcreteStatement& statement = chosen.statement;
  std::optional<Walked> walked = walked_operand(statement, homes);
  if (!walked || walked->home->nnz() < worth_it * pieces || !can_follow(statement, residence, walked->access))
    return {};
  double skew = imbalance(process.transport(), *walked->home, pieces);
  if (skew < badly_skewed(statement, pieces)) return {};
  IndexVar position("fp"), outer("fo"), inner("fi");
  std::vector<Command> commands = into_positions(statement, walked->access, walked->access.tensor.order(), position);
  commands.push_back(Divide{position, outer, inner, pieces});
  commands.push_back(Distribute{{outer}});
  Result<ConcreteStatement> cut_up = schedule::apply(commands, statement);
  if (!cut_up) return {};
  Printer names;
  names(statement);
  Chosen out{*cut_up, chosen.conversions, std::move(commands),
             fmt::format("blocks of {} would have up to {:.1f} times their share of the non-zeros of {}",
                         names.name(outer_loops(statement.body)[0].var), skew, names.name(walked->access.tensor))};
  if (process.context.threads > 1 || unit != CPUThread) add_inside(out, Parallelize{inner, unit, Race::Auto});
  if (unit == CPUThread) add_vectors(out);
  return out;
}

// Is all that a position gives one number, which is added to others of its row, and the same whatever row that is?
bool adds_up_positions(const ConcreteStatement& statement, const Walked& walked) {
  std::vector<Forall> loops = outer_loops(statement.body);
  ScalarType type = statement.result.type();
  if (walked.common + 1 != walked.access.tensor.order() || loops.size() != walked.common + 1) return false;
  if (operation_of(statement) != AssignOp::Add || type == ScalarType::Bool || is_complex(type)) return false;
  bool out = true;
  each<notation::Access>(loops.back().body.as<Assign>()->rhs, [&](const notation::Access& a) {
    if (a.tensor == walked.access.tensor) return;
    for (const IndexVar& index : a.indices) out &= index == loops.back().var;
  });
  return out;
}

// Collective. Blocks of the loop that have equal shares of what operands store, where rows stay whole and blocks of one size
// would be badly skewed. A result that lives anywhere stays where it is computed; others move.
std::optional<Chosen> over_weights(Process& process, const Chosen& chosen, int64_t pieces, const Homes& homes,
                                   Residence residence) {
  constexpr int64_t worth_it = 4096;  // non-zeros of a piece
  constexpr double better = 0.9;      // a row that is heavier than a share stays so
  const ConcreteStatement& statement = chosen.statement;
  std::optional<LoopToCut> cut = loop_to_cut(statement);
  if (!cut) return {};
  std::vector<TensorRef> weights = weights_of(statement, cut->var, homes);
  Weighed weighed;
  int64_t stored = 0;
  for (const TensorRef& tensor : weights) weighed.push_back(homes.at(tensor.var())), stored += weighed.back()->nnz();
  if (stored < worth_it * pieces) return {};
  int64_t rows = weighed[0]->dims()[size_t(weighed[0]->format().mode_order()[0])];
  double skew = imbalance(process.transport(), weighed, equal_cuts(rows, pieces));
  bool moves = statement.result.format().is_dense() || residence != Residence::Anywhere;
  if (skew < badly_skewed(moves ? ResultPlace::Moves : ResultPlace::Stays, pieces)) return {};
  Cuts cuts = weighted_cuts(process.transport(), weighed, rows, pieces);
  if (imbalance(process.transport(), weighed, cuts) > better * skew) return {};
  Chosen out = over_pieces(chosen, pieces, weights);
  Printer names;
  names(statement);
  std::vector<std::string> tensors;
  for (const TensorRef& tensor : weights) tensors.push_back(names.name(tensor.var()));
  out.reason =
      fmt::format("{} is cut by weight: equal blocks would have up to {:.1f} times their share of the non-zeros of {}",
                  names.name(cut->var), skew, enumerate(tensors));
  return out;
}

// Collective. How many levels of an operand the threads of a GPU share the positions of; 0: they take the outermost loop.
// Rows that are far longer than others, or than there are rows, would keep a few threads busy when all others are done.
size_t levels_to_deal_out(runtime::Transport& transport, const ConcreteStatement& statement, const Walked& walked) {
  constexpr int64_t blocks = 1024, worth_it = 64 * blocks, enough_rows = 8192, long_row = 64;
  const Home& home = *walked.home;
  size_t order = walked.access.tensor.order();
  if (home.nnz() < worth_it) return 0;
  if (adds_up_positions(statement, walked) && is_scattered(transport, home)) return order;
  // Elements of the result that many positions lie below, and which are many themselves.
  if (walked.common >= 2 && walked.common < order &&
      positions_at(transport, home, walked.common - 1) >= home.nnz() / long_row)
    return walked.common;
  int64_t rows = positions_at(transport, home, 0);
  bool few = order > 2 || (rows < enough_rows && home.nnz() >= long_row * rows);
  return few || imbalance(transport, home, blocks) >= badly_skewed(statement, blocks) ? order : 0;
}

// The positions of an operand inside of one piece, for the threads of a GPU.
std::optional<Chosen> over_positions_on_gpu(Process& process, const ConcreteStatement& statement, const Homes& homes) {
  std::optional<Walked> walked = walked_operand(statement, homes);
  if (!walked || !(statement.result.format().is_dense() || shares_pattern(statement, walked->access))) return {};
  size_t levels = levels_to_deal_out(process.transport(), statement, *walked);
  if (levels == 0) return {};
  IndexVar position("fp");
  std::vector<Command> commands = into_positions(statement, walked->access, levels, position);
  commands.push_back(Parallelize{position, GPUThread, Race::Auto});
  Result<ConcreteStatement> out = schedule::apply(commands, statement);
  return out ? std::optional(Chosen{.statement = *out, .inside = std::move(commands)}) : std::nullopt;
}

Chosen with_conversions(const ScheduledStatement& statement) {
  Converted converted = insert_conversions(computed(statement));
  if (converted.conversions.empty()) return {statement.scheduled};
  return {concretize(converted.assignment).value(), std::move(converted.conversions)};
}

// A schedule that says nothing of processors, for GPUs.
ConcreteStatement completed(const ConcreteStatement& statement) {
  bool parallel = routine::find_substituted(statement.body) != nullptr;
  each<Forall>(statement.body, [&](const Forall& loop) { parallel |= loop.tags.parallel.has_value(); });
  return parallel ? statement : over_gpu(statement);
}

}  // namespace

// The outermost over a dimension of the result, in the order it is stored; else the outermost of all, and pieces are added up.
std::optional<LoopToCut> loop_to_cut(const ConcreteStatement& statement) {
  std::vector<Forall> loops = outer_loops(statement.body);
  if (loops.empty()) return {};
  std::optional<notation::Access> result;
  each<Assign>(statement.body, [&](const Assign& a) {
    if (a.lhs.tensor == statement.result) result = a.lhs;
  });
  Printer names;
  names(statement);
  for (int dim : result->tensor.format().mode_order())
    for (const Forall& loop : loops)
      if (loop.var == result->indices[size_t(dim)])
        return LoopToCut{loop.var, fmt::format("{} is the outermost dimension of {} that loops go over",
                                               names.name(loop.var), names.name(result->tensor))};
  return LoopToCut{loops[0].var, fmt::format("{} has no dimension to cut: pieces of {} are added up",
                                             names.name(result->tensor), names.name(loops[0].var))};
}

Chosen over_pieces(Chosen chosen, int64_t pieces, const std::vector<TensorRef>& weights) {
  const ConcreteStatement& statement = chosen.statement;
  std::optional<LoopToCut> cut = loop_to_cut(statement);
  if (!cut) return chosen;
  Printer names;
  names(statement);
  std::string name = names.name(cut->var);
  IndexVar outer(name + "o"), inner(name + "i");
  std::vector<IndexVar> order{outer};
  for (const Forall& loop : outer_loops(statement.body)) order.push_back(loop.var == cut->var ? inner : loop.var);
  std::vector<Command> commands{Divide{cut->var, outer, inner, pieces, weights}};
  if (!(outer_loops(statement.body)[0].var == cut->var)) commands.push_back(Reorder{order});
  commands.push_back(Distribute{{outer}});
  Result<ConcreteStatement> cut_up = schedule::apply(commands, statement);
  if (!cut_up) return chosen;
  chosen.statement = *cut_up;
  chosen.commands = std::move(commands);
  chosen.reason = cut->reason;
  return chosen;
}

std::optional<IndexVar> first_local(const ConcreteStatement& statement) {
  for (const Forall& loop : outer_loops(statement.body))
    if (loop.tags.place == LoopPlace::Local) return loop.var;
  return {};
}

ConcreteStatement over_threads(const ConcreteStatement& statement) { return with_threads({statement}).statement; }

ConcreteStatement over_gpu(const ConcreteStatement& statement) { return with_gpu_threads({statement}).statement; }

bool is_for_gpus(const ScheduledStatement& statement) {
  bool found = runs_on_gpu(statement.scheduled);
  for (const TensorVar& tensor : tensors(statement.assignment))
    if (const auto& distribution = tensor.format().distribution())
      for (const Grid& grid : distribution->machine().levels()) found |= grid.kind() == GPU;
  return found;
}

int64_t pieces_of(const ScheduledStatement& statement, int ranks) {
  for (const TensorVar& tensor : tensors(statement.assignment))
    if (const auto& distribution = tensor.format().distribution()) {
      bind_machine(distribution->machine(), ranks);
      int64_t pieces = 1;
      for (const Grid& grid : distribution->machine().levels())
        for (const Extent& extent : grid.extents()) pieces *= extent.value().value();
      return pieces;
    }
  return ranks;
}

Chosen choose(const ScheduledStatement& statement) {
  bool gpus = is_for_gpus(statement);
  if (!statement.commands.empty()) return {gpus ? completed(statement.scheduled) : statement.scheduled};
  auto inside = gpus ? with_gpu_threads : with_threads;
  Chosen chosen = with_conversions(statement);
  for (Conversion& c : chosen.conversions) c.statement = inside({c.statement}).statement;
  return inside(std::move(chosen));
}

Chosen choose(Process& process, const ScheduledStatement& statement, int64_t pieces, const Homes& homes) {
  bool gpus = is_for_gpus(statement);
  if (!statement.commands.empty() || pieces <= 1) {
    Chosen chosen = choose(statement);
    if (!gpus || !statement.commands.empty() || !chosen.conversions.empty()) return chosen;
    return over_positions_on_gpu(process, statement.scheduled, homes).value_or(std::move(chosen));
  }
  auto inside = gpus ? with_gpu_threads : with_threads;
  Chosen chosen = with_conversions(statement);
  for (Conversion& c : chosen.conversions) {
    // The copy has no distribution of its own: it lives in blocks, one for each rank.
    if (int ranks = process.transport().size(); ranks > 1) c.statement = over_pieces({c.statement}, ranks).statement;
    c.statement = inside({c.statement}).statement;
  }
  Unit unit = gpus ? GPUThread : CPUThread;
  if (auto balanced = over_non_zeros(process, chosen, pieces, homes, statement.residence, unit)) return *balanced;
  if (auto balanced = over_weights(process, chosen, pieces, homes, statement.residence)) chosen = *balanced;
  else chosen = over_pieces(std::move(chosen), pieces);
  return inside(std::move(chosen));
}

}  // namespace spdistal
