#include "lower/iterate/positions.hpp"

#include <fmt/format.h>

#include "lower/access.hpp"
#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// Positions are looked up at this level: the last, or of a piece the last that has not the same number everywhere. Those
// below it have as many places in the whole as their dimensions say, and fewer in a piece: their coordinates are found by
// dividing.
std::optional<size_t> looked_up(const Context& c, const Levels& levels) {
  if (!c.on_pieces()) return levels.last;
  for (size_t level = levels.last + 1; level-- > levels.first;)
    if (!kernel_functions(levels.access.tensor.format().levels()[level]).per_parent) return level;
  return std::nullopt;
}

// Where the position with number p of a level stands in the arrays. Those of the first level on are counted in the whole
// tensor, those below coordinates from where these have their first.
Expr local_position(Context& c, const Scope& s, const Levels& levels, size_t level, const Expr& p) {
  int k = c.find_operand(levels.access);
  if (levels.first > 0) return positions_below(c, s, k, level).begin + p;
  if (!c.on_pieces()) return p;
  std::string tag = c.level_name(k + 1, level);
  return c.f.constant("p" + tag, p - c.number(tag + "_base", PositionBase{k, level}));
}

// Do the loops around the kernel tell which block of coordinates it is?
bool is_known_outside(const Context& c, const CoordinateBlock& block) {
  bool known = true;
  for (const IndexExpr& end : {block.first, block.end})
    each<ValueOf>(end, [&](const ValueOf& n) { known &= c.provenance.determined(n.var, c.options.outer); });
  return known;
}

// The first position of the first level at or after a coordinate, which a piece need not have.
Expr first_position(Context& c, int tensor, const Expr& coordinate) {
  Expr all = c.stored_positions(tensor, 0);
  if (!c.functions(tensor, 0).per_parent) {
    Segment stored = children_of(c.functions(tensor, 0), c.level_of(tensor, 0), Above{ir::int64(0)});
    std::string name = c.level_name(tensor, 0);
    Segment wide{c.f.constant(name + "_from", ir::wide(stored.begin)),
                 c.f.constant(name + "_to", ir::wide(stored.end))};
    return c.functions(tensor, 0).seek(c.level_of(tensor, 0), Above{ir::int64(0)}, wide, coordinate);
  }
  Expr from = c.on_pieces() ? ir::max(coordinate - c.first_coordinate(tensor, 0), 0) : coordinate;
  return ir::min(from, all);
}

}  // namespace

// Below the rows of the block, level by level; what a piece has lies one after the other.
Segment positions_of_block(Context& c, const Scope& s, const Levels& levels) {
  int k = c.find_operand(levels.access), tensor = k + 1;
  std::string name = c.name(levels.block->part);
  if (c.on_pieces() && is_known_outside(c, *levels.block)) {
    using Which = PositionsOfBlock::Which;
    return {c.number(name + "_before", PositionsOfBlock{levels.block->part, Which::Begin}),
            c.number(name + "_until", PositionsOfBlock{levels.block->part, Which::End})};
  }
  size_t stored = levels.last;
  while (c.functions(tensor, stored).per_parent) stored--;
  auto before = [&](const IndexExpr& coordinate) {
    Expr position = first_position(c, tensor, index(c, s, coordinate));
    for (size_t level = 1; level <= stored; level++)
      if (auto first = c.functions(tensor, level).first) position = first(c.level_of(tensor, level), position);
    position = ir::wide(position);
    if (c.on_pieces()) position = position + c.number(c.level_name(tensor, stored) + "_base", PositionBase{k, stored});
    for (size_t level = stored + 1; level <= levels.last; level++) position = position * size(c, s, levels.var(level));
    return position;
  };
  return {c.f.constant(name + "_before", before(levels.block->first)),
          c.f.constant(name + "_until", before(levels.block->end))};
}

Expr search_parent(Context& c, int tensor, size_t level, const Expr& position) {
  Var sums = c.functions(tensor, level).weight(c.level_of(tensor, level));
  return ir::upper_bound(sums, 0, c.stored_positions(tensor, level - 1) + 1, position) - 1;
}

