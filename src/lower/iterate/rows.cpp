// Loops over positions, row by row. A row is what the positions have in common that give the same elements of the result:
//
//   of a tree    a position of the last level from the top on whose coordinates all index the result
//   of a list    a run of equal coordinates in these levels
//
//         i     k     l                          i  k  l
//   A(i,j) = B(i,k,l) * …     row: a position    0  1  4  ┐
//                             of level i         0  1  6  │ row: a run of one i
//                                                0  3  2  ┘
//                                                2  0  1
//
// What is the same for a row is found once. A share of positions that has all of a row writes it plainly; a row that is
// cut is shared with whoever has the rest: it is summed apart and added atomically, once.
#include <fmt/format.h>

#include <algorithm>

#include "lower/access.hpp"
#include "lower/bind.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/iterate/positions.hpp"
#include "lower/iterate/turns.hpp"
#include "lower/questions.hpp"
#include "lower/result/elements.hpp"
#include "lower/values.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// Does the share of positions that holds all of a row alone write what that row gives? The threads divide these very
// positions, rows stand for coordinates of the result that no other row has, and nothing else writes the result.
bool owns_rows(const Context& c, const Scope& s, const ForallLoop& loop, const RowsPattern& rows) {
  const Levels& levels = rows.levels;
  const Levels* divided = s.elements.raced ? c.provenance.positions_of(*s.elements.raced) : nullptr;
  if (!divided || c.find_operand(divided->access) != c.find_operand(levels.access) || divided->first != levels.first ||
      divided->last != levels.last)
    return false;
  for (size_t level = 0; level <= rows.level; level++) {
    const Format& format = levels.access.tensor.format();
    bool in_run = rows.kind == RowsPattern::Kind::Runs && level >= levels.first;
    bool in_tuples = begins_tuples(format, level) || !kernel_functions(format.levels()[level]).first;
    if (!in_run && in_tuples) return false;
    if (level >= levels.first && !indexes_result(c, levels.var(level))) return false;
  }
  return assignments_of_result(c, c.statement.body) == assignments_of_result(c, loop.body());
}

// Is what a row gives all there is of its elements: do no loops around come back to them?
bool row_is_complete(const Context& c, const Scope& s, const Levels& levels) {
  return std::all_of(s.values.begin(), s.values.end(), [&](const auto& known) {
    const Levels* positions = c.provenance.positions_of(known.first);
    bool ours = positions && c.find_operand(positions->access) == c.find_operand(levels.access);
    return ours || !revisits(c, known.first);
  });
}

/// One share's walk along the rows of a position loop.
class RowWalk {
 public:
  RowWalk(Context& c, const Scope& s, const ForallLoop& loop, const RowsPattern& rows, std::optional<Expr> start,
          std::optional<Expr> base, const Segment& mine, const ir::LoopOptions& options)
      : c_(c),
        f_(c.f),
        loop_(loop),
        rows_(rows),
        levels_(rows.levels),
        operand_(c.find_operand(levels_.access)),
        start_(std::move(start)),
        base_(std::move(base)),
        mine_(mine),
        options_(options),
        owned_(owns_rows(c, s, loop, rows)),
        complete_(c.start == Start::Zero && row_is_complete(c, s, levels_)) {}

  void emit(const Scope& s) {
    if (rows_.kind == RowsPattern::Kind::Runs) walk_runs(s);
    else walk_positions(s);
  }

 private:
  int tensor() const { return operand_ + 1; }
  const KernelFunctions& level(size_t k) const { return c_.functions(tensor(), k); }
  KernelLevel level_of(size_t k) const { return c_.level_of(tensor(), k); }
  /// Positions by their numbers in the whole (or below the coordinates above), and as they stand in the arrays.
  Expr number_of(const Expr& local) const { return start_ ? local - *start_ : base_ ? local + *base_ : local; }
  Expr local(const Expr& p) const { return start_ ? p + *start_ : base_ ? p - *base_ : p; }

  // ---- trees ----
  void walk_positions(const Scope& s);
  Expr first_below(const Expr& row, size_t level) const;
  std::map<size_t, Segment> parts_of_row(const Expr& row, const std::map<size_t, Expr>& begins, const Segment& part);
  void levels_in_row(const Scope& s, size_t level, const Expr& parent, const std::map<size_t, Segment>& parts,
                     const FoundValues& above);

  // ---- lists ----
  void walk_runs(const Scope& s);

