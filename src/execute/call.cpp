#include "execute/call.hpp"

#include <array>

#include "base/require.hpp"
#include "execute/move/reduce_op.hpp"
#include "format/questions.hpp"
#include "level/level.hpp"
#include "memory/copy.hpp"
#include "notation/arithmetic.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

std::vector<Range> whole_bounds(const TensorVar& tensor) {
  std::vector<Range> out;
  for (int64_t n : known_dims(tensor)) out.push_back({0, n});
  return out;
}

// Where a kernel takes a dense level to cover its whole dimension, it does.
void check_whole_levels(const lower::Lowered& kernel, int tensor, const View& view) {
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
  std::vector<std::array<runtime::ResultArray, SPD_LEVEL_ARRAYS>> of_levels;
  std::vector<runtime::ResultArray> lists;
  runtime::ResultArray values;
  std::vector<spd_level> levels;
  std::vector<spd_array> arrays;
  spd_tensor tensor{};

  explicit MadeArrays(size_t order, const std::vector<Range>& bounds, const Format& format)
      : of_levels(order), lists(order), levels(order), arrays(order) {
    for (size_t k = 0; k < order; k++) {
      const Range& range = bounds[size_t(format.mode_order()[k])];
      levels[k].extent = levels[k].stride = range.size();
      levels[k].lo = range.lo;
      for (size_t n = 0; n < of_levels[k].size(); n++) levels[k].arrays[n].owner = &of_levels[k][n];
      arrays[k].owner = &lists[k];
    }
    tensor.levels = levels.data();
    tensor.vals.owner = &values;
  }
};

}  // namespace

std::vector<const void*> addresses_of(const std::vector<Scalar>& arguments) {
  std::vector<const void*> out;
  for (const Scalar& value : arguments)
    std::visit([&](const auto& v) { out.push_back(&v); }, static_cast<const ScalarVariant&>(value));
  return out;
}

LeafCall::LeafCall(const Leaf& leaf, std::span<const SeenPiece> operands, NumberOf number, DevicePlace device)
    : leaf_(&leaf),
      number_(std::move(number)),
      device_(device),
      tensors_(operands.size() + 1),
      numbers_(leaf.kernel().scalars.size()) {
  require(operands.size() == leaf.kernel().operands.size(), "every access of a leaf has its piece");
  views_.reserve(operands.size());
  for (size_t k = 0; k < operands.size(); k++) {
    views_.emplace_back(*operands[k].storage, device_, operands[k].seen);
    set_operand(k, views_[k]);
  }
  set_numbers();
}

void LeafCall::set_operand(size_t k, View piece) {
  check_whole_levels(leaf_->kernel(), int(k) + 1, piece);
  require(!piece.seen() || leaf_->fits(k, *piece.seen()), "pieces are as wide as a leaf was compiled for");
  views_[k] = std::move(piece);
  tensors_[k + 1] = views_[k].tensor();
}

void LeafCall::set_numbers() {
  for (size_t n = 0; n < numbers_.size(); n++) {
    const lower::RunTimeNumber& wanted = leaf_->kernel().scalars[n];
    const Extent* extent = std::get_if<Extent>(&wanted);
    numbers_[n] = extent && extent->value() ? *extent->value() : number_(wanted);
  }
}

