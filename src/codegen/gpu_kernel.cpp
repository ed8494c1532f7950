#include "codegen/gpu_kernel.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/require.hpp"
#include "codegen/numbers.hpp"
#include "memory/mirror.hpp"
#include "runtime/device/host_context.hpp"

namespace spdistal::codegen {

using namespace ir;

namespace {

/// The array that a parameter stands for.
spd_array& array_at(const Source& at, spd_call& call) {
  using Field = Source::Field;
  if (at.field == Field::Array) return call.arrays[at.index];
  spd_tensor& tensor = call.tensors[at.index];
  if (at.field == Field::Vals) return tensor.vals;
  spd_level& level = tensor.levels[at.level];
  return level.arrays[at.number];
}

const void* bytes_of(const ir::Scalar& value) {
  return std::visit([](const auto& v) -> const void* { return &v; }, value.value());
}

ir::Scalar scalar_from(ScalarType type, const void* bytes) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    return ir::Scalar::of(*static_cast<const T*>(bytes));
  });
}

void collect(const DeviceSteps& steps, std::vector<const Grid*>& out) {
  for (const DeviceStep& step : steps) {
    if (auto* grid = std::get_if<Grid>(&step)) out.push_back(grid);
    if (auto* choice = std::get_if<std::shared_ptr<const Choice>>(&step))
      collect((*choice)->yes, out), collect((*choice)->no, out);
    if (auto* loop = std::get_if<std::shared_ptr<const Repetition>>(&step)) collect((*loop)->body, out);
  }
}

void find_made(const DeviceSteps& steps, std::set<Symbol>& made) {
  for (const DeviceStep& step : steps) {
    if (auto* stmt = std::get_if<Stmt>(&step))
      if (auto* resize = stmt->as<Resize>()) made.insert(resize->array.symbol);
    if (auto* choice = std::get_if<std::shared_ptr<const Choice>>(&step))
      find_made((*choice)->yes, made), find_made((*choice)->no, made);
    if (auto* loop = std::get_if<std::shared_ptr<const Repetition>>(&step)) find_made((*loop)->body, made);
  }
}

}  // namespace

std::vector<const Grid*> grids_of(const DeviceSteps& steps) {
  std::vector<const Grid*> out;
  collect(steps, out);
  return out;
}

GpuKernel::GpuKernel(Launches launches, runtime::Device& device,
                     std::vector<std::shared_ptr<const runtime::LoadedKernel>> loaded, GpuLimits limits)
    : launches_(std::make_shared<const Launches>(std::move(launches))), device_(&device), limits_(limits) {
  std::vector<const Grid*> grids = grids_of(launches_->steps);
  require(loaded.size() == grids.size(), "every grid is loaded");
  for (size_t k = 0; k < grids.size(); k++) {
    loaded_.emplace(grids[k], std::move(loaded[k]));
    lanes_ = std::max<int64_t>(lanes_, grids[k]->lanes);
  }
  find_made(launches_->steps, made_);
}

// One call: where its arrays are, and what its numbers are by now.
class GpuKernel::Run {
 public:
  Run(const GpuKernel& kernel, spd_call& call)
      : kernel_(kernel),
        call_(call),
        device_(*kernel.device_),
        numbers_([this](const Var& array, int64_t index) { return element(array, index); }) {
    for (const Param& p : kernel.launches_->params) bind(p);
  }

  int operator()() {
    walk(kernel_.launches_->steps);
    if (code_ == 0) finish();
    return code_;
  }

 private:
  enum class Flow : uint8_t { Next, Break, Return };

  struct Array {
    std::byte* data = nullptr;
    int64_t count = 0;
    memory::Buffer own = {};         // where it is this call's
    spd_array* source = nullptr;     // of a parameter
    std::byte* copied_to = nullptr;  // memory of the host that gets what was written
    bool made = false;
  };

  // ---- parameters ----

  void bind(const Param& p) {
    using Field = Source::Field;
    if (p.var.type.is_array()) return bind_array(p);
    if (p.source.field == Field::Argument)
      return numbers_.set(p.var, scalar_from(p.var.type.scalar, call_.arguments[p.source.index]));
    numbers_.set(p.var, ir::Scalar::integer(p.var.type.scalar, number_at(p.source)));
  }