  // ---- what a row gives ----
  void positions_in_row(const Scope& s, const Segment& part, const FoundValues& above);
  /// `all` visits a row that is whole, `part` what the share has of one that is cut; none: `all` does that as well.
  void write_row(const Scope& s, const Expr& whole, const Inside& all, const Inside& part = {});
  void whole_or_cut(const Scope& s, const Expr& whole, const Inside& if_whole, const Inside& if_cut);

  Context& c_;
  ir::FunctionBuilder& f_;
  const ForallLoop& loop_;
  const RowsPattern& rows_;
  const Levels& levels_;
  int operand_;
  std::optional<Expr> start_, base_;  // of the positions' numbers: below coordinates, and in a piece
  Segment mine_;
  ir::LoopOptions options_;
  bool owned_;     // rows that are whole are this share's alone
  bool complete_;  // and have all there is of their elements
};

// ---- trees --------------------------------------------------------------------------------------------------------------

// The first position of a level below a position of the rows' level.
Expr RowWalk::first_below(const Expr& row, size_t of) const {
  Expr position = row;
  for (size_t k = rows_.level + 1; k <= of; k++)
    if (level(k).first) position = level(k).first(level_of(k), position);
  return position;
}

// for every row that has positions in [begin, end)
//   for p in those of its positions
void RowWalk::walk_positions(const Scope& s) {
  size_t top = rows_.level, stored = rows_.stored;
  std::map<size_t, Var> parents = search_parents(c_, s, levels_, mine_.begin, top);
  // Where the levels from the row's on are at the beginning of the share.
  std::map<size_t, Expr> begins;
  Expr position = local(mine_.begin);
  for (size_t k = stored; k-- > top;) {
    const KernelFunctions& below = level(k + 1);
    if (below.per_parent) position = position / nonzero(below.per_parent(level_of(k + 1)));
    else if (below.first) position = parents.at(k + 1);
    begins.emplace(k, position);
  }
  bool searched = parents.contains(top + 1);
  Var row = searched ? parents.at(top + 1) : f_.variable("p" + c_.level_name(tensor(), top), begins.at(top));

  std::string tag = c_.level_name(tensor(), stored);
  auto first_of = [&](const Expr& r) { return number_of(first_below(r, stored)); };
  f_.loop_while(first_of(row) < mine_.end, [&] {
    Var begin = f_.constant(tag + "_begin", first_of(row)), end = f_.constant(tag + "_end", first_of(Expr(row) + 1));
    Segment part{f_.constant(tag + "_from", ir::max(begin, mine_.begin)),
                 f_.constant(tag + "_to", ir::min(end, mine_.end))};
    Reached reached{s.access(operand_)};
    reached.state.level = top + 1;
    reached.state.path.resize(top + 1, reached.state.position);
    climb(c_, levels_, top, row, reached,
          [&](size_t k, const Expr& at) -> Expr { return walk_to_parent(c_, tensor(), k, parents.at(k), at); });
    reached.state.position = row;
    const FoundValues& above = reached.found;
    Scope here = s;
    here.access(operand_) = reached.state;
    bind_values(c_, here, loop_.body(), above, [&](const Scope& inside) {
      Expr whole = Expr(begin) >= mine_.begin && Expr(end) <= mine_.end;
      if (top + 1 == stored)
        return write_row(inside, whole, [&](const Scope& in) { positions_in_row(in, part, above); });
      write_row(
          inside, whole, [&](const Scope& in) { levels_in_row(in, top + 1, row, {}, above); },
          [&](const Scope& in) { levels_in_row(in, top + 1, row, parts_of_row(row, begins, part), above); });
    });
    if (!is_for_gpu(c_) || top + 1 != stored || !level(stored).weight) return f_.increase(row, 1);
    // Of rows that store nothing there may be many in a row: all threads of a GPU wait for the one that walks along them.
    // What they would give was zero before.
    Var pos = level(stored).weight(level_of(stored));
    Expr next = ir::load(pos, Expr(row) + 1), rows = c_.stored_positions(tensor(), top);
    f_.when(
        Expr(end) < mine_.end && ir::equal(next, ir::load(pos, Expr(row) + 2)),
        [&] { f_.assign(row, ir::upper_bound(pos, Expr(row) + 2, rows + 1, next) - 1); }, [&] { f_.increase(row, 1); });
  });
}

