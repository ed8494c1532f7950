// Accesses and their levels: where the coordinates below a position are, and what position a coordinate has.
#include <fmt/format.h>

#include <algorithm>

#include "base/require.hpp"
#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

// A name of the statement as kernels spell it: B' is B_.
std::string Lowerer::kernel_name(std::string name) {
  std::replace(name.begin(), name.end(), '\'', '_');
  return name;
}

const Access& Lowerer::access(int tensor) const { return tensor == 0 ? lhs_ : kernel_.operands[size_t(tensor) - 1]; }

// Two accesses to one tensor have arrays of their own: B and B2.
std::string Lowerer::tensor_name(int tensor) {
  std::string base = kernel_name(print_.name(tensor_var(tensor)));
  int before = 0;
  for (int t = 0; t < tensor; t++) before += tensor_var(t) == tensor_var(tensor);
  return before == 0 ? base : fmt::format("{}{}", base, before + 1);
}

// How many coordinates a dense level covers.
Expr Lowerer::dense_size(int tensor, size_t level) {
  const TensorVar& var = tensor_var(tensor);
  const Extent& extent = var.dims()[size_t(var.format().mode_order()[level])];
  if (extent.is_literal() && is_whole(tensor, level)) return ir::int64(*extent.value());
  std::string key = fmt::format("{}{}_size", tensor_name(tensor), level + 1);
  auto known = params_.find(key);
  if (known == params_.end())
    known = params_.emplace(key, f_.number(key, ir::Source::Field::Extent, tensor, int(level))).first;
  return known->second;
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

Var Lowerer::pos_array(int tensor, size_t level) {
  std::string key = fmt::format("{}{}_pos", tensor_name(tensor), level + 1);
  auto known = params_.find(key);
  if (known != params_.end()) return known->second;
  IndexWidths widths = widths_of(tensor);
  ScalarType width = level < widths.pos.size() ? widths.pos[level] : ScalarType::Int32;
  return params_
      .emplace(key, f_.pos(key, tensor, int(level), width, tensor == 0 ? ir::Access::Write : ir::Access::Read))
      .first->second;
}

Var Lowerer::crd_array(int tensor, size_t level) {
  std::string key = fmt::format("{}{}_crd", tensor_name(tensor), level + 1);
  auto known = params_.find(key);
  if (known != params_.end()) return known->second;
  IndexWidths widths = widths_of(tensor);
  ScalarType width = level < widths.crd.size() ? widths.crd[level] : ScalarType::Int32;
  return params_
      .emplace(key, f_.crd(key, tensor, int(level), width, tensor == 0 ? ir::Access::Write : ir::Access::Read))
      .first->second;
}

Var Lowerer::vals_array(int tensor) {
  std::string key = tensor_name(tensor);
  auto known = params_.find(key);
  if (known != params_.end()) return known->second;
  return params_
      .emplace(key, f_.vals(key, tensor, tensor_var(tensor).type(), tensor == 0 ? ir::Access::Write : ir::Access::Read))
      .first->second;
}

bool Lowerer::at_end(int operand) const {
  return states_[size_t(operand)].level == kernel_.operands[size_t(operand)].tensor.order();
}

const IndexVar& Lowerer::level_var(int operand) const {
  const Access& access = kernel_.operands[size_t(operand)];
  return access.indices[size_t(access.tensor.format().mode_order()[states_[size_t(operand)].level])];
}

const LevelFormat& Lowerer::level_format(int operand) const {
  return kernel_.operands[size_t(operand)].tensor.format().levels()[states_[size_t(operand)].level];
}

// The positions of the next level below where the access is. Below something that is not stored there are none.
Segment Lowerer::segment(int operand) {
  const AccessState& state = states_[size_t(operand)];
  Segment out{ir::int64(0), ir::int64(0)};
  if (level_format(operand).properties().full) {
    Expr size = dense_size(operand + 1, state.level);
    out = {state.position * size, (state.position + 1) * size};
  } else if (level_format(operand).properties().branchless) {
    out = {state.position, state.group ? *state.group : state.position + 1};
  } else {
    Var pos = pos_array(operand + 1, state.level);
    out = {ir::cast(ScalarType::Int64, ir::load(pos, state.position)),
           ir::cast(ScalarType::Int64, ir::load(pos, state.position + 1))};
  }
  if (state.present)
    out = {ir::select(*state.present, out.begin, ir::int64(0)), ir::select(*state.present, out.end, ir::int64(0))};
  return out;
}

Expr Lowerer::coordinate(int operand, const Expr& position) {
  return ir::cast(ScalarType::Int64, ir::load(crd_array(operand + 1, states_[size_t(operand)].level), position));
}

// Goes to a position of the next level. Where equal coordinates stand side by side, all of them are taken together.
void Lowerer::enter(int operand, const Expr& position, std::optional<Expr> present, const Expr& segment_end) {
  AccessState& state = states_[size_t(operand)];
  const std::vector<LevelFormat>& levels = kernel_.operands[size_t(operand)].tensor.format().levels();
  bool repeats = state.level + 1 < levels.size() && levels[state.level + 1].properties().branchless;
  AccessState next{state.level + 1, position, std::move(present), std::nullopt, state.path};
  next.path.push_back(position);
  if (repeats) {
    Expr start = next.present ? ir::select(*next.present, position, segment_end) : position;
    Var end = f_.variable(fmt::format("{}{}_end", tensor_name(operand + 1), state.level + 1), start);
    Var crd = crd_array(operand + 1, state.level);
    Expr same = ir::equal(ir::load(crd, end), ir::load(crd, position));
    f_.loop_while(Expr(end) < segment_end && same, [&] { f_.increase(end, 1); });
    next.group = Expr(end);
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
    std::string at = fmt::format("{}{}", tensor_name(operand + 1), state.level + 1);
    if (level_format(operand).properties().full) {
      Expr position = position_of(operand + 1, state.level, state.position, known->second);
      // Below something that is not stored, positions mean nothing: 0 is safe to compute with.
      if (state.present) position = ir::select(*state.present, position, ir::int64(0));
      state.level++;
      state.position = f_.constant("p" + at, position);
      state.group.reset();
      state.path.push_back(state.position);
      continue;
    }
    Segment range = segment(operand);
    Var begin = f_.constant(at + "_from", range.begin), end = f_.constant(at + "_to", range.end);
    Var crd = crd_array(operand + 1, state.level);
    Var position = f_.constant("p" + at, ir::lower_bound(crd, begin, end, ir::cast(crd.type.scalar, known->second)));
    Var found =
        f_.constant("has_" + at, Expr(position) < end && ir::equal(coordinate(operand, position), known->second));
    enter(operand, position, Expr(found), end);
  }
}

}  // namespace spdistal::lower
