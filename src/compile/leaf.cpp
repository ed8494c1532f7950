#include "compile/leaf.hpp"

#include <array>

#include "base/require.hpp"
#include "codegen/processor.hpp"
#include "level/level.hpp"
#include "lower/workspace.hpp"
#include "memory/copy.hpp"
#include "passes/pipeline.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

ScalarType type_of(IndexWidth width) { return width == IndexWidth::Int32 ? ScalarType::Int32 : ScalarType::Int64; }

// Of a result that is assembled: coordinates are as wide as the dimension asks for.
lower::IndexWidths made_widths(const TensorVar& result, ScalarType positions) {
  lower::IndexWidths out;
  for (int dim : result.format().mode_order()) {
    std::optional<int64_t> size = result.dims()[size_t(dim)].value();
    out.pos.push_back(positions);
    out.crd.push_back(size ? type_of(width_for(*size)) : ScalarType::Int64);
  }
  return out;
}

std::vector<Range> whole_bounds(const TensorVar& tensor) {
  std::vector<Range> out;
  for (int64_t n : known_dims(tensor)) out.push_back({0, n});
  return out;
}

// Where a kernel takes a dense level to cover its whole dimension, it does.
void check_whole_levels(const lower::Kernel& kernel, int tensor, const View& view) {
  const TensorVar& var = tensor == 0 ? kernel.result : kernel.operands[size_t(tensor) - 1].tensor;
  for (const lower::LevelOfTensor& whole : kernel.whole_levels) {
    if (whole.tensor != tensor) continue;
    int64_t n = var.dims()[size_t(var.format().mode_order()[whole.level])].value().value_or(-1);
    require(view.range(whole.level) == Range{0, n},
            "a dense level that all of a dimension is read or written through covers all of it");
  }
}

// The arrays that a kernel makes, until they become a tensor.
struct MadeArrays {
  std::vector<runtime::ResultArray> pos, crd, lists;
  std::vector<std::array<runtime::ResultArray, SPD_MORE_ARRAYS>> more;
  runtime::ResultArray values;
  std::vector<spd_level> levels;
  std::vector<spd_array> arrays;
  spd_tensor tensor{};

  explicit MadeArrays(size_t order, const std::vector<Range>& bounds, const Format& format)
      : pos(order), crd(order), lists(order), more(order), levels(order), arrays(order) {
    for (size_t k = 0; k < order; k++) {
      const Range& range = bounds[size_t(format.mode_order()[k])];
      levels[k].extent = levels[k].stride = range.size();
      levels[k].lo = range.lo;
      levels[k].pos.owner = &pos[k];
      levels[k].crd.owner = &crd[k];
      for (size_t n = 0; n < more[k].size(); n++) levels[k].more[n].owner = &more[k][n];
      arrays[k].owner = &lists[k];
    }
    tensor.levels = levels.data();
    tensor.vals.owner = &values;
  }
};

}  // namespace

lower::IndexWidths widths_of(const Pattern& pattern) {
  lower::IndexWidths out;
  for (const LevelArrays& level : pattern.levels()) {
    out.pos.push_back(type_of(level.pos.width()));
    out.crd.push_back(type_of(level.crd.width()));
  }
  return out;
}

std::vector<const void*> addresses_of(const std::vector<Scalar>& arguments) {
  std::vector<const void*> out;
  for (const Scalar& value : arguments)
    std::visit([&](const auto& v) { out.push_back(&v); }, static_cast<const ScalarVariant&>(value));
  return out;
}

// ---- views --------------------------------------------------------------------------------------------------------------

// Arrays are only read through a view unless they are results.
View::View(const Storage& storage)
    : values_{const_cast<std::byte*>(storage.value_bytes()), storage.nnz(), nullptr},
      pattern_(storage.shared_pattern()),
      element_(size_of(storage.type())),
      device_(&runtime::device_at(storage.place())) {
  for (const LevelArrays& level : pattern_->levels()) {
    spd_level view{};
    view.extent = level.range.size();
    view.lo = level.range.lo;
    view.stride = level.range.size();
    view.end = level.positions;
    view.pos = {const_cast<void*>(level.pos.data()), level.pos.size(), nullptr};
    view.crd = {const_cast<void*>(level.crd.data()), level.crd.size(), nullptr};
    for (size_t n = 0; n < level.more.size(); n++)
      view.more[n] = {const_cast<void*>(level.more[n].data()), level.more[n].size(), nullptr};
    levels_.push_back(view);
  }
}

