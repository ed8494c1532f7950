#include "lower/context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/require.hpp"
#include "lower/questions.hpp"
#include "notation/presence.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

Access find_lhs(const ConcreteStatement& statement) {
  std::optional<Access> lhs;
  each<Assign>(statement.body, [&](const Assign& a) {
    if (a.lhs.tensor == statement.result) lhs = a.lhs;
  });
  require(lhs.has_value(), "a statement writes its result");
  return *lhs;
}

bool has_infinities(const ConcreteStatement& statement) {
  bool found = false;
  each<Assign>(statement.body, [&](const Assign& assign) {
    each<Access>(assign.rhs, [&](const Access& n) { found |= is_infinite(n.tensor.fill()); });
    each<Literal>(assign.rhs, [&](const Literal& n) { found |= is_infinite(n.value); });
  });
  return found;
}

ir::Access use_of(int tensor) { return tensor == 0 ? ir::Access::Write : ir::Access::Read; }

ir::Source::Field field_of(Holds holds) {
  if (holds == Holds::Segments) return ir::Source::Field::Segments;
  return holds == Holds::Coordinates ? ir::Source::Field::Coordinates : ir::Source::Field::Level;
}

}  // namespace

ScalarType width_of(const IndexWidths& widths, const LevelFormat& format, size_t level, size_t array) {
  if (format.arrays()[array].holds == Holds::Flags) return ScalarType::Bool;
  return level < widths.size() && array < widths[level].size() ? widths[level][array] : ScalarType::Int32;
}

std::vector<IndexVar> storage_order(const Access& access) {
  std::vector<IndexVar> out;
  for (int dim : access.tensor.format().mode_order()) out.push_back(access.indices[size_t(dim)]);
  return out;
}

std::vector<Access> operands_of(const ConcreteStatement& statement) {
  std::vector<Access> out;
  auto add = [&](const Access& access) {
    if (access.tensor.origin() == Origin::Temporary) return;
    for (const Access& known : out)
      if (structurally_equal(known, access)) return;
    out.push_back(access);
  };
  each<Assign>(statement.body, [&](const Assign& assign) { each<Access>(assign.rhs, add); });
  // A loop may walk the positions of a tensor, or be cut by its weight, whose values go through a workspace.
  for (const Relation& relation : statement.provenance.relations) {
    for (const Replaced& r : relation.replaced)
      if (auto* stored = r.value.as<StoredCoordinate>()) add(stored->levels.access);
    if (const BlockStart* block = relation.block()) std::ranges::for_each(block->blocks.operands, add);
  }
  return out;
}

Context::Context(const ConcreteStatement& of, const Options& with)
    : statement(of),
      provenance(of.provenance),
      options(with),
      start(with.start.value_or(of.start)),
      operation(operation_of(of)),
      background(background_of(of)),
      infinite(has_infinities(of)),
      lhs(find_lhs(of)),
      kernel{.function = {"kernel", {}, ir::block({})},
             .result = of.result,
             .assembly = Assembly::Dense,
             .operands = operands_of(of),
             .background = background,
             .scalars = {},
             .whole_levels = {},
             .swept = {}} {
  print(of);
}

ir::Expr Context::first_total() const { return ir::literal(convert(background, total_type())); }

// ---- tensors ------------------------------------------------------------------------------------------------------------

const Access& Context::access(int tensor) const { return tensor == 0 ? lhs : kernel.operands[size_t(tensor) - 1]; }

int Context::find_operand(const Access& access) const {
  for (size_t k = 0; k < kernel.operands.size(); k++)
    if (structurally_equal(kernel.operands[k], access)) return int(k);
  require(false, "every access that is read is an operand");
  return 0;
}

const KernelFunctions& Context::functions(int tensor, size_t level) const {
  return kernel_functions(tensor_var(tensor).format().levels()[level]);
}

KernelLevel Context::level_of(int tensor, size_t level) { return {*this, tensor, level, level_name(tensor, level)}; }