Segment positions_below(Context& c, const Scope& s, int operand, size_t level) {
  Segment out = segment(c, s, operand);
  for (size_t k = s.access(operand).level + 1; k <= level; k++)
    out = children_of(c.functions(operand + 1, k), c.level_of(operand + 1, k), out);
  return out;
}

Expr count_positions(Context& c, const Scope& s, const Levels& levels) {
  int operand = c.find_operand(levels.access);
  if (levels.block) {
    Segment block = positions_of_block(c, s, levels);
    return block.end - block.begin;
  }
  if (levels.first == 0) {
    std::string stored = fmt::format("{}_stored", c.tensor_name(operand + 1));
    if (c.on_pieces()) return c.number(stored, PositionCount{operand, levels.last});
    return c.f.number(stored, ir::Source::Field::End, operand + 1, int(levels.last));
  }
  std::optional<size_t> stored = looked_up(c, levels);
  Expr count = ir::int64(1);
  if (stored) {
    Segment range = positions_below(c, s, operand, *stored);
    count = range.end - range.begin;
  } else if (const std::optional<Expr>& present = s.access(operand).present) {
    count = ir::select(*present, count, ir::int64(0));
  }
  for (size_t level = stored ? *stored + 1 : levels.first; level <= levels.last; level++)
    count = count * size(c, s, levels.var(level));
  return count;
}

Reached enter_position(Context& c, const Scope& s, const IndexVar& position_var, const Levels& levels, const Expr& p,
                       const Parent& parent) {
  int k = c.find_operand(levels.access), tensor = k + 1;
  for (size_t level = levels.first; level <= levels.last; level++)
    if (c.functions(tensor, level).per_parent) c.sweep({levels.var(level)});
  std::optional<size_t> stored = looked_up(c, levels);
  size_t divided = stored ? *stored + 1 : levels.first;  // the levels from here on are looked up by dividing
  const AccessState& from = s.access(k);
  Reached reached{{levels.last + 1, from.position, from.present, std::nullopt, from.path}};
  AccessState& state = reached.state;
  auto note = [&](size_t level, const Expr& coordinate) {
    reached.found.emplace_back(levels.var(level), c.f.constant(c.name(levels.var(level)), coordinate));
  };
  Expr rest = p;
  for (size_t level = levels.last + 1; level-- > divided;) {
    note(level, level == levels.first ? rest : rest % size(c, s, levels.var(level)));
    rest = rest / size(c, s, levels.var(level));
  }
  state.path.resize(levels.last + 1, state.position);
  if (stored) {
    Expr position = local_position(c, s, levels, *stored, rest);
    if (levels.first == levels.last && c.functions(tensor, *stored).per_parent) {
      state.path[*stored] = position;
      note(*stored, p);
    } else {
      climb(c, levels, *stored, position, reached, parent);
    }
    state.position = state.path[*stored];
  }
  for (size_t level = divided; level <= levels.last; level++) {
    const Expr& coordinate = reached.found[levels.last - level].second;
    state.position =
        c.f.constant("p" + c.level_name(tensor, level), c.position_of(tensor, level, state.position, coordinate));
    state.path[level] = state.position;
  }
  const IndexVar& whole = c.provenance.made_by(position_var)->replaced[0].var;
  if (whole != levels.var(levels.first)) reached.found.emplace_back(whole, fused(c, s, levels, reached.found));
  return reached;
}

void climb(Context& c, const Levels& levels, size_t level, Expr position, Reached& reached, const Parent& parent) {
  int tensor = c.find_operand(levels.access) + 1;
  for (;; level--) {
    const KernelFunctions& here = c.functions(tensor, level);
    KernelLevel of = c.level_of(tensor, level);
    auto note = [&](const Expr& coordinate) {
      reached.found.emplace_back(levels.var(level), c.f.constant(c.name(levels.var(level)), coordinate));
    };
    if (here.coordinate) note(here.coordinate(of, position));
    Expr above = position;
    if (level == levels.first) above = reached.state.position;
    else if (here.per_parent) above = position / here.per_parent(of);
    else if (here.first) above = parent(level, position);
    if (!here.coordinate) note(here.coordinate_below(of, above, position));
    reached.state.path[level] = position;
    if (level == levels.first) break;
    position = above;
  }
}

