#include "lower/iterate/pattern.hpp"

#include <fmt/format.h>

#include "base/node.hpp"
#include "lower/questions.hpp"

namespace spdistal::lower {

using namespace notation;

namespace {

std::string next_level_name(Context& c, const Scope& s, int operand) {
  return c.level_name(operand + 1, s.access(operand).level);
}

std::string levels_name(Context& c, const Levels& levels) {
  int tensor = c.find_operand(levels.access) + 1;
  std::string first = c.level_name(tensor, levels.first);
  return levels.first == levels.last ? first : first + ".." + c.level_name(tensor, levels.last);
}

std::string text(Context& c, const Scope& s, const Formula& where) {
  std::string out;
  for (const std::set<int>& all : where.alternatives()) {
    if (!out.empty()) out += " or ";
    std::string together;
    for (int k : all) together += (together.empty() ? "" : " and ") + next_level_name(c, s, k);
    out += together;
  }
  return out;
}

}  // namespace

std::string print(Context& c, const Scope& s, const LoopPattern& pattern) {
  return std::visit(
      detail::Overloaded{[&](const RangePattern& n) {
                           std::string out = n.clip == Clip::No ? "range" : "range of dense levels";
                           for (size_t k = 0; k < n.along.size(); k++)
                             out += (k == 0 ? ", along " : " and ") + next_level_name(c, s, n.along[k]);
                           return out;
                         },
                         [&](const StoredPattern& n) { return "stored: " + next_level_name(c, s, n.operand); },
                         [&](const MergePattern& n) { return "merge: " + text(c, s, n.where); },
                         [&](const PositionsPattern& n) { return "positions: " + levels_name(c, n.levels); },
                         [&](const RowsPattern& n) {
                           bool runs = n.kind == RowsPattern::Kind::Runs;
                           std::string rows = c.level_name(c.find_operand(n.levels.access) + 1, n.level);
                           return fmt::format("positions: {}, by {} of {}", levels_name(c, n.levels),
                                              runs ? "runs" : "rows", rows);
                         },
                         [&](const ListPattern& n) { return "list: " + c.name(n.workspace); },
                         [](const NoPattern&) { return std::string("nothing"); }},
      pattern);
}

bool visits_all(const LoopPattern& pattern) {
  return std::holds_alternative<RangePattern>(pattern) || std::holds_alternative<NoPattern>(pattern);
}

void iterate(Context& c, const Scope& s, const ForallLoop& loop) {
  LoopPattern pattern = choose_pattern(c, s, loop.forall, loop.var);
  Scope here = s;
  if (!visits_all(pattern) && holds_result(c, loop.body())) here.elements.covered = false;
  std::visit([&](const auto& one) { emit(c, here, loop, one); }, pattern);
}

}  // namespace spdistal::lower