  int64_t number_at(const Source& at) {
    using Field = Source::Field;
    if (at.field == Field::Shares || at.field == Field::Threads) return shares();
    if (at.field == Field::Scalar) return call_.scalars[at.index];
    const spd_level& level = call_.tensors[at.index].levels[at.level];
    switch (at.field) {
      case Field::Extent: return level.extent;
      case Field::Lo: return level.lo;
      case Field::Stride: return level.stride;
      case Field::Begin: return level.begin;
      default: return level.end;
    }
  }

  // As many as keep a device busy, where there is that much to do.
  int64_t shares() const {
    int64_t stored = 0;
    std::set<int> seen;
    for (const Param& p : kernel_.launches_->params)
      if (p.source.field == Source::Field::Vals && seen.insert(p.source.index).second)
        stored = std::max(stored, call_.tensors[p.source.index].vals.count);
    // One share would be taken for one thread.
    return std::clamp<int64_t>(stored / (kernel_.limits_.elements_of_a_share * kernel_.lanes_), 2,
                               kernel_.limits_.shares);
  }

  void bind_array(const Param& p) {
    spd_array& source = array_at(p.source, call_);
    Array array;
    array.source = &source;
    array.count = source.count;
    size_t bytes = size_t(source.count) * size_of(p.var.type.scalar);
    bool written = p.var.type.form == Type::Form::Array;
    if (kernel_.made_.contains(p.var.symbol)) {
      array.made = true;
      array.count = 0;
    } else if (auto* mirror = static_cast<memory::Mirror*>(source.owner)) {
      array.data = written ? mirror->to_change(device_.place()) : mirror->to_read(device_.place());
    } else if (source.data) {
      array.own = device_.allocate(bytes);
      array.data = array.own.data();
      device_.copy(array.data, source.data, bytes);
      if (written) array.copied_to = static_cast<std::byte*>(source.data);
    }
    arrays_.insert_or_assign(p.var.symbol, std::move(array));
  }

  // What was made or written is where the caller looks for it.
  void finish() {
    for (const Param& p : kernel_.launches_->params) {
      if (!p.var.type.is_array()) continue;
      Array& array = arrays_.at(p.var.symbol);
      size_t bytes = size_t(array.count) * size_of(p.var.type.scalar);
      if (array.copied_to) {
        device_.copy(array.copied_to, array.data, bytes);
        device_.wait(runtime::Stream{});
      }
      if (!array.made) continue;
      array.source->count = array.count;
      if (array.own.size() == 0) array.own = device_.allocate(0);
      array.source->data = static_cast<runtime::ResultArray*>(array.source->owner)->adopt(std::move(array.own));
    }
  }

  // ---- steps ----

  Flow walk(const DeviceSteps& steps) {
    for (const DeviceStep& step : steps) {
      Flow flow = Flow::Next;
      if (auto* stmt = std::get_if<Stmt>(&step)) flow = statement(*stmt);
      else if (auto* grid = std::get_if<Grid>(&step)) launch(*grid);
      else if (auto* choice = std::get_if<std::shared_ptr<const Choice>>(&step))
        flow = walk(numbers_((*choice)->cond).as<bool>() ? (*choice)->yes : (*choice)->no);
      else flow = repeat(**std::get_if<std::shared_ptr<const Repetition>>(&step));
      if (flow != Flow::Next) return flow;
    }
    return Flow::Next;
  }

  Flow repeat(const Repetition& loop) {
    if (!loop.var) {
      while (numbers_(loop.cond).as<bool>())
        if (Flow flow = walk(loop.body); flow != Flow::Next) return flow == Flow::Break ? Flow::Next : flow;
      return Flow::Next;
    }
    int64_t end = numbers_.integer(loop.hi), by = numbers_.integer(loop.step);
    for (int64_t i = numbers_.integer(loop.lo); i < end; i += by) {
      numbers_.set(*loop.var, ir::Scalar::integer(loop.var->type.scalar, i));
      if (Flow flow = walk(loop.body); flow != Flow::Next) return flow == Flow::Break ? Flow::Next : flow;
    }
    return Flow::Next;
  }

