// Dense arrays of the caller, copied in and out.
#include <fmt/format.h>

#include <algorithm>

#include "api/collective.hpp"
#include "api/session.hpp"
#include "api/state.hpp"
#include "format/fill.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/tensor.hpp"

namespace spdistal {
namespace {

// Where the elements of a tensor stand in a dense array.
class ArrayPlaces {
 public:
  ArrayPlaces(const std::vector<int64_t>& dims, ArrayOrder order) : strides_(dims.size()) {
    int64_t stride = 1;
    for (size_t k = 0; k < dims.size(); k++) {
      size_t d = order == ArrayOrder::RowMajor ? dims.size() - 1 - k : k;
      strides_[d] = stride;
      stride *= dims[d];
    }
  }
  size_t operator()(std::span<const int64_t> at) const {
    int64_t out = 0;
    for (size_t d = 0; d < at.size(); d++) out += at[d] * strides_[d];
    return size_t(out);
  }

 private:
  std::vector<int64_t> strides_;
};

void check_count(const TensorState& tensor, const std::vector<int64_t>& dims, size_t count) {
  uint64_t elements = std::find(dims.begin(), dims.end(), 0) == dims.end() ? 1 : 0;
  bool fits = true;
  for (int64_t n : dims) fits = fits && !__builtin_mul_overflow(elements, uint64_t(n), &elements);
  if (!fits || elements != count)
    throw UserError(fmt::format("{} has {} elements, the array {}", described(tensor.var),
                                fits ? std::to_string(elements) : "more than 2^64 - 1", count));
}

// The bits in which a value differs from another, which brings the first back: what is nobody's is zeros until then.
template <class T>
T apart(T value, const T& other) {
  auto* bytes = reinterpret_cast<unsigned char*>(&value);
  for (size_t k = 0; k < sizeof(T); k++) bytes[k] ^= reinterpret_cast<const unsigned char*>(&other)[k];
  return value;
}

// Collective. Elements that one rank has, and that are zeros on the others, to all: their bits add up to what they are.
void share(void* values, size_t count, ScalarType type) {
  if (transport().size() == 1) return;
  size_t bytes = count * size_of(type);
  if (type == ScalarType::Bool) transport().allreduce(values, count, type, runtime::ReduceOp::Max);
  else if (bytes % 8 == 0) transport().allreduce(values, bytes / 8, ScalarType::Int64, runtime::ReduceOp::Sum);
  else transport().allreduce(values, bytes / 4, ScalarType::Int32, runtime::ReduceOp::Sum);
}

}  // namespace

Format TensorBase::dense_format(size_t order, ArrayOrder array) {
  std::vector<int> dimensions(order);
  for (size_t k = 0; k < order; k++) dimensions[k] = int(array == ArrayOrder::RowMajor ? k : order - 1 - k);
  return Format(std::vector<LevelFormat>(order, Dense), std::move(dimensions));
}

void TensorBase::copy_dense(const void* values, size_t count, ArrayOrder order) {
  collectively([&] {
    runtime::together(transport(), [&] {
      if (!format().is_dense())
        throw UserError(fmt::format("the format {} is sparse: an array has the values of all elements", format().str()),
                        "give it a dense format; a sparse tensor may be assigned from that: B(i, j) = D(i, j)");
      check_count(*state_, dims(), count);
    });
    fill_pieces(*state_, [&](Home& home) {
      with_type(type(), [&](auto zero) {
        using T = decltype(zero);
        auto* from = static_cast<const T*>(values);
        fill<T>(home,
                [from, place = ArrayPlaces(dims(), order)](std::span<const int64_t> at) { return from[place(at)]; });
      });
    });
  });
}

void TensorBase::write_dense(void* values, size_t count, ArrayOrder order) const {
  collectively([&] {
    const Home& home = data_of(*state_);
    runtime::together(transport(), [&] { check_count(*state_, dims(), count); });
    with_type(type(), [&](auto zero) {
      using T = decltype(zero);
      auto* to = static_cast<T*>(values);
      std::fill_n(to, count, T{});
      const T fill = std::get<T>(static_cast<const ScalarVariant&>(fill_value(format(), type())));
      for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
        std::span<const T> stored = home.piece(c).values<T>();
        for_each_owned(home, c, [&, place = ArrayPlaces(dims(), order)](std::span<const int64_t> at, int64_t position) {
          to[place(at)] = apart(stored[size_t(position)], fill);
        });
      }
      share(values, count, type());
      for (size_t k = 0; k < count && !fills_with_zero(format()); k++) to[k] = apart(to[k], fill);
    });
  });
}

}  // namespace spdistal
