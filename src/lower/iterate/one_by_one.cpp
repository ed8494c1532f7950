// Positions, one by one.
#include "lower/bind.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/iterate/positions.hpp"
#include "lower/iterate/turns.hpp"
#include "lower/questions.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

void emit(Context& c, const Scope& s, const ForallLoop& loop, const PositionsPattern& pattern) {
  const notation::Levels& levels = pattern.levels;
  int operand = c.find_operand(levels.access);
  Turns turns{c.name(loop.var), within_piece(c, s, levels, loop.range)};
  run_turns(c, s, loop, turns, [&](const Scope& inside, const Segment& mine, const ir::LoopOptions& options) {
    // Positions at the levels above: searched once, then walked along; by threads of a GPU searched where somebody asks.
    bool walked = !is_for_gpu(c);
    std::map<size_t, Var> parents;
    if (walked) parents = search_parents(c, inside, levels, mine.begin, levels.last);
    auto turn = [&](const Var& p) {
      Reached reached = enter_position(c, inside, loop.var, levels, p, [&](size_t level, const Expr& position) -> Expr {
        return walked ? walk_to_parent(c, operand + 1, level, parents.at(level), position)
                      : search_parent(c, operand + 1, level, position);
      });
      Scope here = inside;
      here.access(operand) = reached.state;
      for (auto& more : loop.at(p)) reached.found.push_back(more);
      where_stored(c, levels, reached.state, [&] {
        bind_values(c, here, loop.body(), reached.found, [&](const Scope& bound) { visit(c, bound, loop.body()); });
      });
    };
    c.f.loop(turns.name, mine.begin, mine.end, turn, options);
  });
}

}  // namespace spdistal::lower