// The positions of each level below a row that lie in the share.
std::map<size_t, Segment> RowWalk::parts_of_row(const Expr& row, const std::map<size_t, Expr>& begins,
                                                const Segment& part) {
  std::map<size_t, Segment> out;
  out.emplace(rows_.stored, part);
  Expr below = local(part.end);
  for (size_t k = rows_.stored - 1; k > rows_.level; k--) {
    std::string tag = c_.level_name(tensor(), k);
    Var from = f_.constant(tag + "_from", ir::max(first_below(row, k), begins.at(k)));
    Var last = f_.constant(tag + "_end", first_below(row + 1, k));
    const KernelFunctions& next = level(k + 1);
    KernelLevel next_level = level_of(k + 1);
    Expr end = below;
    if (next.per_parent) end = (below + next.per_parent(next_level) - 1) / nonzero(next.per_parent(next_level));
    else if (next.weight) end = ir::lower_bound(next.weight(next_level), from, last, below);
    Var to = f_.constant(tag + "_to", end);
    out.emplace(k, Segment{from, to});
    below = to;
  }
  return out;
}

// Loops over the levels below a row, down to the positions; `parts` bounds them where the row is not visited whole.
void RowWalk::levels_in_row(const Scope& s, size_t k, const Expr& parent, const std::map<size_t, Segment>& parts,
                            const FoundValues& above) {
  const KernelFunctions& here = level(k);
  Segment range = children_of(here, level_of(k), Segment{parent, parent + 1});
  bool last = k == rows_.stored;
  if (last) range = {number_of(range.begin), number_of(range.end)};
  if (auto part = parts.find(k); part != parts.end()) {
    if (k == rows_.level + 1) range = part->second;
    else range = {ir::max(range.begin, part->second.begin), ir::min(range.end, part->second.end)};
  }
  if (last) return positions_in_row(s, range, above);
  f_.loop("p" + c_.level_name(tensor(), k), range.begin, range.end, [&](const Var& p) {
    const IndexVar& var = levels_.var(k);
    Expr coordinate =
        here.coordinate_below ? here.coordinate_below(level_of(k), parent, p) : here.coordinate(level_of(k), p);
    FoundValues found{{var, f_.constant(c_.name(var), coordinate)}};
    found.insert(found.end(), above.begin(), above.end());
    Scope there = s;
    AccessState& state = there.access(operand_);
    state.level = k + 1;
    state.position = p;
    state.path.push_back(p);
    bind_values(c_, there, loop_.body(), {found[0]},
                [&](const Scope& inside) { levels_in_row(inside, k + 1, p, parts, found); });
  });
}

// ---- lists --------------------------------------------------------------------------------------------------------------

// for every run of equal coordinates in [begin, end)
//   for p in it
void RowWalk::walk_runs(const Scope& s) {
  std::string tag = c_.level_name(tensor(), rows_.level);
  Segment list{ir::int64(0), c_.stored_positions(tensor(), 0)};
  if (levels_.first > 0) list = positions_below(c_, s, operand_, levels_.first);
  list = {number_of(list.begin), number_of(list.end)};
  Var at = f_.variable(tag + "_at", mine_.begin);
  f_.loop_while(Expr(at) < mine_.end, [&] {
    FoundValues above;
    auto coordinate = [&](size_t k, const Expr& p) { return level(k).coordinate(level_of(k), local(p)); };
    for (size_t k = rows_.level + 1; k-- > levels_.first;)
      above.emplace_back(levels_.var(k), f_.constant(c_.name(levels_.var(k)), coordinate(k, at)));
    auto same = [&](const Expr& p) {
      std::optional<Expr> all;
      for (size_t k = levels_.first; k <= rows_.level; k++) {
        Expr one = ir::equal(coordinate(k, p), above[rows_.level - k].second);
        all = all ? *all && one : one;
      }
      return *all;
    };
    Var begin = f_.constant(tag + "_begin", at);
    f_.increase(at, 1);
    f_.loop_while(Expr(at) < mine_.end && same(at), [&] { f_.increase(at, 1); });
    Scope here = s;
    AccessState& reached = here.access(operand_);
    reached.level = rows_.level + 1;
    reached.position = local(begin);
    reached.path.resize(rows_.level + 1, reached.position);
    for (size_t k = levels_.first; k <= rows_.level; k++) reached.path[k] = reached.position;
    bind_values(c_, here, loop_.body(), above, [&](const Scope& inside) {
      // A run goes on outside of the share where the coordinates before it, or after it, are the same.
      Expr whole = (Expr(begin) > mine_.begin || ir::equal(begin, list.begin) || !same(Expr(begin) - 1)) &&
                   (Expr(at) < mine_.end || ir::equal(at, list.end) || !same(at));
      write_row(inside, whole, [&](const Scope& in) { positions_in_row(in, {begin, at}, above); });
    });
  });
}

// ---- what a row gives ---------------------------------------------------------------------------------------------------