std::string Context::tensor_name(int tensor) {
  std::string base = print.name(tensor_var(tensor));
  int before = 0;
  for (int t = 0; t < tensor; t++) before += tensor_var(t) == tensor_var(tensor);
  return before == 0 ? base : fmt::format("{}{}", base, before + 1);
}

std::string Context::level_name(int tensor, size_t level) {
  return fmt::format("{}{}", tensor_name(tensor), level + 1);
}

// ---- parameters ---------------------------------------------------------------------------------------------------------

// The result may be an operand too, stored in arrays of other widths.
IndexWidths Context::widths_of(int tensor) const {
  if (tensor == 0) return options.result;
  return options.widths ? options.widths(access(tensor)) : IndexWidths{};
}

Var Context::array(int tensor, size_t level, std::string_view name) {
  const LevelFormat& format = tensor_var(tensor).format().levels()[level];
  std::span<const LevelArray> all = format.arrays();
  auto found = std::find_if(all.begin(), all.end(), [&](const LevelArray& array) { return array.name == name; });
  require(found != all.end(), "a level asks for arrays that it has");
  auto number = size_t(found - all.begin());
  ir::Source source{field_of(found->holds), tensor, int(level), int(number), std::string(name)};
  return f.level_array(fmt::format("{}_{}", level_name(tensor, level), name), source,
                       width_of(widths_of(tensor), format, level, number), use_of(tensor));
}

Var Context::vals_array(int tensor) {
  return f.vals(tensor_name(tensor), tensor, tensor_var(tensor).type(), use_of(tensor));
}

Expr Context::dense_size(int tensor, size_t level) {
  const TensorVar& var = tensor_var(tensor);
  const Extent& extent = var.dims()[size_t(var.format().mode_order()[level])];
  if (extent.is_literal() && is_whole(tensor, level)) return ir::int64(*extent.value());
  return f.number(level_name(tensor, level) + "_size", ir::Source::Field::Extent, tensor, int(level));
}

Expr Context::first_coordinate(int tensor, size_t level) {
  if (is_whole(tensor, level)) return ir::int64(0);
  return f.number(level_name(tensor, level) + "_lo", ir::Source::Field::Lo, tensor, int(level));
}

Expr Context::stride(int tensor, size_t level) {
  if (is_whole(tensor, level)) return dense_size(tensor, level);
  return f.number(level_name(tensor, level) + "_stride", ir::Source::Field::Stride, tensor, int(level));
}

Expr Context::stored_positions(int tensor, size_t level) {
  return f.number(level_name(tensor, level) + "_count", ir::Source::Field::End, tensor, int(level));
}

Expr Context::number(const std::string& name, const RunTimeNumber& number) {
  std::vector<RunTimeNumber>& all = kernel.scalars;
  auto known = std::find(all.begin(), all.end(), number);
  int place = int(known - all.begin());
  if (known == all.end()) all.push_back(number);
  return f.scalar(name, place);
}

Expr Context::position_of(int tensor, size_t level, const Expr& parent, const Expr& coordinate) {
  return functions(tensor, level).place(level_of(tensor, level), parent, coordinate);
}

// ---- what callers must know ---------------------------------------------------------------------------------------------

void Context::sweep(const std::vector<IndexVar>& vars) {
  std::vector<IndexVar>& all = kernel.swept;
  for (const IndexVar& var : vars)
    if (std::find(all.begin(), all.end(), var) == all.end()) all.push_back(var);
}

bool Context::is_whole(int tensor, size_t level) {
  if (!on_pieces()) return true;
  if (!visits_whole_range(*this, storage_order(access(tensor))[level])) return false;
  LevelOfTensor here{tensor, level};
  std::vector<LevelOfTensor>& all = kernel.whole_levels;
  if (std::find(all.begin(), all.end(), here) == all.end()) all.push_back(here);
  return true;
}

}  // namespace spdistal::lower
