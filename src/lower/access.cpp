// Accesses and their levels: where the coordinates below a position are, and what position a coordinate has.
#include <fmt/format.h>

#include <algorithm>

#include "base/require.hpp"
#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// Tensor 0 is the result.
ir::Access use_of(int tensor) { return tensor == 0 ? ir::Access::Write : ir::Access::Read; }

}  // namespace

const Access& Lowerer::access(int tensor) const { return tensor == 0 ? lhs_ : kernel_.operands[size_t(tensor) - 1]; }

// Two accesses to one tensor have arrays of their own: B and B2. For people: what is printed tells names apart.
std::string Lowerer::tensor_name(int tensor) {
  std::string base = print_.name(tensor_var(tensor));
  int before = 0;
  for (int t = 0; t < tensor; t++) before += tensor_var(t) == tensor_var(tensor);
  return before == 0 ? base : fmt::format("{}{}", base, before + 1);
}

// How many coordinates a dense level covers.
Expr Lowerer::dense_size(int tensor, size_t level) {
  const TensorVar& var = tensor_var(tensor);
  const Extent& extent = var.dims()[size_t(var.format().mode_order()[level])];
  if (extent.is_literal() && is_whole(tensor, level)) return ir::int64(*extent.value());
  return f_.number(fmt::format("{}{}_size", tensor_name(tensor), level + 1), ir::Source::Field::Extent, tensor,
                   int(level));
}

// The result may be an operand too, stored in arrays of other widths.
IndexWidths Lowerer::widths_of(int tensor) const {
  if (tensor == 0) return options_.result;
  return options_.widths ? options_.widths(access(tensor)) : IndexWidths{};
}

std::vector<IndexVar> storage_order(const Access& access) {
  std::vector<IndexVar> out;
  for (int dim : access.tensor.format().mode_order()) out.push_back(access.indices[size_t(dim)]);
  return out;
}

Var Lowerer::array(int tensor, size_t level, std::string_view name) {
  Var whole = whole_array(tensor, level, name);
  return tensor == 0 ? in_part(whole) : whole;
}

Var Lowerer::in_part(const Var& whole) const {
  if (part_)
    for (const auto& [array, part] : part_->arrays)
      if (array.symbol == whole.symbol) return part;
  return whole;
}

Var Lowerer::whole_array(int tensor, size_t level, std::string_view name) {
  IndexWidths widths = widths_of(tensor);
  auto width = [&](const std::vector<ScalarType>& of_levels) {
    return level < of_levels.size() ? of_levels[level] : ScalarType::Int32;
  };
  std::string full = fmt::format("{}{}_{}", tensor_name(tensor), level + 1, name);
  if (name == "pos") return f_.pos(full, tensor, int(level), width(widths.pos), use_of(tensor));
  if (name == "crd") return f_.crd(full, tensor, int(level), width(widths.crd), use_of(tensor));
  const auto& more = functions(tensor, level).more;
  auto number = std::find(more.begin(), more.end(), name) - more.begin();
  require(number < std::ssize(more), "a level asks for arrays that it has");
  return f_.more(full, tensor, int(level), int(number), width(widths.pos), use_of(tensor));
}

Var Lowerer::vals_array(int tensor) {
  return f_.vals(tensor_name(tensor), tensor, tensor_var(tensor).type(), use_of(tensor));
}

bool Lowerer::at_end(int operand) const {
  return states_[size_t(operand)].level == kernel_.operands[size_t(operand)].tensor.order();
}

const IndexVar& Lowerer::level_var(int operand) const {
  const Access& access = kernel_.operands[size_t(operand)];
  return access.indices[size_t(access.tensor.format().mode_order()[states_[size_t(operand)].level])];
}

const KernelFunctions& Lowerer::functions(int tensor, size_t level) const {
  return kernel_functions(tensor_var(tensor).format().levels()[level]);
}

KernelLevel Lowerer::level_of(int tensor, size_t level) {
  return {*this, tensor, level, fmt::format("{}{}", tensor_name(tensor), level + 1)};
}

const KernelFunctions& Lowerer::next_functions(int operand) const {
  return functions(operand + 1, states_[size_t(operand)].level);
}

Above Lowerer::above(int operand) const {
  const AccessState& state = states_[size_t(operand)];
  return {state.position, state.group, state.present};
}

Segment Lowerer::segment(int operand) {
  return children_of(next_functions(operand), next_level(operand), above(operand));
}

Expr Lowerer::coordinate(int operand, const Expr& position) {
  const KernelFunctions& next = next_functions(operand);
  if (next.coordinate_below)
    return next.coordinate_below(next_level(operand), states_[size_t(operand)].position, position);
  return next.coordinate(next_level(operand), position);
}

Expr Lowerer::seek(int operand, const Segment& range, const Expr& coordinate) {
  return next_functions(operand).seek(next_level(operand), range, coordinate);
}

// Goes to a position of the next level. Where equal coordinates stand side by side, all of them are taken together.
void Lowerer::enter(int operand, const Expr& position, std::optional<Expr> present, const Expr& segment_end) {
  AccessState& state = states_[size_t(operand)];
  AccessState next{state.level + 1, position, std::move(present), std::nullopt, state.path};
  next.path.push_back(position);
  if (begins_tuples(kernel_.operands[size_t(operand)].tensor.format(), state.level)) {
    Expr start = next.present ? ir::select(*next.present, position, segment_end) : position;
    next.group = next_functions(operand).step(next_level(operand), position, start, segment_end);
  }
  state = std::move(next);
}

void Lowerer::settle() {
  for (size_t k = 0; k < states_.size(); k++) settle(int(k));
}

void Lowerer::settle(int operand) {
  while (!at_end(operand)) {
    auto known = values_.find(level_var(operand));
    if (known == values_.end()) return;
    AccessState& state = states_[size_t(operand)];
    if (!stores_all(next_functions(operand))) {
      Located found = next_functions(operand).locate(next_level(operand), above(operand), known->second);
      enter(operand, found.position, found.stored, found.end);
      continue;
    }
    KernelLevel next = next_level(operand);
    Expr position = next_functions(operand).place(next, state.position, known->second);
    // Below something that is not stored, positions mean nothing: 0 is safe to compute with.
    if (state.present) position = ir::select(*state.present, position, ir::int64(0));
    state.level++;
    state.position = f_.constant("p" + next.name, position);
    state.group.reset();
    state.path.push_back(state.position);
  }
}

}  // namespace spdistal::lower
