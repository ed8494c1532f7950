#include "spdistal/tensor.hpp"

#include <fmt/format.h>

#include "api/collective.hpp"
#include "api/session.hpp"
#include "api/state.hpp"
#include "api/waiting.hpp"
#include "base/text.hpp"
#include "compile/described.hpp"
#include "io/files.hpp"
#include "memory/copy.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/blocks.hpp"
#include "tensor/distribute.hpp"
#include "tensor/values.hpp"

namespace spdistal {

using notation::TensorVar;

namespace {

// Entries that wait for pack; made at the first insert.
Coordinates& inserted(TensorState& tensor, const std::vector<int64_t>& dims, Inserted how) {
  if (!tensor.inserted) tensor.inserted.emplace(dims, tensor.var.type());
  tensor.inserted_by = Inserted(uint8_t(tensor.inserted_by) | uint8_t(how));
  return *tensor.inserted;
}

// What the handles of a tensor share: when it goes, nobody can say anything of the tensor any more.
struct Held {
  std::shared_ptr<TensorState> tensor;

  explicit Held(std::shared_ptr<TensorState> state) : tensor(std::move(state)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    tensor->released = true;
    if (std::shared_ptr<Waiting> waiting = tensor->waiting.lock()) waiting->release(std::move(tensor));
  }
};

// Where a format stores blocks, the sizes may be those of the ordinary tensor; others are as many as levels, and end with those
// of the blocks.
std::vector<Extent> stored_extents(const Format& format, const std::vector<Extent>& extents) {
  const std::vector<int64_t>& blocks = format.blocks();
  if (!is_ordinary(format, extents.size())) {
    for (size_t d = 0; d < blocks.size() && extents.size() == format.order(); d++) {
      const Extent& extent = extents[blocks.size() + d];
      if (!extent.value()) Param(*extent.param()).bind(blocks[d]);
      else if (*extent.value() != blocks[d])
        throw UserError(fmt::format("the {} dimension is {}, but blocks of the format '{}' have {} elements there",
                                    ordinal(blocks.size() + d), *extent.value(), format.str(), blocks[d]),
                        "give the sizes of the ordinary tensor, or numbers of blocks and then the sizes of blocks");
    }
    return extents;
  }
  std::vector<int64_t> dims;
  for (const Extent& extent : extents) {
    if (!extent.value())
      throw UserError(
          fmt::format("a tensor of blocks in the format '{}' has a size that is not known yet", format.str()),
          "bind its Param (n = 1000) first, or give the numbers of blocks and their sizes");
    dims.push_back(*extent.value());
  }
  dims = stored_dims(format, dims);
  return {dims.begin(), dims.end()};
}

std::shared_ptr<TensorState> held(std::shared_ptr<TensorState> tensor) {
  TensorState* state = tensor.get();
  return {std::make_shared<Held>(std::move(tensor)), state};
}

}  // namespace

TensorBase::TensorBase(std::string name, std::vector<Extent> extents, Format format, ScalarType type)
    : TensorBase(held(
          all_tensors().make(TensorVar({Symbol(std::move(name)), type, stored_extents(format, extents), format})))) {
  if (is_ordinary(format, extents.size()))
    for (const Extent& extent : extents) state_->ordinary.push_back(*extent.value());
}

TensorBase::TensorBase(std::shared_ptr<TensorState> state)
    // Schedules keep references: one that kept the tensor would keep its own statement with it.
    : TensorRef(std::make_shared<const TensorVar>(state->var)), state_(std::move(state)) {}

TensorState& state_of(const TensorBase& tensor) { return *tensor.state_; }

TensorBase make_tensor(std::string name, std::vector<Extent> extents, Format format, ScalarType type) {
  return TensorBase(std::move(name), std::move(extents), std::move(format), type);
}

void TensorBase::check_type(ScalarType wanted) const {
  if (type() != wanted)
    throw UserError(fmt::format("{} has elements of type {}, not {}", shown(var()), name_of(type()), name_of(wanted)),
                    fmt::format("take it as a Tensor<{}>", name_of(type())));
}

const std::vector<Extent>& TensorBase::extents() const { return var().dims(); }
const Format& TensorBase::format() const { return var().format(); }
ScalarType TensorBase::type() const { return var().type(); }

std::vector<int64_t> TensorBase::dims() const {
  std::vector<int64_t> out;
  for (size_t d = 0; d < order(); d++) {
    if (!extents()[d].value())
      throw UserError(fmt::format("the {} dimension of {} has no size yet", ordinal(d), shown(var())),
                      "bind its Param (n = 1000), or read data that has the size");
    out.push_back(*extents()[d].value());
  }
  return out;
}

// ---- data ----

Scalar TensorBase::as_element(const Scalar& value) const {
  return with_type(type(), [&](auto zero) {
    using T = decltype(zero);
    return std::visit(
        [&](auto number) -> Scalar {
          if (fits<T>(number)) return convert_value<T>(number);
          std::string given;
          if constexpr (is_complex_type<decltype(number)>)
            given = fmt::format("({}, {})", number.real(), number.imag());
          else given = fmt::format("{}", number);
          throw UserError(fmt::format("the value {} does not fit an element of {}, which is {}", given, shown(var()),
                                      name_of(type())),
                          "give the tensor a type that holds all its values");
        },
        static_cast<const ScalarVariant&>(value));
  });
}

void TensorBase::insert_scalar(std::span<const int64_t> at, const Scalar& value, Entered entered) {
  auto what = [&] { return described(var()); };
  memory::Purpose purpose(what);
  if (is_ordinary(format(), at.size())) {
    const std::vector<int64_t>& sizes = state_->ordinary;
    for (size_t d = 0; d < at.size(); d++)
      if (at[d] < 0 || (!sizes.empty() && at[d] >= sizes[d]))
        throw UserError(sizes.empty() ? fmt::format("{} has no coordinate {}", shown(var()), at[d])
                                      : fmt::format("coordinate {} lies outside dimension {} of {}, whose size is {}",
                                                    at[d], d, shown(var()), sizes[d]));
    std::vector<int64_t> stored;
    for (size_t d = 0; d < at.size(); d++) stored.push_back(at[d] / format().blocks()[d]);
    for (size_t d = 0; d < at.size(); d++) stored.push_back(at[d] % format().blocks()[d]);
    return insert_scalar(stored, value, entered);
  }
  if (at.size() != order())
    throw UserError(fmt::format("{} has {} dimension{}, the entry {} coordinate{}", shown(var()), order(),
                                order() == 1 ? "" : "s", at.size(), at.size() == 1 ? "" : "s"));
  Scalar element = as_element(value);
  Coordinates& entries = inserted(*state_, dims(), entered == Entered::Alike ? Inserted::Alike : Inserted::Parts);
  std::visit([&](auto v) { entries.add(at, v); }, static_cast<const ScalarVariant&>(element));
}

void TensorBase::pack_columns(std::span<const std::vector<int64_t>> columns, const void* values, size_t count,
                              Entered entered) {
  auto what = [&] { return described(var()); };
  memory::Purpose purpose(what);
  runtime::together(transport(), [&] {
    if (columns.size() != order() && !is_ordinary(format(), columns.size()))
      throw UserError(fmt::format("{} has {} dimensions, but {} columns of coordinates were given", shown(var()),
                                  order(), columns.size()));
    for (const std::vector<int64_t>& column : columns)
      if (column.size() != count) throw UserError(fmt::format("{} values, but {} coordinates", count, column.size()));
    Coordinates entries(columns.size() == order() ? dims() : state_->ordinary, type());
    entries.resize(int64_t(count));
    for (size_t d = 0; d < columns.size(); d++)
      std::copy(columns[d].begin(), columns[d].end(), entries.column(d).begin());
    memory::copy_bytes(entries.value_bytes(), values, count * size_of(type()));
    inserted(*state_, dims(), entered == Entered::Alike ? Inserted::Alike : Inserted::Parts) =
        stored_entries(format(), std::move(entries));
  });
  pack();
}

void TensorBase::pack() {
  collectively([&] {
    runtime::together(transport(), [&] { dims(); });
    pack_inserted(*state_);
  });
}

void TensorBase::read_file(const std::string& path) {
  collectively([&] { set_entries(*state_, read_entries(*state_, path)); });
}

void TensorBase::fill_with(const Scalar& value) {
  collectively([&] { fill_elements([&](std::span<const int64_t>) { return value; }); });
}

void TensorBase::fill_with(const std::function<Scalar(std::span<const int64_t> at)>& value) {
  collectively([&] {
    waiting().finish(*state_);  // the function may look at what the tensor held before
    fill_elements(value);
  });
}

void TensorBase::fill_elements(const std::function<Scalar(std::span<const int64_t> at)>& value) {
  if (!format().is_dense())
    throw UserError(fmt::format("{} is sparse: only what is stored has a value", shown(var())),
                    "insert entries and pack, or give it a dense format");
  dims();
  fill_pieces(*state_, [&](Home& home) {
    with_type(type(), [&](auto zero) {
      using T = decltype(zero);
      spdistal::fill<T>(
          home, [&](std::span<const int64_t> at) { return std::get<T>(static_cast<const ScalarVariant&>(value(at))); });
    });
  });
}

void TensorBase::write(const std::string& path) const {
  collectively([&] { write_contents(*state_, path); });
}
int64_t TensorBase::nnz() const {
  return collectively([&] { return data_of(*state_).nnz(); });
}

Scalar TensorBase::element(std::span<const int64_t> at) const {
  const Home& home = *collectively([&] { return &data_of(*state_); });
  if (at.size() != order())
    throw UserError(fmt::format("{} has {} dimensions, not {}", shown(var()), order(), at.size()));
  return with_type(type(), [&](auto zero) {
    using T = decltype(zero);
    // A scalar that every rank has needs no question to the others.
    runtime::Mapping mapping(home.shares().grid.count(), transport().size());
    if (order() == 0 && mapping.colours_of(transport().size() - 1).size() > 0)
      return Scalar(home.piece(home.colours().lo).values<T>()[0]);
    return collectively([&] { return Scalar(spdistal::at<T>(transport(), home, at)); });
  });
}

void TensorBase::each_element(const Visit& f) const {
  Coordinates all = collectively([&] { return spdistal::gather(transport(), data_of(*state_)); });
  std::vector<int64_t> at(order());
  for (int64_t e = 0; e < all.size(); e++) {
    for (size_t d = 0; d < order(); d++) at[d] = all.column(d)[size_t(e)];
    f(at, all.value_bytes() + size_t(e) * size_of(type()));
  }
}

// ---- statements ----

Access TensorBase::access(std::vector<IndexVar> indices) const { return Access(state_, std::move(indices)); }

Schedule TensorBase::schedule() const {
  if (!state_->current)
    throw UserError(fmt::format("{} has no statement to schedule", shown(var())),
                    "assign to it first: a(i) = B(i, j) * c(j)");
  return Schedule(state_->current);
}

void TensorBase::compile() {
  collectively([&] { waiting().compile(*state_); });
}
void TensorBase::compute() {
  collectively([&] { waiting().compute(*state_); });
}

std::string TensorBase::statement() const {
  if (!state_->current) return "";
  return Statement(state_->current).str();
}

std::string TensorBase::plan() const {
  return collectively([&] {
    waiting().compile(*state_);
    return state_->current->execution->plan();
  });
}

Report TensorBase::report() const {
  return collectively([&] {
    data_of(*state_);
    if (!state_->current || !state_->current->execution)
      throw UserError(fmt::format("{} was not computed", shown(var())), "assign to it first: a(i) = B(i, j) * c(j)");
    return state_->current->execution->report();
  });
}

std::string TensorBase::kernel() const {
  return collectively([&] {
    waiting().compile(*state_);
    return state_->current->execution->kernel();
  });
}

}  // namespace spdistal