// A loop over positions whose coordinates above are known.
void RowWalk::positions_in_row(const Scope& s, const Segment& part, const FoundValues& above) {
  auto turn = [&](const Var& p) {
    Scope here = s;
    AccessState& state = here.access(operand_);
    state.position = local(p);
    state.level = levels_.last + 1;
    state.path.resize(levels_.last + 1, state.position);
    // Levels of a list share their positions.
    for (size_t k = rows_.stored; k <= levels_.last; k++) state.path[k] = state.position;
    FoundValues found;
    for (size_t k = levels_.last + 1; k-- > levels_.first + above.size();) {
      Expr coordinate = level(k).coordinate
                            ? level(k).coordinate(level_of(k), state.position)
                            : level(k).coordinate_below(level_of(k), s.access(operand_).position, state.position);
      found.emplace_back(levels_.var(k), f_.constant(c_.name(levels_.var(k)), coordinate));
    }
    found.insert(found.end(), above.begin(), above.end());
    found.emplace_back(c_.provenance.made_by(loop_.var)->replaced[0].var, fused(c_, here, levels_, found));
    for (auto& more : loop_.at(p)) found.push_back(more);
    bind_values(c_, here, loop_.body(), found, [&](const Scope& inside) { visit(c_, inside, loop_.body()); });
  };
  f_.loop(c_.name(loop_.var), part.begin, part.end, turn, options_);
}

void RowWalk::whole_or_cut(const Scope& s, const Expr& whole, const Inside& if_whole, const Inside& if_cut) {
  if (!owned_) return if_cut(s);
  Scope alone = s;
  alone.elements.raced.reset();
  f_.when(
      whole, [&] { if_whole(alone); }, [&] { if_cut(s); });
}

void RowWalk::write_row(const Scope& s, const Expr& whole, const Inside& all, const Inside& part) {
  const Inside& cut = part ? part : all;
  if (s.elements.sum) return cut(s);
  bool below = false;  // do the positions of a row tell elements apart?
  for (size_t k = rows_.level + 1; k <= levels_.last; k++) below |= indexes_result(c_, levels_.var(k));
  AssignOp op = complete_ ? AssignOp::Set : c_.operation;
  if (below) return whole_or_cut(s, whole, all, cut);
  // The row is this share's: its sums start from nothing, and stay at hand until they are written.
  if (!element_known(c_, s))
    return whole_or_cut(
        s, whole, [&](const Scope& alone) { all(complete_ ? with_rest_zeroed(c_, alone) : alone); },
        [&](const Scope& shared) { sum_apart(c_, shared, cut); });
  auto write = [&](const Scope& at, const Expr& total, AssignOp how) {
    where_element_is(c_, at, [&] { write_element(c_, at, total, how); });
  };
  if (part)
    return whole_or_cut(
        s, whole, [&](const Scope& alone) { write(alone, sum_of(c_, alone, all), op); },
        [&](const Scope& shared) { write(shared, sum_of(c_, shared, part), c_.operation); });
  Expr total = sum_of(c_, s, all);
  where_element_is(c_, s, [&] {
    whole_or_cut(
        s, whole, [&](const Scope& alone) { write_element(c_, alone, total, op); },
        [&](const Scope& shared) { write_element(c_, shared, total, c_.operation); });
  });
}

}  // namespace

void emit(Context& c, const Scope& s, const ForallLoop& loop, const RowsPattern& rows) {
  const Levels& levels = rows.levels;
  int operand = c.find_operand(levels.access);
  for (size_t level = levels.first; level <= levels.last; level++)
    if (c.functions(operand + 1, level).per_parent) c.sweep({levels.var(level)});
  std::string tag = c.level_name(operand + 1, levels.last);
  std::optional<Expr> start, base;
  if (levels.first > 0) start = c.f.constant(tag + "_start", positions_below(c, s, operand, levels.last).begin);
  else if (c.on_pieces()) base = c.number(tag + "_base", PositionBase{operand, levels.last});
  Turns turns{.name = c.name(loop.var), .range = within_piece(c, s, levels, loop.range), .grain = Grain::Share};
  run_turns(c, s, loop, turns, [&](const Scope& inside, const Segment& mine, const ir::LoopOptions& options) {
    RowWalk walk(c, inside, loop, rows, start, base, mine, options);
    // A piece has the positions of its share; of an empty share it need not have where that begins.
    if (c.on_pieces()) c.f.when(mine.begin < mine.end, [&] { walk.emit(inside); });
    else walk.emit(inside);
  });
}

}  // namespace spdistal::lower
