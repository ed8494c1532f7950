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

/// A row, or what a position is in of a level between: which it is, and where its positions end, in this run or in another.
struct Group {
  Var at, end, last;  // last: the one that the next run begins in
  Expr ends;          // of the one at hand
};

/// What is done at a position, in two parts: what may be asked for early, whatever row it turns out to be in; and the rest.
struct PositionTurn {
  std::vector<Stmt> early, rest;
};

class PositionRun {
 public:
  PositionRun(const RowBlocks& blocks, const Var& rows, const Var& run)
      : blocks_(blocks), walk_(blocks.walk), turns_(blocks.walk.in_row), sums_(*turns_.sums), rows_(rows), run_(run) {
    Expr positions_end = expanded(turns_.positions.hi, Block{turns_.constants});
    auto* bound = positions_end.as<Binary>();
    Expr row_end = bound->a == Expr(walk_.end) ? bound->b : bound->a;
    groups_.push_back({walk_.row.var, var("row_end", Int64), var("last", Int64), wide(row_end)});
    for (size_t k = 0; k < sums_.levels.size(); k++) {
      std::string name = sums_.levels[k].at.symbol.name();
      Var at = var(name, Int64);
      Expr end = Expr(at) + 1;
      for (size_t below = k; below < sums_.levels.size(); below++) end = load(sums_.levels[below].segments, wide(end));
      groups_.push_back({at, var(name + "_end", Int64), var(name + "_last", Int64), wide(end)});
    }
  }

  Stmt body() {
    Body f;
    for (const Stmt& s : blocks_.declarations(run_)) f.add(s);
    for (size_t k = 0; k < groups_.size(); k++) {
      const Group& g = groups_[k];
      Expr number = Expr(run_) * blocks_.starts() + int64_t(k);
      f.add(declare(g.last, load(rows_, number + blocks_.starts())));
      f.add(Declare{g.at, load(rows_, number), Mutability::Mutable});
      f.add(Declare{g.end, g.ends, Mutability::Mutable});
    }
    f.add(sums_.array);
    PositionTurn turn = position_turn(f);
    f.add(kept());
    int64_t turns = turn.early.empty() ? 1 : at_once;
    f.loop("first", walk_.begin, walk_.end,
           [&](const Var& first) {
             std::vector<Stmt> then;
             for (int64_t u = 0; u < turns; u++) {
               std::vector<Stmt> own = statements(with_fresh_variables(turn_at(Expr(first) + u, turn)));
               for (size_t k = 0; k + 1 < own.size(); k++) f.add(own[k]);
               then.push_back(own.back());
             }
             for (const Stmt& s : then) f.add(s);
           },
           {.step = int64(turns)});
    f.add(with_fresh_variables(finished()));
    return f.build();
  }

 private:
  static constexpr int64_t at_once = 2;

  /// The constants of all levels between.
  std::vector<Stmt> constants_of_levels() const {
    std::vector<Stmt> out;
    for (size_t k = 0; k < sums_.levels.size(); k++) {
      const InnerLevel& level = sums_.levels[k];
      out.push_back(declare(level.at, cast(level.at.type.scalar, groups_[k + 1].at)));
      out.insert(out.end(), level.constants.begin(), level.constants.end());
    }
    return out;
  }

  /// Does an expression depend on what a position is in?
  bool depends(const Expr& e, const std::vector<Stmt>& scope) const {
    std::set<Symbol> used;
    each<Var>(expanded(e, Block{scope}), [&](const Var& v) { used.insert(v.symbol); });
    return std::any_of(groups_.begin(), groups_.end(), [&](const Group& g) { return used.contains(g.at.symbol); });
  }

