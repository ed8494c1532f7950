// Loops over the positions of a tensor, and the coordinates that belong to them.
#include <fmt/format.h>

#include <algorithm>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// A divisor, also where there is nothing to divide.
Expr nonzero(const Expr& size) { return ir::constant(size) ? size : ir::max(size, ir::int64(1)); }

}  // namespace

Expr Lowerer::stored_positions(int tensor, size_t level) {
  std::string key = fmt::format("{}{}_count", tensor_name(tensor), level + 1);
  auto known = params_.find(key);
  if (known == params_.end())
    known = params_.emplace(key, f_.number(key, ir::Source::Field::End, tensor, int(level))).first;
  return known->second;
}

// The position above one of a compressed level.
Expr Lowerer::search_parent(int tensor, size_t level, const Expr& position) {
  Var pos = pos_array(tensor, level);
  return ir::upper_bound(pos, 0, stored_positions(tensor, level - 1) + 1, position) - 1;
}

// Positions are looked up at this level: the last, or of a piece the last that is not dense. Dense levels below it have
// as many places in the whole as their dimensions say, and fewer in a piece: their coordinates are found by dividing.
std::optional<size_t> Lowerer::looked_up(const Levels& levels) const {
  if (!on_pieces()) return levels.last;
  for (size_t level = levels.last + 1; level-- > levels.first;)
    if (!levels.access.tensor.format().levels()[level].properties().full) return level;
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
  for (size_t k = states_[size_t(operand)].level + 1; k <= level; k++) {
    const LevelProperties& properties = kernel_.operands[size_t(operand)].tensor.format().levels()[k].properties();
    if (properties.full) {
      out = {out.begin * stride(operand + 1, k), out.end * stride(operand + 1, k)};
    } else if (!properties.branchless) {
      Var pos = pos_array(operand + 1, k);
      out = {ir::cast(ScalarType::Int64, ir::load(pos, out.begin)),
             ir::cast(ScalarType::Int64, ir::load(pos, out.end))};
    }
  }
  return out;
}

