#include "spdistal/tensor.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/text.hpp"
#include "driver/session.hpp"
#include "driver/state.hpp"
#include "io/files.hpp"
#include "tensor/distribute.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using notation::TensorVar;

namespace {

runtime::Transport& transport() { return Session::instance().transport(); }

// Entries that wait for pack; made at the first insert.
Coordinates& inserted(TensorState& tensor, const std::vector<int64_t>& dims) {
  if (!tensor.inserted) tensor.inserted.emplace(dims, tensor.var.type());
  return *tensor.inserted;
}

}  // namespace

TensorBase::TensorBase(std::string name, std::vector<Extent> extents, Format format, ScalarType type)
    : TensorBase(std::make_shared<TensorState>(
          TensorVar({Symbol(std::move(name)), type, std::move(extents), std::move(format)}))) {
  remember(state_);
}

TensorBase::TensorBase(std::shared_ptr<TensorState> state)
    : TensorRef(std::shared_ptr<const TensorVar>(state, &state->var)), state_(std::move(state)) {}

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

void TensorBase::insert_scalar(std::span<const int64_t> at, const Scalar& value) {
  if (at.size() != order())
    throw UserError(fmt::format("{} has {} dimension{}, the entry {} coordinate{}", shown(var()), order(),
                                order() == 1 ? "" : "s", at.size(), at.size() == 1 ? "" : "s"));
  Coordinates& entries = inserted(*state_, dims());
  std::visit([&](auto v) { entries.add(at, v); }, static_cast<const ScalarVariant&>(value));
}

void TensorBase::insert_many(std::span<const std::vector<int64_t>> columns, const void* values, size_t count) {
  if (columns.size() != order())
    throw UserError(fmt::format("{} has {} dimensions, but {} columns of coordinates were given", shown(var()), order(),
                                columns.size()));
  Coordinates& entries = inserted(*state_, dims());
  int64_t before = entries.size();
  for (const std::vector<int64_t>& column : columns)
    if (column.size() != count) throw UserError(fmt::format("{} values, but {} coordinates", count, column.size()));
  entries.resize(before + int64_t(count));
  for (size_t d = 0; d < columns.size(); d++)
    std::copy(columns[d].begin(), columns[d].end(), entries.column(d).begin() + before);
  if (count > 0) std::memcpy(entries.value_bytes() + size_t(before) * size_of(type()), values, count * size_of(type()));
}

void TensorBase::pack() {
  Coordinates entries = state_->inserted ? std::move(*state_->inserted) : Coordinates(dims(), type());
  state_->inserted.reset();
  set_home(*state_, pack_alike(transport(), std::move(entries), format(), shares_of(*state_)));
}

void TensorBase::read_file(const std::string& path) {
  set_whole(*state_, read_storage(path, format(), {.type = type(), .dims = std::nullopt}));
}

void TensorBase::fill_with(const std::function<Scalar(std::span<const int64_t> at)>& value) {
  if (!format().is_dense())
    throw UserError(fmt::format("{} is sparse: only what is stored has a value", shown(var())),
                    "insert entries and pack, or give it a dense format");
  // The pieces stay where they are filled anew, and so does all that was planned for them.
  Coordinates none(dims(), type());
  if (!state_->home) state_->home = spdistal::pack(transport(), std::move(none), format(), shares_of(*state_));
  with_type(type(), [&](auto zero) {
    using T = decltype(zero);
    spdistal::fill<T>(*state_->home, [&](std::span<const int64_t> at) {
      return std::get<T>(static_cast<const ScalarVariant&>(value(at)));
    });
  });
  set_home(*state_, std::move(*state_->home));
}

void TensorBase::write(const std::string& path) const { write_file(*state_, path); }
int64_t TensorBase::nnz() const { return data_of(*state_).nnz(); }

Scalar TensorBase::element(std::span<const int64_t> at) const {
  const Home& home = data_of(*state_);
  if (at.size() != order())
    throw UserError(fmt::format("{} has {} dimensions, not {}", shown(var()), order(), at.size()));
  return with_type(type(), [&](auto zero) { return Scalar(spdistal::at<decltype(zero)>(transport(), home, at)); });
}

void TensorBase::each_local(const std::function<void(std::span<const int64_t> at, const void* value)>& f) const {
  const Home& home = data_of(*state_);
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    const std::byte* values = home.piece(c).value_bytes();
    for_each_owned(home, c, [&](std::span<const int64_t> at, int64_t position) {
      f(at, values + size_t(position) * size_of(type()));
    });
  }
}

void TensorBase::each_element(const std::function<void(std::span<const int64_t> at, const void* value)>& f) const {
  const Storage& storage = whole_of(*state_);
  const std::byte* values = storage.value_bytes();
  for_each_position(storage.pattern(), [&](std::span<const int64_t> at, int64_t position) {
    f(at, values + size_t(position) * size_of(type()));
  });
}

// ---- statements ----

Access TensorBase::access(std::vector<IndexVar> indices) const { return Access(state_, std::move(indices)); }

Schedule TensorBase::schedule() const {
  if (!state_->current)
    throw UserError(fmt::format("{} has no statement to schedule", shown(var())),
                    "assign to it first: a(i) = B(i, j) * c(j)");
  return Schedule(state_->current);
}

void TensorBase::compile() { spdistal::compile(*state_); }
void TensorBase::compute() { spdistal::compute(*state_); }

std::string TensorBase::statement() const {
  if (!state_->current) return "";
  return Statement(state_->current).str();
}

std::string TensorBase::plan() const {
  spdistal::compile(*state_);
  return plan_text(*state_->current);
}

std::string TensorBase::report() const {
  data_of(*state_);
  if (!state_->current)
    throw UserError(fmt::format("{} was not computed", shown(var())), "assign to it first: a(i) = B(i, j) * c(j)");
  return report_text(*state_->current);
}

std::string TensorBase::kernel() const {
  spdistal::compile(*state_);
  return kernel_text(*state_->current);
}

}  // namespace spdistal
