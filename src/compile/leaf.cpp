#include "compile/leaf.hpp"

#include <algorithm>

#include "level/level.hpp"
#include "routine/registry.hpp"

namespace spdistal {

using namespace notation;

namespace {

ScalarType type_of(IndexWidth width) {
  if (width == IndexWidth::Flag) return ScalarType::Bool;
  return width == IndexWidth::Int32 ? ScalarType::Int32 : ScalarType::Int64;
}

}  // namespace

lower::IndexWidths widths_of(const Pattern& pattern) {
  lower::IndexWidths out;
  for (const LevelArrays& level : pattern.levels()) {
    std::vector<ScalarType>& here = out.emplace_back();
    for (const auto& [name, array] : level.arrays) here.push_back(type_of(array.width()));
  }
  return out;
}

lower::IndexWidths narrowest_widths(const TensorVar& tensor, ScalarType positions) {
  lower::IndexWidths out;
  for (size_t k = 0; k < tensor.order(); k++) {
    std::optional<int64_t> size = tensor.dims()[size_t(tensor.format().mode_order()[k])].value();
    ScalarType coordinates = size ? type_of(width_for(*size)) : ScalarType::Int64;
    std::vector<ScalarType>& level = out.emplace_back();
    for (const LevelArray& array : tensor.format().levels()[k].arrays()) {
      bool of_coordinates = array.holds == Holds::Coordinates || array.holds == Holds::Bounds;
      level.push_back(array.holds == Holds::Flags ? ScalarType::Bool : of_coordinates ? coordinates : positions);
    }
  }
  return out;
}

double average_row(std::span<const notation::Access> accesses, const PatternOf& pattern) {
  double most = 1;
  for (const notation::Access& access : accesses) {
    const Pattern* met = pattern(access);
    if (!met || met->order() < 2) continue;
    if (!find_array(met->format().levels().back(), met->levels().back(), Holds::Segments)) continue;
    int64_t places = met->level(met->order() - 2).positions;
    most = std::max(most, double(met->nnz()) / double(std::max<int64_t>(1, places)));
  }
  return most;
}

bool runs_on_gpu(const ConcreteStatement& statement) {
  bool gpu = false;
  each<Forall>(statement.body, [&](const Forall& loop) {
    gpu |= loop.tags.parallel && loop.tags.parallel->unit >= Unit::GPUBlock;
    for (const routine::RoutineHandle& routine : routine::routines(loop.tags.leaf))
      gpu |= routine->said().processor == GPU;
  });
  return gpu;
}

Leaf::Leaf(const ConcreteStatement& statement, const Storages& storages, const LeafOptions& options)
    : Leaf(
          statement,
          [&](const notation::Access& access) {
            auto stored = storages.find(access.tensor);
            return stored == storages.end() ? lower::IndexWidths{} : widths_of(stored->second->pattern());
          },
          options) {}

std::vector<lower::IndexWidths> Leaf::widths_of_operands(const ConcreteStatement& statement, const Widths& widths) {
  std::vector<lower::IndexWidths> out;
  for (const notation::Access& access : lower::operands_of(statement)) out.push_back(widths(access));
  return out;
}

// Widths are those of the operands, in their order.
lower::Options Leaf::lowering(const ConcreteStatement& statement, const std::vector<lower::IndexWidths>& widths,
                              const LeafOptions& options, ScalarType positions) {
  auto of_access = [operands = lower::operands_of(statement), widths](const notation::Access& access) {
    for (size_t k = 0; k < operands.size(); k++)
      if (structurally_equal(operands[k], access)) return widths[k];
    return lower::IndexWidths{};
  };
  return {.widths = of_access,
          .result = narrowest_widths(statement.result, positions),
          .largest_position = options.largest_position,
          .largest_dense_workspace = options.largest_dense_workspace,
          .operands = options.operands,
          .outer = options.outer,
          .start = options.start,
          .pattern = options.pattern};
}

bool Leaf::fits(size_t k, const Pattern& piece) const {
  for (size_t level = 0; level < piece.order(); level++) {
    const std::vector<NamedArray>& arrays = piece.level(level).arrays;
    for (size_t n = 0; n < arrays.size(); n++)
      if (!arrays[n].array.empty() &&
          type_of(arrays[n].array.width()) != lower::width_of(widths_[k], piece.format().levels()[level], level, n))
        return false;
  }
  return true;
}

bool Leaf::fits(const PatternOf& pieces) const {
  for (size_t k = 0; k < kernel_.operands.size(); k++)
    if (const Pattern* piece = pieces(kernel_.operands[k]); piece && !fits(k, *piece)) return false;
  return true;
}

const codegen::Kernel& Leaf::code(Process& process, DevicePlace device) const {
  auto known = code_.find(device);
  return known != code_.end() ? known->second : code_.emplace(device, make_code(process, device)).first->second;
}

bool Leaf::overwrites() const { return kernel_.assembly == lower::Assembly::Dense && start() == Start::Zero; }

bool Leaf::is_placed() const {
  return kernel_.assembly == lower::Assembly::Dense || kernel_.assembly == lower::Assembly::Shared ||
         kernel_.keeps_pattern;
}

bool Leaf::keeps(const Pattern& result) const {
  return kernel_.keeps_pattern && widths_of(result) == narrowest_widths(kernel_.result);
}

}  // namespace spdistal
