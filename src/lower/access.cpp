#include "lower/access.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

namespace {

KernelLevel next_level(Context& c, const Scope& s, int operand) {
  return c.level_of(operand + 1, s.access(operand).level);
}

Above above(const AccessState& state) { return {state.position, state.group, state.present}; }

Expr stored_coordinate(Context& c, const Scope& s, int operand, const Expr& position) {
  const KernelFunctions& next = next_functions(c, s, operand);
  if (next.coordinate_below)
    return next.coordinate_below(next_level(c, s, operand), s.access(operand).position, position);
  return next.coordinate(next_level(c, s, operand), position);
}

// Goes to the place of a coordinate, of a level that has one for each.
AccessState placed(Context& c, const Scope& s, int operand, const Expr& coordinate) {
  AccessState state = s.access(operand);
  KernelLevel next = next_level(c, s, operand);
  Expr position = next_functions(c, s, operand).place(next, state.position, coordinate);
  // Below something that is not stored, positions mean nothing: 0 is safe to compute with.
  if (state.present) position = ir::select(*state.present, position, ir::int64(0));
  state.level++;
  state.position = c.f.constant("p" + next.name, position);
  state.group.reset();
  state.path.push_back(state.position);
  return state;
}

}  // namespace

bool at_end(const Context& c, const Scope& s, int operand) {
  return s.access(operand).level == c.tensor_var(operand + 1).order();
}

const IndexVar& level_index(const Context& c, const Scope& s, int operand) {
  const Access& access = c.access(operand + 1);
  return access.indices[size_t(access.tensor.format().mode_order()[s.access(operand).level])];
}

const Window* window_at(const Context& c, const Scope& s, int operand) { return level_index(c, s, operand).window(); }

const KernelFunctions& next_functions(const Context& c, const Scope& s, int operand) {
  return c.functions(operand + 1, s.access(operand).level);
}

std::vector<int> operands_over(const Context& c, const Scope& s, const IndexVar& var) {
  std::vector<int> out;
  for (int k = 0; k < c.operands(); k++)
    if (!at_end(c, s, k) && variable_of(level_index(c, s, k)) == var) out.push_back(k);
  return out;
}

Segment segment(Context& c, const Scope& s, int operand) {
  return children_of(next_functions(c, s, operand), next_level(c, s, operand), above(s.access(operand)));
}

Expr coordinate(Context& c, const Scope& s, int operand, const Expr& position) {
  Expr stored = stored_coordinate(c, s, operand, position);
  const Window* window = window_at(c, s, operand);
  return window ? (stored - window->offset) / window->stride : stored;
}

std::optional<Expr> is_on_stride(Context& c, const Scope& s, int operand, const Expr& position) {
  const Window* window = window_at(c, s, operand);
  if (!window || window->stride == 1) return std::nullopt;
  return ir::equal((stored_coordinate(c, s, operand, position) - window->offset) % window->stride, 0);
}

Expr seek(Context& c, const Scope& s, int operand, const Segment& range, const Expr& value) {
  const Window* window = window_at(c, s, operand);
  Expr coordinate = window ? value * window->stride + window->offset : value;
  return next_functions(c, s, operand).seek(next_level(c, s, operand), above(s.access(operand)), range, coordinate);
}

void enter(Context& c, Scope& s, int operand, const Expr& position, std::optional<Expr> present,
           const Expr& segment_end) {
  if (present) std::erase_if(s.some_present, [&](const std::set<int>& some) { return some.contains(operand); });
  AccessState& state = s.access(operand);
  AccessState next{state.level + 1, position, std::move(present), std::nullopt, state.path};
  next.path.push_back(position);
  if (begins_tuples(c.tensor_var(operand + 1).format(), state.level)) {
    Expr start = next.present ? ir::select(*next.present, position, segment_end) : position;
    next.group = next_functions(c, s, operand).step(next_level(c, s, operand), position, start, segment_end);
  }
  state = std::move(next);
}

Scope settled(Context& c, Scope s) {
  for (int k = 0; k < c.operands(); k++)
    while (!at_end(c, s, k)) {
      auto known = s.values.find(level_index(c, s, k));
      if (known == s.values.end()) break;
      if (stores_all(next_functions(c, s, k))) {
        s.access(k) = placed(c, s, k, known->second);
        continue;
      }
      Located found = next_functions(c, s, k).locate(next_level(c, s, k), above(s.access(k)), known->second);
      enter(c, s, k, found.position, found.stored, found.end);
    }
  return s;
}

}  // namespace spdistal::lower
