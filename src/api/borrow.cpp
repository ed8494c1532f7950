// Tensors from arrays of the user: used in place, read and never written, or copied as they lie.
#include <fmt/format.h>

#include "api/collective.hpp"
#include "api/session.hpp"
#include "api/state.hpp"
#include "api/waiting.hpp"
#include "compile/described.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/tensor.hpp"
#include "tensor/distribute.hpp"
#include "tensor/rows.hpp"
#include "tensor/slices.hpp"

namespace spdistal {
namespace {

memory::Buffer borrowed(const void* data, size_t bytes, const std::shared_ptr<const void>& owner) {
  // Who writes to values clones borrowed ones first, and nobody writes to index arrays.
  auto* first = static_cast<std::byte*>(const_cast<void*>(data));
  return memory::Buffer::borrowed({first, bytes}, owner);
}

IndexArray borrowed_indices(const void* data, size_t count, size_t bytes, const std::shared_ptr<const void>& owner) {
  return IndexArray(borrowed(data, count * bytes, owner), IndexWidth(bytes));
}

std::vector<Range> whole(const std::vector<int64_t>& dims) {
  std::vector<Range> out;
  for (int64_t n : dims) out.push_back({0, n});
  return out;
}

// Collective. Arrays of a caller as rows of a matrix. Throws UserError where they are none.
template <class Indices>
Rows rows_of(const TensorState& tensor, int64_t first_row, const Indices& pos, const Indices& crd, const void* values,
             size_t count, const std::shared_ptr<const void>& owner) {
  return runtime::together(transport(), [&] {
    std::vector<int64_t> dims = tensor.ordinary.empty() ? notation::known_dims(tensor.var) : tensor.ordinary;
    if (dims.size() != 2)
      throw UserError(fmt::format("{} has order {}: rows with columns make a matrix", shown(tensor.var), dims.size()));
    ScalarType type = tensor.var.type();
    auto indices = [&](const Indices& from) { return borrowed_indices(from.data, from.count, from.bytes, owner); };
    Rows out{std::move(dims),
             first_row,
             indices(pos),
             indices(crd),
             type,
             {static_cast<const std::byte*>(values), count * size_of(type)},
             owner};
    check(out).value();
    return out;
  });
}

void set_whole(TensorState& tensor, Storage storage) {
  waiting().before_change(tensor);
  set_home(tensor, scatter(transport(), std::move(storage), shares_of(tensor)));
}

}  // namespace

void TensorBase::pack_rows(int64_t first_row, const Indices& pos, const Indices& crd, const void* values, size_t count,
                           Entered entered) {
  collectively([&] {
    Rows rows = rows_of(*state_, first_row, pos, crd, values, count, nullptr);
    runtime::together(transport(), [&] {
      if (entered == Entered::Alike && rows.count() != rows.dims[0])
        throw UserError(fmt::format("{} has {} rows, pos tells of {}", shown(var()), rows.dims[0], rows.count()));
    });
    set_rows(*state_, rows, entered == Entered::Alike ? Inserted::Alike : Inserted::Parts, Loan::ForTheCall);
  });
}

void TensorBase::borrow_own_rows(int64_t first_row, const Indices& pos, const Indices& crd, const void* values,
                                 size_t count, std::shared_ptr<const void> owner) {
  collectively([&] {
    Rows rows = rows_of(*state_, first_row, pos, crd, values, count, owner);
    set_rows(*state_, rows, Inserted::Parts, Loan::ToKeep);
  });
}

void TensorBase::borrow_dense(const void* values, size_t count, std::shared_ptr<const void> owner) {
  Storage storage = runtime::together(transport(), [&] {
    if (!format().is_dense())
      throw UserError(fmt::format("the format {} is sparse: an array has the values of all elements", format().str()),
                      "view_csr and view_csc take sparse matrices; from_coo and from_csr copy into any format");
    PatternHandle pattern = dense_pattern(format(), dims(), whole(dims()), type(), described(var()));
    if (int64_t(count) != pattern->nnz())
      throw UserError(fmt::format("{} has {} elements, the array {}", described(var()), pattern->nnz(), count));
    return Storage(pattern, type(), borrowed(values, count * size_of(type()), owner));
  });
  set_whole(*state_, std::move(storage));
}

void TensorBase::borrow_compressed(const Indices& pos, const Indices& crd, const void* values, size_t count,
                                   std::shared_ptr<const void> owner) {
  Storage storage = runtime::together(transport(), [&] {
    if (order() != 2 || format().levels() != CSR.levels())
      throw UserError(
          fmt::format("the format {} is not that of rows with the coordinates that they store", format().str()),
          "CSR and CSC are; from_csr copies into any format of order two");
    size_t rows = size_t(dims()[size_t(format().mode_order()[0])]);
    if (pos.count != rows + 1 || crd.count != count)
      throw UserError(fmt::format("{} has {} rows, but pos has {} elements, crd {} and there are {} values",
                                  described(var()), rows, pos.count, crd.count, count),
                      "pos has an element more than there are rows; crd has as many as there are values");
    auto indices = [&](const Indices& from) { return borrowed_indices(from.data, from.count, from.bytes, owner); };
    auto level = [&](size_t k, int64_t positions) {
      int64_t n = dims()[size_t(format().mode_order()[k])];
      return LevelArrays{n, {0, n}, positions};
    };
    std::vector<LevelArrays> levels{level(0, int64_t(rows)), level(1, int64_t(count))};
    levels[1].arrays = {{"pos", indices(pos)}, {"crd", indices(crd)}};
    Storage out(std::make_shared<const Pattern>(format(), dims(), std::move(levels)), type(),
                borrowed(values, count * size_of(type()), owner));
    if (auto legal = verify(out); !legal)
      throw UserError(fmt::format("{} cannot use these arrays: {}", described(var()), legal.refusal().message));
    return out;
  });
  set_whole(*state_, std::move(storage));
}

}  // namespace spdistal