// On one thread where starting others takes longer than all the work.
void LeafCall::launch(spd_array* lists, runtime::HostContext& context, const RunKernel& run) {
  spd_call call{&context, tensors_.data(), lists, numbers_.data(), nullptr};
  int64_t stored = 0;
  for (const spd_tensor& tensor : tensors_) stored += tensor.vals.count;
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

PatternHandle LeafCall::result_pattern(const std::vector<Range>& bounds) const {
  const lower::Lowered& kernel = leaf_->kernel();
  require(leaf_->is_placed(), "a result that is assembled has no pattern before");
  const TensorVar& result = kernel.result;
  if (kernel.assembly == lower::Assembly::Dense)
    return dense_pattern(result.format(), known_dims(result), bounds, result.type(), "a dense result");
  const PatternHandle& shared = views_[size_t(kernel.shared_tensor) - 1].pattern();
  require(shared != nullptr, "a pattern that is shared is that of a stored piece");
  std::vector<LevelArrays> levels(shared->levels().begin(), shared->levels().begin() + long(kernel.shared_level) + 1);
  for (LevelArrays& level : levels)
    for (NamedArray& of_level : level.arrays)
      if (of_level.array.is_lent()) of_level.array = of_level.array.clone();  // results stay when operands are gone
  return std::make_shared<const Pattern>(result.format(), known_dims(result), std::move(levels));
}

void LeafCall::compute_into(View& result, runtime::HostContext& context, const RunKernel& run) {
  require(leaf_->is_placed(), "a result that is computed in place has its places before");
  check_whole_levels(leaf_->kernel(), 0, result);
  if (leaf_->kernel().fill_first) result.fill(leaf_->kernel().background);
  tensors_[0] = result.tensor();
  launch(nullptr, context, run);
}

Storage LeafCall::compute_placed(const std::vector<Range>& bounds, runtime::HostContext& context,
                                 const RunKernel& run) {
  const TensorVar& result = leaf_->kernel().result;
  PatternHandle pattern = result_pattern(bounds);
  // Memory that comes zeroed from the system is cheaper than zeroing it; that of a device is zeroed there.
  const Scalar& background = leaf_->kernel().background;
  bool filled = leaf_->kernel().fill_first || leaf_->start() == Start::Old;
  bool zeroed = filled && is_zero(background) && !device_;
  Storage out =
      zeroed ? Storage(pattern, result.type())
             : Storage(pattern, result.type(), Buffer::uninitialized(size_t(pattern->nnz()) * size_of(result.type())));
  View view(out, device_);
  if (filled && !zeroed) view.fill(background);
  else if (device_) out.value_mirror().to_overwrite(*device_);
  check_whole_levels(leaf_->kernel(), 0, view);
  tensors_[0] = view.tensor();
  launch(nullptr, context, run);
  return out;
}

Storage LeafCall::compute(const std::vector<Range>& bounds, runtime::HostContext& context, const RunKernel& run) {
  if (leaf_->is_placed()) return compute_placed(bounds, context, run);
  const lower::Lowered& kernel = leaf_->kernel();
  const TensorVar& result = kernel.result;
  std::vector<int64_t> dims = known_dims(result);
  MadeArrays made(result.order(), bounds, result.format());
  tensors_[0] = made.tensor;
  launch(made.arrays.data(), context, run);
  const spd_array& values = tensors_[0].vals;
  if (kernel.assembly == lower::Assembly::Listed) {
    Coordinates entries(dims, result.type());
    int64_t count = values.count;
    entries.resize(count);
    for (size_t d = 0; d < dims.size() && count > 0; d++) {
      Buffer column = made.lists[d].take(count, sizeof(int64_t));
      memory::copy_bytes(entries.column(d).data(), column.data(), column.size());
    }
    Buffer listed = made.values.take(count, size_of(result.type()));
    memory::copy_bytes(entries.value_bytes(), listed.data(), listed.size());
    entries.merge_by(reduce_op(leaf_->operation()));
    return pack(std::move(entries), result.format(), bounds);
  }
  bool wide = values.count > leaf_->largest_position();
  lower::IndexWidths widths = narrowest_widths(result, wide ? ScalarType::Int64 : ScalarType::Int32);
  std::vector<LevelArrays> levels;
  int64_t positions = 1;
  for (size_t k = 0; k < dims.size(); k++) {
    size_t d = size_t(result.format().mode_order()[k]);
    LevelArrays level{dims[d], bounds[d], 0};
    if (stores_all(result.format().levels()[k])) {
      positions *= bounds[d].size();
    } else {
      std::span<const LevelArray> names = result.format().levels()[k].arrays();
      for (size_t n = 0; n < names.size(); n++) {
        size_t width = size_of(widths[k][n]);
        int64_t count = made.levels[k].arrays[n].count;
        if (names[n].holds == Holds::Coordinates) positions = count;
        level.arrays.push_back({names[n].name, {made.of_levels[k][n].take(count, width), IndexWidth(width)}});
      }
    }
    level.positions = positions;
    levels.push_back(std::move(level));
  }
  auto pattern = std::make_shared<const Pattern>(result.format(), dims, std::move(levels));
  return Storage(pattern, result.type(), made.values.take(positions, size_of(result.type())));
}

namespace {

LeafCall call_on(const Leaf& leaf, const Storages& storages, DevicePlace device) {
  std::vector<SeenPiece> operands;
  for (const notation::Access& access : leaf.kernel().operands) operands.push_back({storages.at(access.tensor)});
  // Sizes are known by now; a number of pieces that nobody gave is the number of processes.
  return LeafCall(
      leaf, operands, [](const lower::RunTimeNumber&) { return 1; }, device);
}

}  // namespace

Storage compute(const Leaf& leaf, const Storages& storages, runtime::HostContext& context, const RunKernel& run,
                DevicePlace device) {
  LeafCall call = call_on(leaf, storages, device);
  const TensorVar& result = leaf.kernel().result;
  if (!leaf.is_placed() || leaf.start() == Start::Zero) return call.compute(whole_bounds(result), context, run);
  Storage out = storages.at(result)->clone();
  View view(out, device);
  call.compute_into(view, context, run);
  return out;
}

void compute_into(Storage& result, const Leaf& leaf, const Storages& storages, runtime::HostContext& context,
                  const RunKernel& run, DevicePlace device) {
  require(leaf.overwrites(), "only what is overwritten is computed where something else was");
  LeafCall call = call_on(leaf, storages, device);
  View view(result, device);
  if (device && !leaf.kernel().fill_first) result.value_mirror().to_overwrite(*device);
  call.compute_into(view, context, run);
}

}  // namespace spdistal