void where_stored(Context& c, const Levels& levels, const AccessState& state, const std::function<void()>& inside) {
  int tensor = c.find_operand(levels.access) + 1;
  std::optional<Expr> all;
  for (size_t level = levels.first; level <= levels.last; level++)
    if (auto stored = c.functions(tensor, level).stored) {
      Expr here = stored(c.level_of(tensor, level), state.path[level]);
      all = all ? *all && here : here;
    }
  if (all) c.f.when(*all, inside);
  else inside();
}

namespace {

// The positions that a piece has, counted in the whole, where it may not have all that loops ask for.
std::optional<Segment> positions_of_piece(Context& c, const Scope& s, const Levels& levels) {
  bool cut = c.on_pieces() && levels.first == 0 && ends_with_what_occurs(levels.access.tensor.format(), levels.last);
  std::optional<size_t> stored = looked_up(c, levels);
  if (!cut || !stored) return std::nullopt;
  int k = c.find_operand(levels.access);
  Expr base = c.number(c.level_name(k + 1, *stored) + "_base", PositionBase{k, *stored});
  Segment out{base, base + c.stored_positions(k + 1, *stored)};
  for (size_t level = *stored + 1; level <= levels.last; level++) {
    Expr below = size(c, s, levels.var(level));
    out = {out.begin * below, out.end * below};
  }
  return out;
}

}  // namespace

Segment within_piece(Context& c, const Scope& s, const Levels& levels, const Segment& range) {
  std::optional<Segment> there = positions_of_piece(c, s, levels);
  if (!there) return range;
  std::string tag = c.level_name(c.find_operand(levels.access) + 1, levels.last);
  return {c.f.constant(tag + "_first", ir::max(range.begin, there->begin)),
          c.f.constant(tag + "_last", ir::min(range.end, there->end))};
}

void where_in_piece(Context& c, const Scope& s, const Levels& levels, const Expr& p,
                    const std::function<void()>& inside) {
  if (std::optional<Segment> there = positions_of_piece(c, s, levels))
    c.f.when(p >= there->begin && p < there->end, inside);
  else inside();
}

Expr fused(Context& c, const Scope& s, const Levels& levels, const FoundValues& found) {
  Expr out = found.back().second;
  if (levels.block) out = out - index(c, s, levels.block->first);
  for (size_t n = found.size() - 1; n-- > 0;) out = out * size(c, s, found[n].first) + found[n].second;
  return out;
}

std::map<size_t, Var> search_parents(Context& c, const Scope& s, const Levels& levels, const Expr& first,
                                     size_t walked) {
  std::map<size_t, Var> out;
  int tensor = c.find_operand(levels.access) + 1;
  std::optional<size_t> stored = looked_up(c, levels);
  if (!stored || *stored == levels.first) return out;
  Expr rest = first;
  for (size_t level = levels.last; level > *stored; level--) rest = rest / nonzero(size(c, s, levels.var(level)));
  Expr position = local_position(c, s, levels, *stored, rest);
  for (size_t level = *stored; level > levels.first; level--) {
    const KernelFunctions& here = c.functions(tensor, level);
    if (here.per_parent) position = position / nonzero(here.per_parent(c.level_of(tensor, level)));
    else if (here.first) {
      Expr above = search_parent(c, tensor, level, position);
      const char* what = level <= walked + 1 ? "" : "_first";
      out.insert_or_assign(level, c.f.variable(fmt::format("p{}{}{}", c.tensor_name(tensor), level, what), above));
      position = out.at(level);
    }
  }
  return out;
}

Expr walk_to_parent(Context& c, int tensor, size_t level, const Var& parent, const Expr& position) {
  Expr end = c.functions(tensor, level).first(c.level_of(tensor, level), Expr(parent) + 1);
  c.f.loop_while(end <= position, [&] { c.f.increase(parent, 1); });
  return parent;
}

}  // namespace spdistal::lower