View::View(std::span<const Range> ranges, std::span<const int64_t> strides, void* values, ScalarType type)
    : values_{values, 0, nullptr}, element_(size_of(type)), device_(&runtime::device_at(memory::host)) {
  require(ranges.size() == strides.size(), "every level of a view has a range and a stride");
  int64_t last = 0;  // the position of the last element
  bool empty = false;
  for (size_t k = 0; k < ranges.size(); k++) {
    spd_level view{};
    view.extent = ranges[k].size();
    view.lo = ranges[k].lo;
    view.stride = strides[k];
    last = last * strides[k] + view.extent - 1;
    view.end = last + 1;
    empty |= view.extent == 0;
    levels_.push_back(view);
  }
  values_.count = empty ? 0 : last + 1;
}

void View::zero() {
  auto* bytes = static_cast<std::byte*>(values_.data);
  // The innermost levels that lie without gaps are one run.
  int64_t run = 1;
  size_t k = levels_.size();
  while (k > 0) {
    run *= levels_[--k].extent;
    if (k > 0 && levels_[k].stride != levels_[k].extent) break;
  }
  if (run == 0 || values_.count == 0) return;
  if (pattern_ || k == 0) {
    device_->fill(bytes, std::byte(0), size_t(values_.count) * element_);
    return;
  }
  std::function<void(size_t, int64_t)> nest = [&](size_t level, int64_t position) {
    for (int64_t c = 0; c < levels_[level].extent; c++) {
      int64_t at = level == 0 ? c : position * levels_[level].stride + c;
      if (level + 1 < k) nest(level + 1, at);
      else {
        for (size_t below = k; below < levels_.size(); below++) at *= levels_[below].stride;
        device_->fill(bytes + size_t(at) * element_, std::byte(0), size_t(run) * element_);
      }
    }
  };
  nest(0, 0);
}

// ---- inputs -------------------------------------------------------------------------------------------------------------

LeafInputs::LeafInputs(const Leaf& leaf, std::span<const Storage* const> operands, NumberOf number)
    : leaf_(&leaf), number_(std::move(number)), tensors_(operands.size() + 1), numbers_(leaf.kernel().scalars.size()) {
  require(operands.size() == leaf.kernel().operands.size(), "every access of a leaf has its piece");
  views_.reserve(operands.size());
  for (size_t k = 0; k < operands.size(); k++) {
    views_.emplace_back(*operands[k]);
    set_operand(k, views_[k]);
  }
  set_numbers();
}

void LeafInputs::set_operand(size_t k, View piece) {
  check_whole_levels(leaf_->kernel(), int(k) + 1, piece);
  require(!piece.pattern() || leaf_->fits(k, *piece.pattern()), "pieces are as wide as a leaf was compiled for");
  views_[k] = std::move(piece);
  tensors_[k + 1] = views_[k].tensor();
}

void LeafInputs::set_numbers() {
  for (size_t n = 0; n < numbers_.size(); n++) {
    const lower::RunTimeNumber& wanted = leaf_->kernel().scalars[n];
    const Extent* extent = std::get_if<Extent>(&wanted);
    numbers_[n] = extent && extent->value() ? *extent->value() : number_(wanted);
  }
}

namespace {

lower::Kernel lowered(const ConcreteStatement& statement, const Widths& widths, const LeafOptions& options,
                      ScalarType positions) {
  return lower::lower(statement, {.widths = widths,
                                  .result = made_widths(statement.result, positions),
                                  .largest_position = options.largest_position,
                                  .largest_dense_workspace = options.largest_dense_workspace,
                                  .operands = options.operands,
                                  .outer = options.outer,
                                  .start = options.start});
}

ir::Function optimized(const ir::Function& f) { return passes::optimize(f, {.target = {codegen::vector_bytes()}}); }

// Calls the kernel, on one thread where starting others takes longer than all the work.
void launch(spd_call& call, runtime::HostContext& context, std::span<const spd_tensor> tensors, const Leaf::Run& run) {
  int64_t stored = 0;
  for (const spd_tensor& tensor : tensors) stored += tensor.vals.count;
  int64_t threads = context.threads;
  if (stored < context.smallest_shared) context.use(1);
  try {
    run(call);
  } catch (...) {
    context.use(threads);
    throw;
  }
  context.use(threads);
}

}  // namespace

