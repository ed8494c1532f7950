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

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

/// One share's walk along the rows of a position loop.
struct Lowerer::RowWalk {
  const Forall& loop;
  const IndexVar& var;
  const Levels& levels;
  Rows rows;
  int operand;
  std::optional<Expr> start, base;  // of the positions' numbers: below coordinates, and in a piece
  Segment mine;
  ir::LoopOptions options;
  bool owned;     // rows that are whole are this share's alone
  bool complete;  // and have all there is of their elements

  const KernelFunctions& level(size_t k) const { return kernel_functions(levels.access.tensor.format().levels()[k]); }
  /// Positions by their numbers in the whole (or below the coordinates above), and as they stand in the arrays.
  Expr number_of(const Expr& local) const { return start ? local - *start : base ? local + *base : local; }
  Expr local(const Expr& p) const { return start ? p + *start : base ? p - *base : p; }
};

std::optional<Lowerer::Rows> Lowerer::rows_of(const Forall& loop, const Levels& levels) const {
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  bool placed = kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared;
  if (!placed || !holds_result(loop.body) || in_producer_ || levels.first == levels.last) return {};
  size_t stored = levels.last;
  while (stored > levels.first && !kernel_functions(formats[stored]).first) stored--;
  if (!kernel_functions(formats[stored]).weight) return {};
  size_t common = levels.first;  // the levels before this one index the result
  while (common < levels.last && indexes_result(levels.var(common))) common++;
  if (stored == levels.first) {
    if (common == levels.first) return {};
    return Rows{common - 1, stored, Rows::Kind::Runs};
  }
  // Where rows do not tell elements apart, the levels above the last are still found once for each position there.
  bool some = common > levels.first;
  return Rows{(some ? std::min(common, stored) : stored) - 1, stored, Rows::Kind::Positions};
}

// Does the share of positions that holds all of a row alone write what that row gives? The threads divide these very
// positions, rows stand for coordinates of the result that no other row has, and nothing else writes the result.
bool Lowerer::owns_rows(const Forall& loop, const Levels& levels, const Rows& rows) const {
  const Levels* divided = racing_loop_ ? provenance_.positions_of(*racing_loop_) : nullptr;
  if (!divided || find_operand(divided->access) != find_operand(levels.access) || divided->first != levels.first ||
      divided->last != levels.last)
    return false;
  for (size_t level = 0; level <= rows.level; level++) {
    const Format& format = levels.access.tensor.format();
    bool in_run = rows.kind == Rows::Kind::Runs && level >= levels.first;
    bool in_tuples = begins_tuples(format, level) || !kernel_functions(format.levels()[level]).first;
    if (!in_run && in_tuples) return false;
    if (level >= levels.first && !indexes_result(levels.var(level))) return false;
  }
  auto writes = [&](const Stmt& stmt) {
    int count = 0;
    each<Assign>(stmt, [&](const Assign& a) { count += a.lhs.tensor == lhs_.tensor; });
    return count;
  };
  return writes(statement_.body) == writes(loop.body);
}

// Is what a row gives all there is of its elements: do no loops around come back to them?
bool Lowerer::row_is_complete(const Levels& levels) const {
  return std::all_of(values_.begin(), values_.end(), [&](const auto& known) {
    const Levels* positions = provenance_.positions_of(known.first);
    bool ours = positions && find_operand(positions->access) == find_operand(levels.access);
    return ours || !revisits(known.first);
  });
}

void Lowerer::row_loop(const Forall& loop, const IndexVar& var, const Segment& range, const Levels& levels,
                       const Rows& rows) {
  int k = find_operand(levels.access), tensor = k + 1;
  std::vector<AccessState> entry = states_;
  bool saved = covering_;
  covering_ = false;
  plain_range_ = false;
  for (size_t level = levels.first; level <= levels.last; level++)
    if (functions(tensor, level).per_parent) sweep({levels.var(level)});
  std::string tag = fmt::format("{}{}", tensor_name(tensor), levels.last + 1);
  std::optional<Expr> start, base;
  if (levels.first > 0) start = f_.constant(tag + "_start", positions_below(k, levels.last).begin);
  else if (on_pieces()) base = number(tag + "_base", PositionBase{k, levels.last});
  range_loop(loop, name(var), range, std::nullopt, [&](const Segment& mine, const ir::LoopOptions& options) {
    RowWalk walk{loop,
                 var,
                 levels,
                 rows,
                 k,
                 start,
                 base,
                 mine,
                 options,
                 racing_ && owns_rows(loop, levels, rows),
                 start_ == Start::Zero && row_is_complete(levels)};
    auto go = [&] { rows.kind == Rows::Kind::Runs ? walk_runs(walk) : walk_positions(walk); };
    // A piece has the positions of its share; of an empty share it need not have where that begins.
    if (on_pieces()) f_.when(mine.begin < mine.end, go);
    else go();
  });
  states_ = entry;
  covering_ = saved;
}

