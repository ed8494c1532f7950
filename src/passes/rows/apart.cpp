#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/carried.hpp"
#include "passes/cursors.hpp"
#include "passes/lanes.hpp"
#include "passes/rows/walked.hpp"

namespace spdistal::passes {

using namespace ir;

std::optional<BlockBody> block_of_positions(const RowBlocks& blocks, const GridMapping& mapping) {
  const WalkedRows& walk = blocks.walk;
  const RowTurns& turns = walk.in_row;
  if (!looks_up_rows(walk) || turns.sum || turns.sums || !turns.after.empty() || !is_independent(turns.positions))
    return {};
  int threads = int(blocks.room);
  Var begin = walk.begin, end = walk.end, lane = var("lane", Int64), group = var("group", Int64);
  Var from = var("from", Int64), to = var("to", Int64), rows_of = var("rows_of", array_of(ScalarType::Int64));
  std::vector<Stmt> turn = with_constants(turns.constants, flat(turns.positions.body));
  turn.insert(turn.begin(), declare(walk.row.var, load(rows_of, wide(turns.positions.var) - begin)));
  const For& loop = turns.positions;
  Stmt positions =
      For{loop.var, cast(loop.var.type.scalar, from), cast(loop.var.type.scalar, to), loop.step, Block{turn}};
  int lanes = lanes_for(positions, mapping);
  std::optional<Stmt> divided = lanes > 1 ? by_lanes(positions, lane, lanes, mapping, LaneTurns::Full) : std::nullopt;
  if (!divided) return {};
  return BlockBody{threads, [=](const Var& rows, const Var& block, const Var& thread) {
                     Body f;
                     f.add(Allocate{rows_of, int64(threads), Fill::Uninitialised, MemorySpace::Shared});
                     Var own = f.constant("own", Expr(begin) + thread);
                     f.when(Expr(own) < Expr(end), [&] {
                       f.store(rows_of, thread, row_between(walk, own, load(rows, block), load(rows, Expr(block) + 1)));
                     });
                     f.add(Barrier{});
                     f.add(declare(lane, Expr(thread) % int64_t(lanes)));
                     f.add(declare(group, Expr(thread) / int64_t(lanes)));
                     f.add(declare(from, Expr(begin) + Expr(group) * int64_t(lanes)));
                     f.add(declare(to, min(Expr(from) + int64_t(lanes), end)));
                     f.add(*divided);
                     return f.build();
                   }};
}

}  // namespace spdistal::passes