// How many positions of the whole tensor the last of the levels has.
Expr Lowerer::count_positions(const Levels& levels) {
  int operand = find_operand(levels.access);
  if (levels.first == 0) {
    std::string key = fmt::format("{}_stored", tensor_name(operand + 1));
    if (on_pieces()) return number(key, PositionCount{operand, levels.last});
    auto known = params_.find(key);
    if (known == params_.end())
      known = params_.emplace(key, f_.number(key, ir::Source::Field::End, operand + 1, int(levels.last))).first;
    return known->second;
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
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  std::vector<std::pair<IndexVar, Expr>> found;
  for (size_t level = levels.first; level <= levels.last; level++)
    if (formats[level].properties().full) sweep({levels.var(level)});
  std::optional<size_t> stored = looked_up(levels);
  size_t divided = stored ? *stored + 1 : levels.first;  // the levels from here on are dense ones of a piece
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
    if (levels.first == levels.last && formats[*stored].properties().full) {
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
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  for (;; level--) {
    bool full = formats[level].properties().full;
    Expr c = !full ? ir::cast(ScalarType::Int64, ir::load(crd_array(tensor, level), position))
                   : (level == 0 ? position : position % stride(tensor, level)) + first_coordinate(tensor, level);
    reached.path[level] = position;
    found.emplace_back(levels.var(level), f_.constant(name(levels.var(level)), c));
    if (level == levels.first) break;
    if (full) position = position / stride(tensor, level);
    else if (!formats[level].properties().branchless) position = parent(level, position);
  }
}

Expr Lowerer::fused(const std::vector<std::pair<IndexVar, Expr>>& found) {
  Expr out = found.back().second;
  for (size_t n = found.size() - 1; n-- > 0;) out = out * size(found[n].first) + found[n].second;
  return out;
}

std::map<size_t, Var> Lowerer::search_parents(const Levels& levels, const Expr& first) {
  std::map<size_t, Var> out;
  int tensor = find_operand(levels.access) + 1;
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  std::optional<size_t> stored = looked_up(levels);
  if (!stored || *stored == levels.first) return out;
  Expr rest = first;
  for (size_t level = levels.last; level > *stored; level--) rest = rest / nonzero(size(levels.var(level)));
  Expr position = local_position(levels, *stored, rest);
  for (size_t level = *stored; level > levels.first; level--) {
    if (formats[level].properties().full) position = position / nonzero(stride(tensor, level));
    else if (!formats[level].properties().branchless) {
      Expr above = search_parent(tensor, level, position);
      out.insert_or_assign(level, f_.variable(fmt::format("p{}{}", tensor_name(tensor), level), above));
      position = out.at(level);
    }
  }
  return out;
}

void Lowerer::position_loop(const Forall& loop, const IndexVar& var, const Segment& range, const Levels& levels) {
  if (has_rows(loop, levels)) return row_loop(loop, var, range, levels);
  int tensor = find_operand(levels.access) + 1;
  std::vector<AccessState> entry = states_;
  bool saved = covering_;
  covering_ = covering_ && !holds_result(loop.body);
  std::map<size_t, Var> parents;  // positions at the levels above: searched once, then walked along
  plain_range_ = false;
  range_loop(
      loop, name(var), range, std::nullopt, [&](const Expr& first) { parents = search_parents(levels, first); },
      [&](const Var& p) {
        std::vector<std::pair<IndexVar, Expr>> found =
            enter_position(var, levels, p, [&](size_t level, const Expr& position) -> Expr {
              const Var& parent = parents.at(level);
              Expr end = ir::cast(ScalarType::Int64, ir::load(pos_array(tensor, level), Expr(parent) + 1));
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

// ---- row by row ---------------------------------------------------------------------------------------------------------

// Is the last level one whose positions stand together below those of the level above, and do results have places?
bool Lowerer::has_rows(const Forall& loop, const Levels& levels) const {
  const LevelProperties& last = levels.access.tensor.format().levels()[levels.last].properties();
  bool placed = kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared;
  return levels.first < levels.last && !last.full && !last.branchless && placed && holds_result(loop.body) &&
         !in_producer_;
}

// Does the share of positions that holds all of a row alone write what that row gives? The threads divide these very
// positions, rows stand for coordinates of the result that no other row has, and nothing else writes the result.
bool Lowerer::owns_rows(const Forall& loop, const Levels& levels) const {
  const Levels* divided = racing_loop_ ? provenance_.positions_of(*racing_loop_) : nullptr;
  if (!divided || find_operand(divided->access) != find_operand(levels.access) || divided->first != levels.first ||
      divided->last != levels.last)
    return false;
  for (size_t level = 0; level < levels.last; level++) {
    const LevelProperties& properties = levels.access.tensor.format().levels()[level].properties();
    if (!properties.unique || properties.branchless) return false;
    if (level >= levels.first &&
        std::find(lhs_.indices.begin(), lhs_.indices.end(), levels.var(level)) == lhs_.indices.end())
      return false;
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

// for every row that has positions in [begin, end)
//   for p in those of its positions
//
// A row that lies in the range whole is written plainly; one that is cut is shared with whoever has the rest.
void Lowerer::row_loop(const Forall& loop, const IndexVar& var, const Segment& range, const Levels& levels) {
  int k = find_operand(levels.access), tensor = k + 1;
  std::vector<AccessState> entry = states_;
  bool saved = covering_;
  covering_ = false;
  plain_range_ = false;
  for (size_t level = levels.first; level <= levels.last; level++)
    if (levels.access.tensor.format().levels()[level].properties().full) sweep({levels.var(level)});
  std::string row_name = fmt::format("{}{}", tensor_name(tensor), levels.last + 1);
  // Positions by their numbers in the whole (or below the coordinates above), and as they stand in the arrays.
  std::optional<Expr> start, base;
  if (levels.first > 0) start = f_.constant(row_name + "_start", positions_below(k, levels.last).begin);
  else if (on_pieces()) base = number(row_name + "_base", PositionBase{k, levels.last});
  auto number_of = [&](const Expr& local) { return start ? local - *start : base ? local + *base : local; };
  auto local = [&](const Expr& p) { return start ? p + *start : base ? p - *base : p; };

  auto walk = [&](const Segment& mine, const ir::LoopOptions& options) {
    bool owned = racing_ && owns_rows(loop, levels), complete = start_ == Start::Zero && row_is_complete(levels);
    std::map<size_t, Var> parents = search_parents(levels, mine.begin);
    const Var& row = parents.at(levels.last);
    Var pos = pos_array(tensor, levels.last);
    auto first_of = [&](const Expr& r) { return number_of(ir::cast(ScalarType::Int64, ir::load(pos, r))); };

    f_.loop_while(first_of(row) < mine.end, [&] {
      Var begin = f_.constant(row_name + "_begin", first_of(row)),
          end = f_.constant(row_name + "_end", first_of(Expr(row) + 1));
      Segment part{f_.constant(row_name + "_from", ir::max(begin, mine.begin)),
                   f_.constant(row_name + "_to", ir::min(end, mine.end))};
      AccessState reached = states_[size_t(k)];
      reached.level = levels.last;
      reached.path.resize(levels.last, reached.position);
      std::vector<std::pair<IndexVar, Expr>> above;
      climb(levels, levels.last - 1, row, reached, above, [&](size_t level, const Expr& position) -> Expr {
        const Var& parent = parents.at(level);
        Expr last = ir::cast(ScalarType::Int64, ir::load(pos_array(tensor, level), Expr(parent) + 1));
        f_.loop_while(last <= position, [&] { f_.increase(parent, 1); });
        return parent;
      });
      reached.position = row;
      states_[size_t(k)] = reached;
      bind(above, [&] {
        std::vector<AccessState> at_row = states_;
        auto inside = [&] {
          f_.loop(
              name(var), part.begin, part.end,
              [&](const Var& p) {
                AccessState& state = states_[size_t(k)];
                Expr position = local(p);
                Expr c = ir::cast(ScalarType::Int64, ir::load(crd_array(tensor, levels.last), position));
                state.level = levels.last + 1;
                state.position = position;
                state.path.push_back(position);
                std::vector<std::pair<IndexVar, Expr>> found{
                    {levels.var(levels.last), f_.constant(name(levels.var(levels.last)), c)}};
                found.insert(found.end(), above.begin(), above.end());
                found.emplace_back(provenance_.made_by(var)->replaced[0].var, fused(found));
                for (auto& more : with_below(var, p)) found.push_back(more);
                bind(found, [&] { visit(loop.body); });
                states_ = at_row;
              },
              options);
        };
        // What is in the range whole, and what is cut.
        auto whole_or_cut = [&](const std::function<void()>& whole, const std::function<void()>& cut) {
          if (!owned) return cut();
          f_.when(
              Expr(begin) >= mine.begin && Expr(end) <= mine.end,
              [&] {
                racing_ = false;
                whole();
                racing_ = true;
              },
              cut);
        };
        if (sum_) return inside();
        bool one_element = element_known() && std::find(lhs_.indices.begin(), lhs_.indices.end(),
                                                        levels.var(levels.last)) == lhs_.indices.end();
        if (!one_element)
          return whole_or_cut(
              [&] {
                bool before = zeroed_;
                if (complete) zero_rest();
                inside();
                zeroed_ = before;
              },
              inside);
        sum_ = f_.variable("sum", ir::zero(ir::value_of(sum_type())));
        bool parallel = in_parallel_;
        in_parallel_ = true;  // the sum is one thread's
        inside();
        in_parallel_ = parallel;
        Expr total = *sum_;
        sum_.reset();
        where_element_is([&] {
          whole_or_cut([&] { write_element(total, complete ? AssignOp::Set : AssignOp::Add); },
                       [&] { write_element(total, AssignOp::Add); });
        });
      });
      states_ = entry;
      f_.increase(row, 1);
    });
  };
  range_loop(loop, name(var), range, std::nullopt, [&](const Segment& mine, const ir::LoopOptions& options) {
    // A piece has the positions of its share; of an empty share it need not have where that begins.
    if (on_pieces()) f_.when(mine.begin < mine.end, [&] { walk(mine, options); });
    else walk(mine, options);
  });
  states_ = entry;
  covering_ = saved;
}

}  // namespace spdistal::lower