  Flow statement(const Stmt& s) {
    if (auto* declared = s.as<Declare>()) numbers_.set(declared->var, numbers_(declared->init));
    else if (auto* assigned = s.as<Assign>()) numbers_.set(assigned->var, numbers_(assigned->value));
    else if (auto* fresh = s.as<Allocate>())
      make_room(arrays_[fresh->array.symbol], fresh->array, numbers_.integer(fresh->count), fresh->fill);
    else if (auto* grown = s.as<Resize>())
      make_room(arrays_.at(grown->array.symbol), grown->array, numbers_.integer(grown->count), Fill::Uninitialised);
    else if (auto* shrunk = s.as<Shrink>()) shrink(*shrunk);
    else if (auto* left = s.as<Return>()) code_ = left->code;
    else require(s.is<Break>(), "the host makes room, computes numbers and decides");
    return s.is<Return>() ? Flow::Return : s.is<Break>() ? Flow::Break : Flow::Next;
  }

  void make_room(Array& array, const Var& var, int64_t count, Fill fill) {
    require(count >= 0, "an array's size is not negative");
    size_t bytes = size_t(count) * size_of(var.type.scalar);
    array.own = {};
    array.own = device_.allocate(bytes);
    array.data = array.own.data();
    array.count = count;
    if (fill == Fill::Zeroed) device_.fill(array.data, std::byte(0), bytes);
  }

  void shrink(const Shrink& n) {
    Array& array = arrays_.at(n.array.symbol);
    int64_t kept = numbers_.integer(n.count);
    require(kept >= 0 && kept <= array.count, "what shrinks has as many elements");
    array.count = kept;
    array.own.shrink(size_t(kept) * size_of(n.array.type.scalar));
  }

  std::byte* place_of(const Var& var, int64_t index) {
    const Array& array = arrays_.at(var.symbol);
    require(index >= 0 && index < array.count, "an element is one of its array's");
    return array.data + size_t(index) * size_of(var.type.scalar);
  }

  ir::Scalar element(const Var& var, int64_t index) {
    alignas(16) std::byte value[16];
    device_.copy(value, place_of(var, index), size_of(var.type.scalar));
    device_.wait(runtime::Stream{});
    return scalar_from(var.type.scalar, value);
  }

  // ---- grids ----

  void launch(const Grid& grid) {
    int64_t items = numbers_.integer(grid.items);
    if (items <= 0) return;
    int64_t per_block = grid.threads / grid.lanes, blocks = (items - 1) / per_block + 1;
    size_t own_bytes = 0;
    for (const Grid::Own& own : grid.own)
      own_bytes += size_t(numbers_.integer(own.count)) * size_of(own.array.type.scalar);
    if (grid.strided && own_bytes > 0) {
      auto most = int64_t(kernel_.limits_.own_bytes / own_bytes) / per_block;
      blocks = std::clamp<int64_t>(most, 1, blocks);
    }
    numbers_.set(grid.blocks, ir::Scalar::of(blocks));
    for (const Grid::Own& own : grid.own)
      make_room(arrays_[own.array.symbol], own.array, blocks * per_block * numbers_.integer(own.count), own.fill);
    for (const Grid::Assigned& a : grid.assigned) make_room(arrays_[a.cell.symbol], a.cell, 1, Fill::Uninitialised);
    start(grid, blocks);
    for (const Grid::Assigned& a : grid.assigned) {
      numbers_.set(a.number, element(a.cell, 0));
      arrays_.erase(a.cell.symbol);
    }
    for (const Grid::Own& own : grid.own) arrays_.erase(own.array.symbol);
  }

  void start(const Grid& grid, int64_t blocks) {
    std::vector<spd_array> arrays;
    std::vector<const void*> given, arguments;
    arrays.reserve(grid.function.params.size());
    for (const Param& p : grid.function.params) {
      if (p.var.type.is_array()) {
        const Array& array = arrays_.at(p.var.symbol);
        arrays.push_back({array.data, array.count, nullptr});
        arguments.push_back(&arrays.back().data);
      } else {
        given.push_back(bytes_of(numbers_.at(p.var)));
        arguments.push_back(given.back());
      }
    }
    spd_call call{call_.context, nullptr, arrays.data(), nullptr, given.data()};
    device_.launch(
        *kernel_.loaded_.at(&grid),
        {.call = &call, .arguments = arguments, .arrays = arrays, .blocks = blocks, .threads = grid.threads});
  }

  const GpuKernel& kernel_;
  spd_call& call_;
  runtime::Device& device_;
  Numbers numbers_;
  std::map<Symbol, Array> arrays_;
  int code_ = 0;
};

int GpuKernel::operator()(spd_call& call) const { return Run(*this, call)(); }

}  // namespace spdistal::codegen