// ---- trees --------------------------------------------------------------------------------------------------------------

// The first position of a level below a position of the rows' level.
Expr Lowerer::first_below(const RowWalk& walk, const Expr& row, size_t level) {
  Expr position = row;
  for (size_t k = walk.rows.level + 1; k <= level; k++)
    if (walk.level(k).first) position = walk.level(k).first(level_of(walk.operand + 1, k), position);
  return position;
}

// for every row that has positions in [begin, end)
//   for p in those of its positions
void Lowerer::walk_positions(const RowWalk& walk) {
  const Levels& levels = walk.levels;
  int tensor = walk.operand + 1;
  size_t top = walk.rows.level, stored = walk.rows.stored;
  std::vector<AccessState> entry = states_;
  std::map<size_t, Var> parents = search_parents(levels, walk.mine.begin, top);
  // Where the levels from the row's on are at the beginning of the share.
  std::map<size_t, Expr> begins;
  Expr position = walk.local(walk.mine.begin);
  for (size_t level = stored; level-- > top;) {
    const KernelFunctions& below = walk.level(level + 1);
    if (below.per_parent) position = position / nonzero(below.per_parent(level_of(tensor, level + 1)));
    else if (below.first) position = parents.at(level + 1);
    begins.emplace(level, position);
  }
  bool searched = parents.contains(top + 1);
  Var row =
      searched ? parents.at(top + 1) : f_.variable(fmt::format("p{}{}", tensor_name(tensor), top + 1), begins.at(top));

  std::string tag = fmt::format("{}{}", tensor_name(tensor), stored + 1);
  auto first_of = [&](const Expr& r) { return walk.number_of(first_below(walk, r, stored)); };
  f_.loop_while(first_of(row) < walk.mine.end, [&] {
    Var begin = f_.constant(tag + "_begin", first_of(row)), end = f_.constant(tag + "_end", first_of(Expr(row) + 1));
    Segment part{f_.constant(tag + "_from", ir::max(begin, walk.mine.begin)),
                 f_.constant(tag + "_to", ir::min(end, walk.mine.end))};
    AccessState reached = states_[size_t(walk.operand)];
    reached.level = top + 1;
    reached.path.resize(top + 1, reached.position);
    Coordinates above;
    climb(levels, top, row, reached, above, [&](size_t level, const Expr& at) -> Expr {
      const Var& parent = parents.at(level);
      Expr last = functions(tensor, level).first(level_of(tensor, level), Expr(parent) + 1);
      f_.loop_while(last <= at, [&] { f_.increase(parent, 1); });
      return parent;
    });
    reached.position = row;
    states_[size_t(walk.operand)] = reached;
    bind(above, [&] {
      Expr whole = Expr(begin) >= walk.mine.begin && Expr(end) <= walk.mine.end;
      if (top + 1 == stored) {
        auto inside = [&] { positions_in_row(walk, part, above); };
        return write_row(walk, whole, inside);
      }
      write_row(
          walk, whole, [&] { levels_in_row(walk, top + 1, row, {}, above); },
          [&] { levels_in_row(walk, top + 1, row, parts_of_row(walk, row, begins, part), above); });
    });
    states_ = entry;
    f_.increase(row, 1);
  });
}

