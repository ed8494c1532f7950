#include "driver/leaf.hpp"

#include "codegen/processor.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/require.hpp"
#include "lower/workspace.hpp"
#include "passes/pipeline.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

ScalarType type_of(IndexWidth width) { return width == IndexWidth::Int32 ? ScalarType::Int32 : ScalarType::Int64; }

lower::IndexWidths widths_of(const Pattern& pattern) {
  lower::IndexWidths out;
  for (const LevelArrays& level : pattern.levels()) {
    out.pos.push_back(type_of(level.pos.width()));
    out.crd.push_back(type_of(level.crd.width()));
  }
  return out;
}

// Of a result that is assembled: coordinates as wide as the dimension asks for, positions of 32 bits.
lower::IndexWidths made_widths(const TensorVar& result) {
  lower::IndexWidths out;
  for (int dim : result.format().mode_order()) {
    std::optional<int64_t> size = result.dims()[size_t(dim)].value();
    out.pos.push_back(ScalarType::Int32);
    out.crd.push_back(size ? type_of(width_for(*size)) : ScalarType::Int64);
  }
  return out;
}

std::vector<int64_t> known_dims(const TensorVar& tensor) {
  std::vector<int64_t> dims;
  for (const Extent& extent : tensor.dims()) {
    require(extent.value().has_value(), "sizes are known when a statement runs");
    dims.push_back(*extent.value());
  }
  return dims;
}

// A pattern whose levels all are dense.
PatternHandle dense_pattern(const TensorVar& tensor) {
  std::vector<int64_t> dims = known_dims(tensor);
  std::vector<LevelArrays> levels;
  int64_t positions = 1;
  for (int dim : tensor.format().mode_order()) {
    int64_t n = dims[size_t(dim)];
    positions = checked_positions(positions, n, size_of(tensor.type()), "a dense result");
    levels.push_back({n, {0, n}, positions, {}, {}});
  }
  return std::make_shared<const Pattern>(tensor.format(), dims, std::move(levels));
}

// Views of a tensor for a call; arrays are only read through them unless they are results.
struct View {
  std::vector<spd_level> levels;
  spd_tensor tensor{};

  View(const Pattern& pattern, const void* values, int64_t count) {
    for (const LevelArrays& level : pattern.levels()) {
      spd_level view{};
      view.extent = level.range.size();
      view.lo = level.range.lo;
      view.stride = level.range.size();
      view.end = level.positions;
      view.pos = {const_cast<void*>(level.pos.data()), level.pos.size(), nullptr};
      view.crd = {const_cast<void*>(level.crd.data()), level.crd.size(), nullptr};
      levels.push_back(view);
    }
    tensor.levels = levels.data();
    tensor.vals = {const_cast<void*>(values), count, nullptr};
  }
};

// Memory of a result that a kernel asks for: it becomes the tensor's own.
class Room final : public codegen::ArrayOwner {
 public:
  void* reserve(size_t bytes) override {
    memory_ = Buffer::uninitialized(bytes);
    return memory_.data();
  }
  Buffer take(int64_t count, size_t element) {
    size_t bytes = size_t(count) * element;
    if (memory_.size() == 0 && bytes == 0) reserve(0);
    require(memory_.size() == bytes, "a kernel asks for as much memory as it fills");
    return std::move(memory_);
  }

 private:
  Buffer memory_;
};

// The arrays that a kernel makes, until they become a tensor.
struct MadeArrays {
  std::vector<Room> pos, crd, lists;
  Room values;
  std::vector<spd_level> levels;
  std::vector<spd_array> arrays;
  spd_tensor tensor{};

  explicit MadeArrays(size_t order, const std::vector<int64_t>& dims, const Format& format)
      : pos(order), crd(order), lists(order), levels(order), arrays(order) {
    for (size_t k = 0; k < order; k++) {
      int64_t n = dims[size_t(format.mode_order()[k])];
      levels[k].extent = levels[k].stride = n;
      levels[k].pos.owner = owner(pos[k]);
      levels[k].crd.owner = owner(crd[k]);
      arrays[k].owner = owner(lists[k]);
    }
    tensor.levels = levels.data();
    tensor.vals.owner = owner(values);
  }

 private:
  static codegen::ArrayOwner* owner(Room& room) { return &room; }
};

}  // namespace

