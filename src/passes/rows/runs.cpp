#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/cursors.hpp"
#include "passes/lanes/loops.hpp"
#include "passes/rows/walked.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// What is done at a position, in two parts: what may be asked for early, whatever row it turns out to be in; and the rest.
struct PositionTurn {
  std::vector<Stmt> early, rest;
};

class Run {
 public:
  Run(const RowBlocks& blocks, const Var& rows, const Var& run)
      : blocks_(blocks),
        walk_(blocks.walk),
        sums_(*blocks.walk.in_row.sums),
        rows_(rows),
        run_(run),
        last_(var("last", Int64)),
        end_(var("row_end", Int64)) {}

  Stmt body() {
    const Var& row = walk_.row.var;
    Body f;
    for (const Stmt& s : blocks_.declarations(run_)) f.add(s);
    f.add(declare(last_, load(rows_, Expr(run_) + 1)));
    f.add(Declare{row, load(rows_, run_), Mutability::Mutable});
    f.add(Declare{end_, row_end(), Mutability::Mutable});
    f.add(sums_.array);
    PositionTurn turn = position_turn();
    int64_t turns = turn.early.empty() ? 1 : at_once;
    f.loop("first", walk_.begin, walk_.end, [&](const Var& first) {
      std::vector<Stmt> then;
      for (int64_t u = 0; u < turns; u++) {
        std::vector<Stmt> own = statements(with_fresh_variables(turn_at(Expr(first) + u, turn)));
        for (size_t k = 0; k + 1 < own.size(); k++) f.add(own[k]);
        then.push_back(own.back());
      }
      for (const Stmt& s : then) f.add(s);
    }, {.step = int64(turns)});
    f.add(with_fresh_variables(finished()));
    return f.build();
  }

 private:
  static constexpr int64_t at_once = 2;

  /// Where the positions of the row at hand end, in this run or in another.
  Expr row_end() const {
    Expr end = expanded(walk_.in_row.positions.hi, Block{walk_.in_row.constants});
    auto* bound = end.as<Binary>();
    return wide(bound->a == Expr(walk_.end) ? bound->b : bound->a);
  }

  /// Rows of arrays that a loop reads along its variable, from outside; each once.
  std::vector<Expr> rows_read(const For& loop) const {
    std::vector<Expr> out;
    Changes changed = changes(Block{{loop, Block{walk_.in_row.after}, Block{sums_.of_cut}}});
    each<Load>(loop.body, [&](const Load& n) {
      bool along = n.lanes == 1 && !changed.arrays.contains(n.array.symbol) && base_of(n.index, loop);
      if (along && std::find(out.begin(), out.end(), Expr(n)) == out.end()) out.push_back(n);
    });
    return out;
  }

  // Constants and rows that are read do not depend on the row of the result: they are asked for at several positions at once.
  PositionTurn position_turn() const {
    std::vector<Stmt> stmts = flat(walk_.in_row.positions.body);
    std::vector<Stmt> all = with_constants(walk_.in_row.constants, stmts);
    auto* loop = stmts.back().as<For>();
    bool simple = loop && trip_count(*loop) && lane_loop(*loop) == LaneLoop::Row && is_unconditional(loop->body) &&
                  std::all_of(stmts.begin(), stmts.end() - 1, is_constant);
    if (!simple || uses(Block{all}).contains(walk_.row.var.symbol)) return {{}, all};
    PositionTurn out{{all.begin(), all.end() - 1}, {}};
    std::vector<Expr> read = rows_read(*loop);
    std::vector<Var> early;
    for (const Expr& row : read) {
      const Var& array = row.as<Load>()->array;
      early.push_back(var(array.symbol.name() + "_early", array_of(array.type.scalar)));
      out.early.push_back(Allocate{early.back(), int64(*trip_count(*loop)), Fill::Uninitialised});
      Stmt fill = For{loop->var, loop->lo, loop->hi, loop->step, store(early.back(), loop->var, row)};
      out.early.push_back(with_fresh_variables(fill));
    }
    out.rest.push_back(rewrite(stmts.back(), [&](const Load& n) -> Expr {
      auto found = std::find(read.begin(), read.end(), Expr(n));
      return found == read.end() ? Expr(n) : load(early[size_t(found - read.begin())], loop->var);
    }));
    return out;
  }

  Stmt turn_at(const Expr& position, const PositionTurn& turn) const {
    const Var &p = walk_.in_row.positions.var, &end = walk_.end;
    bool sure = turn.early.empty();
    std::vector<Stmt> out{declare(p, cast(p.type.scalar, sure ? position : min(position, Expr(end) - 1)))};
    out.insert(out.end(), turn.early.begin(), turn.early.end());
    std::vector<Stmt> then{If{wide(p) >= Expr(end_), go_on(wide(p)), {}}};
    then.insert(then.end(), turn.rest.begin(), turn.rest.end());
    out.push_back(sure ? Stmt(Block{then}) : Stmt(If{position < Expr(end), Block{then}, {}}));
    return Block{out};
  }

  /// What is done with the sums of a row, once all of its positions that are in the run have been added.
  Stmt finished() const {
    Stmt choice = If{sums_.whole, Block{walk_.in_row.after}, Block{sums_.of_cut}};
    return Block{with_constants(walk_.in_row.constants, {choice})};
  }

  // The next row is looked for no farther than where the next run begins, and only where it has no position.
  Stmt go_on(const Expr& position) const {
    const Var &row = walk_.row.var, &sums = sums_.array.array;
    Var k = var("k", Int64);
    Stmt ends = Assign{end_, row_end()};
    Stmt farther = Block{{Assign{row, row_between(walk_, position, Expr(row) + 1, last_)}, ends}};
    return Block{{finished(), For{k, int64(0), sums_.array.count, int64(1), store(sums, k, zero(sums.type.element()))},
                  Assign{row, Expr(row) + 1}, ends, If{position >= Expr(end_), farther, {}}}};
  }

  const RowBlocks& blocks_;
  const WalkedRows& walk_;
  const RowOfSums& sums_;
  Var rows_, run_;
  Var last_, end_;  // the last row of the run; where the positions of the one at hand end
};

}  // namespace

std::optional<Stmt> run_of_positions(const RowBlocks& blocks, const Var& rows, const Var& run) {
  if (!blocks.walk.in_row.sums || !looks_up_rows(blocks.walk)) return {};
  return Run(blocks, rows, run).body();
}

}  // namespace spdistal::passes