// The positions of each level below a row that lie in the share.
std::map<size_t, Segment> Lowerer::parts_of_row(const RowWalk& walk, const Expr& row,
                                                const std::map<size_t, Expr>& begins, const Segment& part) {
  int tensor = walk.operand + 1;
  std::map<size_t, Segment> out;
  out.emplace(walk.rows.stored, part);
  Expr below = walk.local(part.end);
  for (size_t level = walk.rows.stored - 1; level > walk.rows.level; level--) {
    std::string tag = fmt::format("{}{}", tensor_name(tensor), level + 1);
    Var from = f_.constant(tag + "_from", ir::max(first_below(walk, row, level), begins.at(level)));
    Var last = f_.constant(tag + "_end", first_below(walk, row + 1, level));
    const KernelFunctions& next = walk.level(level + 1);
    KernelLevel next_level = level_of(tensor, level + 1);
    Expr end = below;
    if (next.per_parent) end = (below + next.per_parent(next_level) - 1) / nonzero(next.per_parent(next_level));
    else if (next.weight) end = ir::lower_bound(next.weight(next_level), from, last, below);
    Var to = f_.constant(tag + "_to", end);
    out.emplace(level, Segment{from, to});
    below = to;
  }
  return out;
}

// Loops over the levels below a row, down to the positions; `parts` bounds them where the row is not visited whole.
void Lowerer::levels_in_row(const RowWalk& walk, size_t level, const Expr& parent,
                            const std::map<size_t, Segment>& parts, const Coordinates& above) {
  int tensor = walk.operand + 1;
  const KernelFunctions& here = walk.level(level);
  Segment range = children_of(here, level_of(tensor, level), Segment{parent, parent + 1});
  bool last = level == walk.rows.stored;
  if (last) range = {walk.number_of(range.begin), walk.number_of(range.end)};
  if (auto part = parts.find(level); part != parts.end()) {
    if (level == walk.rows.level + 1) range = part->second;
    else range = {ir::max(range.begin, part->second.begin), ir::min(range.end, part->second.end)};
  }
  if (last) return positions_in_row(walk, range, above);
  std::vector<AccessState> entry = states_;
  f_.loop(fmt::format("p{}{}", tensor_name(tensor), level + 1), range.begin, range.end, [&](const Var& p) {
    const IndexVar& var = walk.levels.var(level);
    Expr c = here.coordinate_below ? here.coordinate_below(level_of(tensor, level), parent, p)
                                   : here.coordinate(level_of(tensor, level), p);
    Coordinates found{{var, f_.constant(name(var), c)}};
    found.insert(found.end(), above.begin(), above.end());
    AccessState& state = states_[size_t(walk.operand)];
    state.level = level + 1;
    state.position = p;
    state.path.push_back(p);
    bind({found[0]}, [&] { levels_in_row(walk, level + 1, p, parts, found); });
    states_ = entry;
  });
}

// ---- lists --------------------------------------------------------------------------------------------------------------

// for every run of equal coordinates in [begin, end)
//   for p in it
void Lowerer::walk_runs(const RowWalk& walk) {
  const Levels& levels = walk.levels;
  int tensor = walk.operand + 1;
  std::vector<AccessState> entry = states_;
  std::string tag = fmt::format("{}{}", tensor_name(tensor), walk.rows.level + 1);
  Segment list{ir::int64(0), stored_positions(tensor, 0)};
  if (levels.first > 0) list = positions_below(walk.operand, levels.first);
  list = {walk.number_of(list.begin), walk.number_of(list.end)};
  Var at = f_.variable(tag + "_at", walk.mine.begin);
  f_.loop_while(Expr(at) < walk.mine.end, [&] {
    Coordinates above;
    auto crd = [&](size_t level, const Expr& p) {
      return walk.level(level).coordinate(level_of(tensor, level), walk.local(p));
    };
    for (size_t level = walk.rows.level + 1; level-- > levels.first;)
      above.emplace_back(levels.var(level), f_.constant(name(levels.var(level)), crd(level, at)));
    auto same = [&](const Expr& p) {
      std::optional<Expr> all;
      for (size_t level = levels.first; level <= walk.rows.level; level++) {
        Expr one = ir::equal(crd(level, p), above[walk.rows.level - level].second);
        all = all ? *all && one : one;
      }
      return *all;
    };
    Var begin = f_.constant(tag + "_begin", at);
    f_.increase(at, 1);
    f_.loop_while(Expr(at) < walk.mine.end && same(at), [&] { f_.increase(at, 1); });
    AccessState& reached = states_[size_t(walk.operand)];
    reached.level = walk.rows.level + 1;
    reached.position = walk.local(begin);
    reached.path.resize(walk.rows.level + 1, reached.position);
    for (size_t level = levels.first; level <= walk.rows.level; level++) reached.path[level] = reached.position;
    bind(above, [&] {
      // A run goes on outside of the share where the coordinates before it, or after it, are the same.
      Expr whole = (Expr(begin) > walk.mine.begin || ir::equal(begin, list.begin) || !same(Expr(begin) - 1)) &&
                   (Expr(at) < walk.mine.end || ir::equal(at, list.end) || !same(at));
      write_row(walk, whole, [&] { positions_in_row(walk, {begin, at}, above); });
    });
    states_ = entry;
  });
}

