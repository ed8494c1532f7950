// What one access stores.
#include "lower/access.hpp"
#include "lower/bind.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/iterate/turns.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

struct StoredLoop {
  Context& c;
  const ForallLoop& loop;
  int k;
  std::string tag;
  bool in_order;

  /// The positions whose coordinates may lie in the loop's range.
  Segment positions(const Scope& s) const {
    Segment stored = segment(c, s, k);
    if (!is_part(s) || !in_order) return stored;
    Var from = c.f.constant(tag + "_from", stored.begin), to = c.f.constant(tag + "_to", stored.end);
    stored.begin = c.f.constant(tag + "_first", seek(c, s, k, {from, to}, loop.range.begin));
    stored.end = c.f.constant(tag + "_last", seek(c, s, k, {from, to}, loop.range.end));
    return stored;
  }

  /// May positions have coordinates outside of the loop's range?
  bool is_part(const Scope& s) const { return loop.reach == Reach::Part || window_at(c, s, k); }

  /// Does something where the loop comes to a position; `i` is the value there.
  void where_visited(const Scope& s, const Expr& p, const Expr& i, const std::function<void()>& inside) const {
    std::vector<Expr> conditions;
    const KernelFunctions& functions = next_functions(c, s, k);
    if (functions.stored) conditions.push_back(functions.stored(c.level_of(k + 1, s.access(k).level), p));
    if (is_part(s) && !in_order) conditions.push_back(i >= loop.range.begin && i < loop.range.end);
    if (std::optional<Expr> on_stride = is_on_stride(c, s, k, p)) conditions.push_back(*on_stride);
    if (conditions.empty()) return inside();
    Expr all = conditions[0];
    for (size_t n = 1; n < conditions.size(); n++) all = all && conditions[n];
    c.f.when(all, inside);
  }

  /// What happens at a position; gives where the access is there.
  AccessState turn(const Scope& s, const Expr& p, const Expr& end) const {
    Var i = c.f.constant(c.name(loop.var), coordinate(c, s, k, p));
    Scope here = s;
    enter(c, here, k, p, std::nullopt, end);
    where_visited(s, p, i, [&] {
      bind_values(c, here, loop.body(), loop.at(i), [&](const Scope& bound) { visit(c, bound, loop.body()); });
    });
    return here.access(k);
  }

  /// Groups of equal coordinates, one by one. Shares begin where a coordinate does.
  void walk_groups(const Scope& s, const Segment& positions) const {
    CutFunction cut = up_to_the_end([&](const Segment& all, const Expr& part, const Expr& parts) {
      Expr here = coordinate(c, s, k, evenly(all, part, parts));
      return ir::select(all.begin < all.end, seek(c, s, k, all, here), all.end);
    });
    divide(c, s, loop, "p" + tag, positions, cut, [&](const Scope& inside, const Segment& mine, Reach) {
      Var end = c.f.constant(tag + "_to", mine.end);
      Var p = c.f.variable("p" + tag, mine.begin);
      c.f.loop_while(Expr(p) < end, [&] { c.f.assign(p, *turn(inside, p, end).group); });
    });
  }
};

}  // namespace

void emit(Context& c, const Scope& s, const ForallLoop& loop, const StoredPattern& pattern) {
  int k = pattern.operand;
  size_t level = s.access(k).level;
  const Format& format = c.tensor_var(k + 1).format();
  StoredLoop stored{c, loop, k, c.level_name(k + 1, level), next_functions(c, s, k).seek != nullptr};
  Segment positions = stored.positions(s);
  if (begins_tuples(format, level)) return stored.walk_groups(s, positions);
  CutFunction cut;
  if (level + 1 < format.order() && c.functions(k + 1, level + 1).weight)
    cut = by_weight(c, positions, {c.functions(k + 1, level + 1).weight(c.level_of(k + 1, level + 1))});
  Turns turns{"p" + stored.tag, positions, cut};
  run_turns(c, s, loop, turns, [&](const Scope& inside, const Segment& mine, const ir::LoopOptions& options) {
    c.f.loop(
        turns.name, mine.begin, mine.end, [&](const Var& p) { stored.turn(inside, p, positions.end); }, options);
  });
}

}  // namespace spdistal::lower