// ---- leaves -------------------------------------------------------------------------------------------------------------

Leaf::Leaf(const ConcreteStatement& statement, const Widths& widths, const LeafOptions& options)
    : statement_(lower::insert_workspace(strip_loops(statement, options.outer), options.outer)),
      start_(options.start.value_or(statement.start)),
      kernel_(lowered(statement_, widths, options, ScalarType::Int32)),
      largest_position_(options.largest_position),
      function_(optimized(kernel_.function)) {
  for (const Access& access : kernel_.operands) widths_.push_back(widths(access));
  if (is_placed() || kernel_.assembly == lower::Assembly::Listed) return;
  function_.instead = [loops = statement_, operands = kernel_.operands, all = widths_, options] {
    Widths known = [&](const Access& access) {
      for (size_t k = 0; k < operands.size(); k++)
        if (structurally_equal(operands[k], access)) return all[k];
      return lower::IndexWidths{};
    };
    return optimized(lowered(loops, known, options, ScalarType::Int64).function);
  };
}

Leaf::Leaf(const ConcreteStatement& statement, const Storages& storages, const LeafOptions& options)
    : Leaf(
          statement,
          [&](const Access& access) {
            auto stored = storages.find(access.tensor);
            return stored == storages.end() ? lower::IndexWidths{} : widths_of(stored->second->pattern());
          },
          options) {}

bool Leaf::fits(size_t k, const Pattern& piece) const {
  auto fit = [](const std::vector<ScalarType>& wanted, size_t level, const IndexArray& array) {
    return array.empty() || type_of(array.width()) == (level < wanted.size() ? wanted[level] : ScalarType::Int32);
  };
  for (size_t level = 0; level < piece.order(); level++)
    if (!fit(widths_[k].pos, level, piece.level(level).pos) || !fit(widths_[k].crd, level, piece.level(level).crd))
      return false;
  return true;
}

bool Leaf::is_placed() const {
  return kernel_.assembly == lower::Assembly::Dense || kernel_.assembly == lower::Assembly::Shared;
}

bool Leaf::overwrites() const { return kernel_.assembly == lower::Assembly::Dense && start_ == Start::Zero; }

LeafInputs Leaf::inputs_from(const Storages& storages) const {
  std::vector<const Storage*> operands;
  for (const Access& access : kernel_.operands) operands.push_back(storages.at(access.tensor));
  // Sizes are known by now; a number of pieces that nobody gave is the number of processes.
  return LeafInputs(*this, operands, [](const lower::RunTimeNumber&) { return 1; });
}

void Leaf::compute_into(Storage& result, const Storages& storages, runtime::HostContext& context,
                        const Run& run) const {
  require(overwrites(), "only what is overwritten is computed where something else was");
  LeafInputs inputs = inputs_from(storages);
  View view(result);
  compute_into(view, inputs, context, run);
}

Storage Leaf::compute(const Storages& storages, runtime::HostContext& context, const Run& run) const {
  LeafInputs inputs = inputs_from(storages);
  if (!is_placed() || start_ == Start::Zero) return compute(inputs, whole_bounds(kernel_.result), context, run);
  Storage out = storages.at(kernel_.result)->clone();
  View view(out);
  compute_into(view, inputs, context, run);
  return out;
}

PatternHandle Leaf::result_pattern(const LeafInputs& inputs, const std::vector<Range>& bounds) const {
  require(is_placed(), "a result that is assembled has no pattern before");
  const TensorVar& result = kernel_.result;
  if (kernel_.assembly == lower::Assembly::Dense)
    return dense_pattern(result.format(), known_dims(result), bounds, result.type(), "a dense result");
  const PatternHandle& shared = inputs.operand(size_t(kernel_.shared_tensor) - 1).pattern();
  require(shared != nullptr, "a pattern that is shared is that of a stored piece");
  std::vector<LevelArrays> levels(shared->levels().begin(), shared->levels().begin() + long(kernel_.shared_level) + 1);
  return std::make_shared<const Pattern>(result.format(), known_dims(result), std::move(levels));
}

