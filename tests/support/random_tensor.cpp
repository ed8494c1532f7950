#include "support/random_tensor.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "format/fill.hpp"
#include "format/registry.hpp"
#include "notation/arithmetic.hpp"
#include "notation/print.hpp"
#include "support/elements.hpp"
#include "support/random_number.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal::test {

namespace {

// Any levels, and dense ones in their elements: blocks.
std::optional<Format> draw_blocks(std::mt19937_64& random, size_t order) {
  std::mt19937_64 apart = random;  // other formats stay what they were
  apart.discard(10);
  if (order < 2 || order % 2 == 1 || !one_in(apart, order == 2 ? 20 : 4)) return {};
  random = apart;
  Format outer = draw_format(random, order / 2);
  std::vector<LevelFormat> levels = outer.levels();
  std::vector<int> modes = outer.mode_order();
  levels.resize(order, Dense);
  for (size_t k = order / 2; k < order; k++) modes.push_back(int(k));
  if (one_in(random, 4)) std::shuffle(modes.begin() + long(order / 2), modes.end(), random);
  try {
    return Format(levels, modes);
  } catch (const UserError&) { return {}; }  // levels that have nothing below them
}

}  // namespace

Format draw_format(std::mt19937_64& random, size_t order) {
  if (std::optional<Format> blocks = draw_blocks(random, order)) return *blocks;
  std::vector<LevelFormat> sparse;
  for (const LevelFormat& level : all_levels())
    if (level != LevelFormat(Dense)) sparse.push_back(level);
  std::vector<int> modes(order);
  std::iota(modes.begin(), modes.end(), 0);
  if (one_in(random, 3)) std::shuffle(modes.begin(), modes.end(), random);
  // Most tensors are of dense and compressed levels; the others take any level anywhere.
  bool any = one_in(random, 3);
  while (true) try {
      std::vector<LevelFormat> levels;
      for (size_t k = 0; k < order; k++) {
        if (number(random, 0, 9) < 4) levels.push_back(Dense);
        else levels.push_back(any ? pick(random, sparse) : LevelFormat(Compressed));
      }
      return Format(levels, modes);
    } catch (const UserError&) {}  // levels that do not go together: another draw
}

reference::DenseArray draw_array(std::mt19937_64& random, const notation::TensorVar& tensor) {
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  reference::DenseArray out(notation::convert(tensor.fill(), ScalarType::Float64), notation::known_dims(tensor));
  int64_t sparsity = tensor.format().is_dense() ? 0 : number(1, 4);  // one of so many more is stored
  for (Scalar& value : out.values)
    if (number(0, sparsity) == 0) value = Scalar(double(number(-3, 3)));
  return out;
}

Storage to_storage(const reference::DenseArray& array, const Format& format) {
  Coordinates entries(array.dims, array.type);
  Scalar fill = fill_value(format, array.type);
  each_element(array.dims, [&](const std::vector<int64_t>& at, size_t position) {
    bool fills = notation::same_number(array.values[position], fill);
    bool absent = array.absent.empty() ? fills : array.absent[position];
    if (!format.is_dense() && absent) return;
    std::visit([&](auto v) { entries.add(std::span<const int64_t>(at), v); },
               static_cast<const ScalarVariant&>(array.values[position]));
  });
  return pack(std::move(entries), format);
}

reference::DenseArray to_array(const Storage& storage) {
  reference::DenseArray out(fill_value(storage.format(), storage.type()), storage.dims());
  if (!storage.format().is_dense()) out.absent.assign(out.values.size(), true);
  with_type(storage.type(), [&](auto zero) {
    for_each<decltype(zero)>(storage, [&](std::span<const int64_t> at, auto value) {
      size_t position = out.position({at.begin(), at.end()});
      out.values[position] = Scalar(value);
      if (!out.absent.empty()) out.absent[position] = false;
    });
  });
  return out;
}

std::string shown(const reference::DenseArray& array) {
  return join(array.values, " ", [](const Scalar& value) { return notation::print(value); });
}

}  // namespace spdistal::test
