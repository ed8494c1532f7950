// Loops over the positions of a tensor, and the coordinates that belong to them.
#include <fmt/format.h>

#include <algorithm>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

Expr Lowerer::nonzero(const Expr& size) {
  if (!ir::constant(size)) return ir::max(size, ir::int64(1));
  return ir::constant_integer(size) == 0 ? ir::int64(1) : size;
}

Expr Lowerer::stored_positions(int tensor, size_t level) {
  return f_.number(fmt::format("{}{}_count", tensor_name(tensor), level + 1), ir::Source::Field::End, tensor,
                   int(level));
}

// The position above one of a level whose positions add up.
Expr Lowerer::search_parent(int tensor, size_t level, const Expr& position) {
  Var sums = functions(tensor, level).weight(level_of(tensor, level));
  return ir::upper_bound(sums, 0, stored_positions(tensor, level - 1) + 1, position) - 1;
}

// Positions are looked up at this level: the last, or of a piece the last that has not the same number everywhere. Those
// below it have as many places in the whole as their dimensions say, and fewer in a piece: their coordinates are found by
// dividing.
std::optional<size_t> Lowerer::looked_up(const Levels& levels) const {
  if (!on_pieces()) return levels.last;
  for (size_t level = levels.last + 1; level-- > levels.first;)
    if (!kernel_functions(levels.access.tensor.format().levels()[level]).per_parent) return level;
  return std::nullopt;
}

// Where the position with number p of a level stands in the arrays. Those of the first level on are counted in the whole
// tensor, those below coordinates from where these have their first.
Expr Lowerer::local_position(const Levels& levels, size_t level, const Expr& p) {
  int k = find_operand(levels.access);
  if (levels.first > 0) return positions_below(k, level).begin + p;
  if (!on_pieces()) return p;
  std::string tag = fmt::format("{}{}", tensor_name(k + 1), level + 1);
  return f_.constant("p" + tag, p - number(tag + "_base", PositionBase{k, level}));
}

// The positions of a level below where the access is.
Segment Lowerer::positions_below(int operand, size_t level) {
  Segment out = segment(operand);
  for (size_t k = states_[size_t(operand)].level + 1; k <= level; k++)
    out = children_of(functions(operand + 1, k), level_of(operand + 1, k), out);
  return out;
}

// How many positions of the whole tensor the last of the levels has.
Expr Lowerer::count_positions(const Levels& levels) {
  int operand = find_operand(levels.access);
  if (levels.first == 0) {
    std::string stored = fmt::format("{}_stored", tensor_name(operand + 1));
    if (on_pieces()) return number(stored, PositionCount{operand, levels.last});
    return f_.number(stored, ir::Source::Field::End, operand + 1, int(levels.last));
  }
  std::optional<size_t> stored = looked_up(levels);
  Expr count = ir::int64(1);
  if (stored) {
    Segment range = positions_below(operand, *stored);
    count = range.end - range.begin;
  } else if (states_[size_t(operand)].present) {
    count = ir::select(*states_[size_t(operand)].present, count, ir::int64(0));
  }
  for (size_t level = stored ? *stored + 1 : levels.first; level <= levels.last; level++)
    count = count * size(levels.var(level));
  return count;
}

// Goes to a position of the last of the levels: gives the coordinates of all of them. `parent` finds the position above
// one of a compressed level.
std::vector<std::pair<IndexVar, Expr>> Lowerer::enter_position(
    const IndexVar& position_var, const Levels& levels, const Expr& p,
    const std::function<Expr(size_t level, const Expr& position)>& parent) {
  int k = find_operand(levels.access), tensor = k + 1;
  std::vector<std::pair<IndexVar, Expr>> found;
  for (size_t level = levels.first; level <= levels.last; level++)
    if (functions(tensor, level).per_parent) sweep({levels.var(level)});
  std::optional<size_t> stored = looked_up(levels);
  size_t divided = stored ? *stored + 1 : levels.first;  // the levels from here on are looked up by dividing
  Expr rest = p;
  for (size_t level = levels.last + 1; level-- > divided;) {
    Expr c = level == levels.first ? rest : rest % size(levels.var(level));
    found.emplace_back(levels.var(level), f_.constant(name(levels.var(level)), c));
    rest = rest / size(levels.var(level));
  }
  AccessState reached{levels.last + 1, states_[size_t(k)].position, states_[size_t(k)].present, std::nullopt,
                      states_[size_t(k)].path};
  reached.path.resize(levels.last + 1, reached.position);
  if (stored) {
    Expr position = local_position(levels, *stored, rest);
    if (levels.first == levels.last && functions(tensor, *stored).per_parent) {
      reached.path[*stored] = position;
      found.emplace_back(levels.var(*stored), f_.constant(name(levels.var(*stored)), p));
    } else {
      climb(levels, *stored, position, reached, found, parent);
    }
    reached.position = reached.path[*stored];
  }
  for (size_t level = divided; level <= levels.last; level++) {
    const Expr& c = found[levels.last - level].second;
    reached.position = f_.constant(fmt::format("p{}{}", tensor_name(tensor), level + 1),
                                   position_of(tensor, level, reached.position, c));
    reached.path[level] = reached.position;
  }
  states_[size_t(k)] = reached;
  const IndexVar& whole = provenance_.made_by(position_var)->replaced[0].var;
  if (whole != levels.var(levels.first)) found.emplace_back(whole, fused(found));
  return found;
}