void Leaf::compute_into(View& result, LeafInputs& inputs, runtime::HostContext& context, const Run& run) const {
  require(is_placed(), "a result that is computed in place has its places before");
  check_whole_levels(kernel_, 0, result);
  if (kernel_.zero_first) result.zero();
  inputs.tensors_[0] = result.tensor();
  spd_call call{&context, inputs.tensors_.data(), nullptr, inputs.numbers_.data(), nullptr};
  launch(call, context, inputs.tensors_, run);
}

Storage Leaf::compute(LeafInputs& inputs, const std::vector<Range>& bounds, runtime::HostContext& context,
                      const Run& run) const {
  const TensorVar& result = kernel_.result;
  if (is_placed()) {
    PatternHandle pattern = result_pattern(inputs, bounds);
    // Memory that comes zeroed from the system is cheaper than zeroing it.
    bool zeroed = kernel_.zero_first || start_ == Start::Old;
    Storage out = zeroed ? Storage(pattern, result.type())
                         : Storage(pattern, result.type(),
                                   Buffer::uninitialized(size_t(pattern->nnz()) * size_of(result.type())));
    View view(out);
    check_whole_levels(kernel_, 0, view);
    inputs.tensors_[0] = view.tensor();
    spd_call call{&context, inputs.tensors_.data(), nullptr, inputs.numbers_.data(), nullptr};
    launch(call, context, inputs.tensors_, run);
    return out;
  }

  std::vector<int64_t> dims = known_dims(result);
  MadeArrays made(result.order(), bounds, result.format());
  inputs.tensors_[0] = made.tensor;
  spd_call call{&context, inputs.tensors_.data(), made.arrays.data(), inputs.numbers_.data(), nullptr};
  launch(call, context, inputs.tensors_, run);
  const spd_array& values = inputs.tensors_[0].vals;
  if (kernel_.assembly == lower::Assembly::Listed) {
    Coordinates entries(dims, result.type());
    int64_t count = values.count;
    entries.resize(count);
    for (size_t d = 0; d < dims.size() && count > 0; d++)
      memory::copy_bytes(entries.column(d).data(), made.arrays[d].data, size_t(count) * sizeof(int64_t));
    memory::copy_bytes(entries.value_bytes(), values.data, size_t(count) * size_of(result.type()));
    return pack(std::move(entries), result.format(), bounds);
  }
  IndexWidth pos = values.count > largest_position_ ? IndexWidth::Int64 : IndexWidth::Int32;
  lower::IndexWidths widths = made_widths(result, type_of(pos));
  std::vector<LevelArrays> levels;
  int64_t positions = 1;
  for (size_t k = 0; k < dims.size(); k++) {
    size_t d = size_t(result.format().mode_order()[k]);
    LevelArrays level{dims[d], bounds[d], 0, {}, {}};
    if (result.format().levels()[k].properties().full) {
      positions *= bounds[d].size();
    } else {
      positions = made.levels[k].crd.count;
      IndexWidth crd = widths.crd[k] == ScalarType::Int32 ? IndexWidth::Int32 : IndexWidth::Int64;
      for (size_t n = 0; n < functions_of(result.format().levels()[k]).more; n++)
        level.more.emplace_back(made.more[k][n].take(made.levels[k].more[n].count, size_t(pos)), pos);
      level.pos = IndexArray(made.pos[k].take(made.levels[k].pos.count, size_t(pos)), pos);
      level.crd = IndexArray(made.crd[k].take(positions, size_t(crd)), crd);
    }
    level.positions = positions;
    levels.push_back(std::move(level));
  }
  auto pattern = std::make_shared<const Pattern>(result.format(), dims, std::move(levels));
  return Storage(pattern, result.type(), made.values.take(positions, size_of(result.type())));
}

}  // namespace spdistal