  // Rows that are read at what a position tells are asked for at several positions at once; those that levels between tell are
  // kept while these stay.
  PositionTurn position_turn(Body& f) {
    std::vector<Stmt> stmts = flat(turns_.positions.body), around = turns_.constants, levels = constants_of_levels();
    around.insert(around.end(), levels.begin(), levels.end());
    std::vector<Stmt> all = with_constants(around, stmts), scope = around;
    scope.insert(scope.end(), stmts.begin(), stmts.end());
    auto* loop = stmts.back().as<For>();
    bool simple = loop && trip_count(*loop) && lane_loop(*loop) == LaneLoop::Row && is_unconditional(loop->body) &&
                  std::all_of(stmts.begin(), stmts.end() - 1, is_constant);
    if (!simple) return {{}, all};
    PositionTurn out;
    for (const Stmt& s : std::vector(all.begin(), all.end() - 1))
      (depends(s.as<Declare>()->init, scope) ? out.rest : out.early).push_back(s);
    Changes changed = changes(Block{{*loop, Block{turns_.after}, Block{sums_.of_cut}}}),
            of_turn = changes(Block{stmts});
    of_turn.variables.insert({turns_.positions.var.symbol, walk_.row.var.symbol});
    std::vector<std::pair<Expr, Var>> rows;
    each<Load>(loop->body, [&](const Load& n) {
      auto base = base_of(n.index, *loop);
      bool known = std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.first == Expr(n); });
      if (!base || n.lanes != 1 || changed.arrays.contains(n.array.symbol) || known) return;
      bool early = !depends(*base, scope), of_level = !of_turn.touches(expanded(*base, Block{around}));
      if (!early && !of_level) return;
      Var row = var(n.array.symbol.name() + (early ? "_early" : "_kept"), array_of(n.array.type.scalar));
      Stmt room = Allocate{row, int64(*trip_count(*loop)), Fill::Uninitialised};
      Stmt fill = with_fresh_variables(For{loop->var, loop->lo, loop->hi, loop->step, store(row, loop->var, Expr(n))});
      if (early) out.early.push_back(room), out.early.push_back(fill);
      else f.add(room), kept_.push_back(fill);
      rows.emplace_back(n, row);
    });
    Stmt rest = rewrite(stmts.back(), [&](const Load& n) -> Expr {
      for (const auto& [row, array] : rows)
        if (row == Expr(n)) return load(array, loop->var);
      return n;
    });
    std::vector<Stmt> needed = with_constants(out.rest, {rest});
    return {out.early, needed};
  }

  /// Fills the rows that are kept.
  Stmt kept() const { return with_fresh_variables(Block{with_constants(constants_of_levels(), kept_)}); }

  Stmt turn_at(const Expr& position, const PositionTurn& turn) const {
    const Var &p = turns_.positions.var, &end = walk_.end;
    bool sure = turn.early.empty();
    std::vector<Stmt> out{declare(p, cast(p.type.scalar, sure ? position : min(position, Expr(end) - 1)))};
    out.insert(out.end(), turn.early.begin(), turn.early.end());
    std::vector<Stmt> then{If{wide(p) >= Expr(groups_.back().end), go_on(wide(p)), {}}};
    then.insert(then.end(), turn.rest.begin(), turn.rest.end());
    out.push_back(sure ? Stmt(Block{then}) : Stmt(If{position < Expr(end), Block{then}, {}}));
    return Block{out};
  }

  /// What is done with the sums of a row, once all of its positions that are in the run have been added.
  Stmt finished() const {
    Stmt choice = If{sums_.whole, Block{turns_.after}, Block{sums_.of_cut}};
    return Block{with_constants(turns_.constants, {choice})};
  }

  Stmt go_on(const Expr& position) const {
    const Var& sums = sums_.array.array;
    Var k = var("k", Int64);
    Stmt clear = For{k, int64(0), sums_.array.count, int64(1), store(sums, k, zero(sums.type.element()))};
    std::vector<Stmt> of_row{finished(), clear};
    if (groups_.size() == 1) return Block{{Block{of_row}, next(0, position)}};
    // What is in a level is found before what it is in.
    std::vector<Stmt> out{If{position >= Expr(groups_[0].end), Block{of_row}, {}}};
    for (size_t level = groups_.size() - 1; level > 0; level--) out.push_back(next(level, position));
    out.push_back(next(0, position));
    out.push_back(kept());
    return Block{out};
  }

  // The next one is looked for no farther than where the next run begins, and only where it has no position.
  Stmt next(size_t level, const Expr& position) const {
    const Group& g = groups_[level];
    bool inmost = level + 1 == groups_.size();
    Stmt ends = Assign{g.end, g.ends};
    Expr found = inmost && level == 0 ? row_between(walk_, position, Expr(g.at) + 1, g.last)
                                      : upper_bound(segments_of(level), Expr(g.at) + 1, Expr(g.last) + 1,
                                                    inmost ? position : Expr(groups_[level + 1].at)) -
                                            1;
    Stmt farther = If{position >= Expr(g.end), Block{{Assign{g.at, found}, ends}}, {}};
    Stmt one = Block{{Assign{g.at, Expr(g.at) + 1}, ends, farther}};
    return inmost ? one : Stmt(If{position >= Expr(g.end), one, {}});
  }
  const Var& segments_of(size_t level) const { return level == 0 ? *sums_.segments : sums_.levels[level - 1].segments; }

  const RowBlocks& blocks_;
  const WalkedRows& walk_;
  const RowTurns& turns_;
  const RowOfSums& sums_;
  Var rows_, run_;
  std::vector<Group> groups_;  // the row, then levels between from the outside
  std::vector<Stmt> kept_;     // fills what is kept of levels between
};

}  // namespace

std::optional<Stmt> run_of_positions(const RowBlocks& blocks, const Var& rows, const Var& run) {
  if (!blocks.walk.in_row.sums || !looks_up_rows(blocks.walk)) return {};
  return PositionRun(blocks, rows, run).body();
}

}  // namespace spdistal::passes