void Lowerer::climb(const Levels& levels, size_t level, Expr position, AccessState& reached,
                    std::vector<std::pair<IndexVar, Expr>>& found,
                    const std::function<Expr(size_t level, const Expr& position)>& parent) {
  int tensor = find_operand(levels.access) + 1;
  for (;; level--) {
    const KernelFunctions& here = functions(tensor, level);
    Expr c = here.coordinate(level_of(tensor, level), position);
    reached.path[level] = position;
    found.emplace_back(levels.var(level), f_.constant(name(levels.var(level)), c));
    if (level == levels.first) break;
    if (here.per_parent) position = position / here.per_parent(level_of(tensor, level));
    else if (here.first) position = parent(level, position);
  }
}

Expr Lowerer::fused(const std::vector<std::pair<IndexVar, Expr>>& found) {
  Expr out = found.back().second;
  for (size_t n = found.size() - 1; n-- > 0;) out = out * size(found[n].first) + found[n].second;
  return out;
}

std::map<size_t, Var> Lowerer::search_parents(const Levels& levels, const Expr& first, size_t walked) {
  std::map<size_t, Var> out;
  int tensor = find_operand(levels.access) + 1;
  std::optional<size_t> stored = looked_up(levels);
  if (!stored || *stored == levels.first) return out;
  Expr rest = first;
  for (size_t level = levels.last; level > *stored; level--) rest = rest / nonzero(size(levels.var(level)));
  Expr position = local_position(levels, *stored, rest);
  for (size_t level = *stored; level > levels.first; level--) {
    const KernelFunctions& here = functions(tensor, level);
    if (here.per_parent) position = position / nonzero(here.per_parent(level_of(tensor, level)));
    else if (here.first) {
      Expr above = search_parent(tensor, level, position);
      const char* what = level <= walked + 1 ? "" : "_first";
      out.insert_or_assign(level, f_.variable(fmt::format("p{}{}{}", tensor_name(tensor), level, what), above));
      position = out.at(level);
    }
  }
  return out;
}

void Lowerer::position_loop(const Forall& loop, const IndexVar& var, const Segment& range, const Levels& levels) {
  if (auto rows = rows_of(loop, levels)) return row_loop(loop, var, range, levels, *rows);
  int tensor = find_operand(levels.access) + 1;
  std::vector<AccessState> entry = states_;
  bool saved = covering_;
  covering_ = covering_ && !holds_result(loop.body);
  std::map<size_t, Var> parents;  // positions at the levels above: searched once, then walked along
  plain_range_ = false;
  range_loop(
      loop, name(var), range, std::nullopt,
      [&](const Expr& first) { parents = search_parents(levels, first, levels.last); },
      [&](const Var& p) {
        std::vector<std::pair<IndexVar, Expr>> found =
            enter_position(var, levels, p, [&](size_t level, const Expr& position) -> Expr {
              const Var& parent = parents.at(level);
              Expr end = functions(tensor, level).first(level_of(tensor, level), Expr(parent) + 1);
              f_.loop_while(end <= position, [&] { f_.increase(parent, 1); });
              return parent;
            });
        for (auto& more : with_below(var, p)) found.push_back(more);
        bind(found, [&] { visit(loop.body); });
        states_ = entry;
      });
  states_ = entry;
  covering_ = saved;
}

}  // namespace spdistal::lower