Leaf::Leaf(const ConcreteStatement& statement, const Storages& storages)
    : statement_(lower::insert_workspace(statement)),
      kernel_(lower::lower(statement_, {.widths =
                                            [&](const TensorVar& tensor) {
                                              auto stored = storages.find(tensor);
                                              return stored == storages.end() ? lower::IndexWidths{}
                                                                              : widths_of(stored->second->pattern());
                                            },
                                        .result = made_widths(statement.result)})),
      function_(passes::optimize(kernel_.function, {.target = {codegen::vector_bytes()}})) {}

Storage Leaf::compute(const Storages& storages, spd_context& context, const std::function<void(spd_call&)>& run) const {
  const TensorVar& result = kernel_.result;
  std::vector<View> views;
  views.reserve(kernel_.operands.size());
  for (const Access& access : kernel_.operands) {
    const Storage& s = *storages.at(access.tensor);
    views.emplace_back(s.pattern(), s.value_bytes(), s.nnz());
  }
  std::vector<spd_tensor> tensors(1);
  for (const View& view : views) tensors.push_back(view.tensor);
  std::vector<int64_t> scalars;
  // Sizes are known by now; a number of pieces that nobody gave is the number of processes.
  for (const Extent& extent : kernel_.scalars) scalars.push_back(extent.value().value_or(1));
  spd_call call{&context, tensors.data(), nullptr, scalars.data()};

  using lower::Assembly;
  if (kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared) {
    PatternHandle pattern;
    if (kernel_.assembly == Assembly::Dense) {
      pattern = dense_pattern(result);
    } else {
      const Pattern& shared = storages.at(kernel_.operands[size_t(kernel_.shared_tensor) - 1].tensor)->pattern();
      std::vector<LevelArrays> levels(shared.levels().begin(),
                                      shared.levels().begin() + long(kernel_.shared_level) + 1);
      pattern = std::make_shared<const Pattern>(result.format(), known_dims(result), std::move(levels));
    }
    Storage out = [&] {
      if (statement_.start == Start::Old) return storages.at(result)->clone();
      if (kernel_.zero_first) return Storage(pattern, result.type());
      return Storage(pattern, result.type(), Buffer::uninitialized(size_t(pattern->nnz()) * size_of(result.type())));
    }();
    View view(out.pattern(), out.value_bytes(), out.nnz());
    tensors[0] = view.tensor;
    run(call);
    return out;
  }

  std::vector<int64_t> dims = known_dims(result);
  MadeArrays made(result.order(), dims, result.format());
  tensors[0] = made.tensor;
  call.arrays = made.arrays.data();
  run(call);
  if (kernel_.assembly == Assembly::Listed) {
    Coordinates entries(dims, result.type());
    int64_t count = tensors[0].vals.count;
    entries.resize(count);
    for (size_t d = 0; d < dims.size() && count > 0; d++)
      std::memcpy(entries.column(d).data(), made.arrays[d].data, size_t(count) * sizeof(int64_t));
    if (count > 0) std::memcpy(entries.value_bytes(), tensors[0].vals.data, size_t(count) * size_of(result.type()));
    return pack(std::move(entries), result.format());
  }
  std::vector<LevelArrays> levels;
  int64_t positions = 1;
  for (size_t k = 0; k < dims.size(); k++) {
    int64_t n = dims[size_t(result.format().mode_order()[k])];
    LevelArrays level{n, {0, n}, 0, {}, {}};
    if (result.format().levels()[k].properties().full) {
      positions *= n;
    } else {
      positions = made.levels[k].crd.count;
      if (width_for(positions) != IndexWidth::Int32)
        throw UserError(fmt::format("the result would store {} elements, more than 2^31 - 1", positions),
                        "compute it in parts: results of that size are not supported yet");
      IndexWidth width = made_widths(result).crd[k] == ScalarType::Int32 ? IndexWidth::Int32 : IndexWidth::Int64;
      level.pos = IndexArray(made.pos[k].take(made.levels[k].pos.count, sizeof(int32_t)), IndexWidth::Int32);
      level.crd = IndexArray(made.crd[k].take(positions, size_t(width)), width);
    }
    level.positions = positions;
    levels.push_back(std::move(level));
  }
  auto pattern = std::make_shared<const Pattern>(result.format(), dims, std::move(levels));
  return Storage(pattern, result.type(), made.values.take(positions, size_of(result.type())));
}

}  // namespace spdistal
