// Loops over the positions of a tensor, and the coordinates that belong to them.
#include <fmt/format.h>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

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
  return ir::upper_bound(pos, 0, stored_positions(tensor, level - 1) + 1, ir::cast(pos.type.scalar, position)) - 1;
}

// Goes to a position of the last of the levels: gives the coordinates of all of them. `parent` finds the position above
// one of a compressed level.
std::vector<std::pair<IndexVar, Expr>> Lowerer::enter_position(
    const IndexVar& position_var, const Levels& levels, const Expr& p,
    const std::function<Expr(size_t level, const Expr& position)>& parent) {
  int k = find_operand(levels.access), tensor = k + 1;
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  Expr position = levels.first > 0 ? segment(k).begin + p : p;
  AccessState reached{levels.last + 1, position, states_[size_t(k)].present, std::nullopt, states_[size_t(k)].path};
  reached.path.resize(levels.last + 1, position);
  std::vector<std::pair<IndexVar, Expr>> found;
  for (size_t level = levels.last;; level--) {
    bool full = formats[level].properties().full;
    Expr c = !full ? ir::cast(ScalarType::Int64, ir::load(crd_array(tensor, level), position))
             : level == levels.first && level == levels.last ? p
             : level == levels.first && level == 0           ? position
                                                             : position % dense_size(tensor, level);
    reached.path[level] = position;
    found.emplace_back(levels.var(level), f_.constant(name(levels.var(level)), c));
    if (level == levels.first) break;
    if (full) position = position / dense_size(tensor, level);
    else if (!formats[level].properties().branchless) position = parent(level, position);
  }
  states_[size_t(k)] = reached;
  // The variable that the coordinates together stand for; seldom read.
  const IndexVar& whole = provenance_.made_by(position_var)->replaced[0].var;
  if (levels.first < levels.last) {
    Expr fused = found.back().second;
    for (size_t n = found.size() - 1; n-- > 0;) fused = fused * size(found[n].first) + found[n].second;
    found.emplace_back(whole, fused);
  }
  return found;
}

void Lowerer::position_loop(const Forall& loop, const IndexVar& var, const Segment& range, const Levels& levels) {
  int k = find_operand(levels.access), tensor = k + 1;
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  std::vector<AccessState> entry = states_;
  bool saved = covering_;
  covering_ = covering_ && !holds_result(loop.body);
  std::map<size_t, Var> parents;  // positions at the levels above: searched once, then walked along
  plain_range_ = false;
  range_loop(
      loop, name(var), range, std::nullopt,
      [&](const Expr& first) {
        Expr position = levels.first > 0 ? segment(k).begin + first : first;
        for (size_t level = levels.last; level > levels.first; level--) {
          if (formats[level].properties().full) position = position / dense_size(tensor, level);
          else if (!formats[level].properties().branchless) {
            Expr above = search_parent(tensor, level, position);
            parents.insert_or_assign(level, f_.variable(fmt::format("p{}{}", tensor_name(tensor), level), above));
            position = parents.at(level);
          }
        }
      },
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

}  // namespace spdistal::lower
