#include "support/random_tensor.hpp"

#include <algorithm>
#include <numeric>

#include "reference/arithmetic.hpp"
#include "support/elements.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal::test {

Format draw_format(std::mt19937_64& random, size_t order) {
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<LevelFormat> levels;
  bool repeats = false;
  for (size_t k = 0; k < order; k++) {
    int kind = number(0, 9);
    if (repeats && number(0, 2) > 0) levels.push_back(Singleton);
    else if (k + 1 < order && kind == 0) levels.push_back(CompressedNonUnique);
    else if (kind < 5) levels.push_back(Compressed);
    else levels.push_back(Dense);
    repeats = levels.back().properties().branchless || !levels.back().properties().unique;
  }
  std::vector<int> modes(order);
  std::iota(modes.begin(), modes.end(), 0);
  if (number(0, 2) == 0) std::shuffle(modes.begin(), modes.end(), random);
  return Format(levels, modes);
}

reference::Array draw_array(std::mt19937_64& random, const notation::TensorVar& tensor) {
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  reference::Array out(ScalarType::Float64, notation::known_dims(tensor));
  int64_t sparsity = tensor.format().is_dense() ? 0 : number(1, 4);  // one of so many more is stored
  for (Scalar& value : out.values)
    if (number(0, sparsity) == 0) value = Scalar(double(number(-3, 3)));
  return out;
}

Storage to_storage(const reference::Array& array, const Format& format) {
  Coordinates entries(array.dims, array.type);
  each_element(array.dims, [&](const std::vector<int64_t>& at, size_t position) {
    if (!format.is_dense() && reference::is_zero(array.values[position])) return;
    std::visit([&](auto v) { entries.add(std::span<const int64_t>(at), v); },
               static_cast<const ScalarVariant&>(array.values[position]));
  });
  return pack(std::move(entries), format);
}

reference::Array to_array(const Storage& storage) {
  reference::Array out(storage.type(), storage.dims());
  with_type(storage.type(), [&](auto zero) {
    for_each<decltype(zero)>(storage, [&](std::span<const int64_t> at, auto value) {
      out.at({at.begin(), at.end()}) = Scalar(value);
    });
  });
  return out;
}

}  // namespace spdistal::test
