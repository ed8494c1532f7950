// Every value of a range. Sparse accesses walk along: where one has the value, it steps on.
#include <algorithm>

#include "lower/access.hpp"
#include "lower/bind.hpp"
#include "lower/divide/blocks.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/iterate/turns.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// The part of a range that all dense levels of a variable have places for: elsewhere nothing is stored.
Segment where_dense_levels_are(Context& c, const IndexVar& var, Segment range) {
  if (!c.on_pieces()) return range;
  for (int t = 0; t <= c.operands(); t++)
    for (size_t level = 0; level < c.tensor_var(t).order(); level++) {
      if (storage_order(c.access(t))[level] != var || !stores_all(c.functions(t, level)) || c.is_whole(t, level))
        continue;
      Expr first = c.first_coordinate(t, level);
      range = {ir::max(range.begin, first), ir::min(range.end, first + c.dense_size(t, level))};
    }
  return {c.f.constant(c.name(var) + "_first", range.begin), c.f.constant(c.name(var) + "_last", range.end)};
}

// The operands whose outermost level this is tell how much there is below.
CutFunction cut_of(Context& c, const Scope& s, const IndexVar& var, const Segment& range) {
  std::vector<int> weighed;
  for (int k : operands_over(c, s, var)) {
    if (s.access(k).level > 0 || window_at(c, s, k) || !stores_all(next_functions(c, s, k))) continue;
    if (c.tensor_var(k + 1).order() > 1 && c.functions(k + 1, 1).weight) weighed.push_back(k);
  }
  if (weighed.empty()) return {};
  int first = weighed[0] + 1;
  if (weighed.size() == 1)
    return by_weight(c, range, {c.functions(first, 1).weight(c.level_of(first, 1)), c.first_coordinate(first, 0)});
  return [&c, weighed, name = c.name(var)](const Segment& all, const Expr& part, const Expr& parts) {
    return cut_by_weight(c, name, weighed, all, part, parts);
  };
}

/// An access that is walked along.
struct Walker {
  int operand;
  std::string tag;
  Var end, at;
};

Walker start(Context& c, const Scope& s, int operand, const Expr& first) {
  std::string tag = c.level_name(operand + 1, s.access(operand).level);
  Segment stored = segment(c, s, operand);
  Var end = c.f.constant(tag + "_to", stored.end);
  bool from_start = ir::constant_integer(first) == 0 && !window_at(c, s, operand);
  Var at = c.f.variable("p" + tag, from_start ? stored.begin : seek(c, s, operand, {stored.begin, end}, first));
  return {operand, tag, end, at};
}

void turn(Context& c, const Scope& s, const ForallLoop& loop, const std::vector<Walker>& walkers, const Var& i) {
  Scope here = s;
  std::vector<Var> found;
  for (const Walker& w : walkers) {
    Expr has = Expr(w.at) < w.end && ir::equal(coordinate(c, s, w.operand, w.at), i);
    found.push_back(c.f.constant("has_" + w.tag, has));
    enter(c, here, w.operand, w.at, Expr(found.back()), w.end);
  }
  bind_values(c, here, loop.body(), loop.at(i), [&](const Scope& inside) { visit(c, inside, loop.body()); });
  for (size_t k = 0; k < walkers.size(); k++) {
    const Var& at = walkers[k].at;
    const std::optional<Expr>& group = here.access(walkers[k].operand).group;
    c.f.assign(at, ir::select(found[k], group ? *group : Expr(at) + 1, at));
  }
}

}  // namespace

void emit(Context& c, const Scope& s, const ForallLoop& loop, const RangePattern& pattern) {
  Segment range = loop.range;
  if (pattern.clip == Clip::ToDenseLevels) range = where_dense_levels_are(c, loop.var, range);
  else c.sweep(c.provenance.root(loop.var) ? std::vector{loop.var} : c.provenance.roots_of(loop.var));
  Turns turns{c.name(loop.var), range, cut_of(c, s, loop.var, range), pattern.along.empty() ? Alone::Yes : Alone::No};
  run_turns(c, s, loop, turns, [&](const Scope& inside, const Segment& mine, const ir::LoopOptions& options) {
    std::vector<Walker> walkers;
    for (int k : pattern.along) walkers.push_back(start(c, inside, k, mine.begin));
    c.f.loop(
        turns.name, mine.begin, mine.end, [&](const Var& i) { turn(c, inside, loop, walkers, i); }, options);
  });
}

}  // namespace spdistal::lower