// ---- what a row gives ---------------------------------------------------------------------------------------------------

// A loop over positions whose coordinates above are known.
void Lowerer::positions_in_row(const RowWalk& walk, const Segment& part, const Coordinates& above) {
  const Levels& levels = walk.levels;
  std::vector<AccessState> entry = states_;
  f_.loop(
      name(walk.var), part.begin, part.end,
      [&](const Var& p) {
        AccessState& state = states_[size_t(walk.operand)];
        state.position = walk.local(p);
        state.level = levels.last + 1;
        state.path.resize(levels.last + 1, state.position);
        // Levels of a list share their positions.
        for (size_t level = walk.rows.stored; level <= levels.last; level++) state.path[level] = state.position;
        Coordinates found;
        for (size_t level = levels.last + 1; level-- > levels.first + above.size();) {
          Expr c = walk.level(level).coordinate(level_of(walk.operand + 1, level), state.position);
          found.emplace_back(levels.var(level), f_.constant(name(levels.var(level)), c));
        }
        found.insert(found.end(), above.begin(), above.end());
        found.emplace_back(provenance_.made_by(walk.var)->replaced[0].var, fused(found));
        for (auto& more : with_below(walk.var, p)) found.push_back(more);
        bind(found, [&] { visit(walk.loop.body); });
        states_ = entry;
      },
      walk.options);
}

void Lowerer::write_row(const RowWalk& walk, const Expr& whole, const std::function<void()>& inside) {
  write_row(walk, whole, inside, {});
}

// `all` visits a row that is whole, `part` what the share has of one that is cut; none: `all` does that as well.
void Lowerer::write_row(const RowWalk& walk, const Expr& whole, const std::function<void()>& all,
                        const std::function<void()>& part) {
  const std::function<void()>& cut = part ? part : all;
  auto whole_or_cut = [&](const std::function<void()>& if_whole, const std::function<void()>& if_cut) {
    if (!walk.owned) return if_cut();
    f_.when(
        whole,
        [&] {
          racing_ = false;
          if_whole();
          racing_ = true;
        },
        if_cut);
  };
  if (sum_) return cut();
  bool below = false;  // do the positions of a row tell elements apart?
  for (size_t level = walk.rows.level + 1; level <= walk.levels.last; level++)
    below |= indexes_result(walk.levels.var(level));
  AssignOp op = walk.complete ? AssignOp::Set : AssignOp::Add;
  if (below) return whole_or_cut(all, cut);
  if (!element_known())
    return whole_or_cut(
        [&] {
          // The row is this share's: its sums start from nothing, and stay at hand until they are written.
          bool before = zeroed_;
          if (walk.complete) zero_rest();
          all();
          zeroed_ = before;
        },
        [&] { sum_apart(cut); });
  auto sum_of = [&](const std::function<void()>& inside) -> Expr {
    sum_ = f_.variable("sum", ir::zero(ir::value_of(sum_type())));
    bool parallel = in_parallel_;
    in_parallel_ = true;  // the sum is one thread's
    inside();
    in_parallel_ = parallel;
    Expr total = *sum_;
    sum_.reset();
    return total;
  };
  auto write = [&](const Expr& total, AssignOp how) { where_element_is([&] { write_element(total, how); }); };
  if (part) return whole_or_cut([&] { write(sum_of(all), op); }, [&] { write(sum_of(part), AssignOp::Add); });
  Expr total = sum_of(all);
  where_element_is(
      [&] { whole_or_cut([&] { write_element(total, op); }, [&] { write_element(total, AssignOp::Add); }); });
}

}  // namespace spdistal::lower
