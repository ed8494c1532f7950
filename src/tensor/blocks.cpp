#include "tensor/blocks.hpp"

#include <algorithm>

#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/error.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

// The sizes of the ordinary tensor.
std::vector<int64_t> ordinary_dims(const std::vector<int64_t>& blocked, size_t order) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < order; d++)
    if (__builtin_mul_overflow(blocked[d], blocked[order + d], &out.emplace_back()))
      throw UserError("the blocks along a dimension have more elements than can be counted (2^63)");
  return out;
}

void copy_values(const Coordinates& from, Coordinates& to) {
  if (from.size() > 0)
    memory::copy_bytes(to.value_bytes(), from.value_bytes(), size_t(from.size()) * size_of(from.type()));
}

// Elements of whole blocks that lie outside of the ordinary tensor.
void drop_outside(Coordinates& entries, const std::vector<int64_t>& dims) {
  Coordinates kept(dims, entries.type());
  std::vector<int64_t> at(dims.size());
  with_type(entries.type(), [&](auto zero) {
    auto values = entries.values<decltype(zero)>();
    for (size_t e = 0; e < values.size(); e++) {
      bool inside = true;
      for (size_t d = 0; d < dims.size(); d++) inside &= (at[d] = entries.column(d)[e]) < dims[d];
      if (inside) kept.add(std::span<const int64_t>(at), values[e]);
      else if (values[e] != zero) throw UserError("an element of a block lies outside of the tensor it is part of");
    }
  });
  entries = std::move(kept);
}

Coordinates elements_of(const Home& blocked, const std::vector<int64_t>& dims) {
  size_t order = blocked.order() / 2;
  Coordinates stored = owned_elements(blocked);
  if (!blocked.format().is_dense()) drop_zeros(stored);
  Coordinates out(ordinary_dims(blocked.dims(), order), blocked.type());
  out.resize(stored.size());
  for (size_t d = 0; d < order; d++)
    for (size_t e = 0; e < size_t(stored.size()); e++)
      out.column(d)[e] = stored.column(d)[e] * blocked.dims()[order + d] + stored.column(order + d)[e];
  copy_values(stored, out);
  if (!dims.empty() && dims != out.dims()) drop_outside(out, dims);
  return out;
}

}  // namespace

bool is_in_blocks(const Format& format, const std::vector<int64_t>& dims) {
  const std::vector<int64_t>& blocks = format.blocks();
  return dims.size() == format.order() && std::equal(blocks.begin(), blocks.end(), dims.end() - long(blocks.size()));
}

std::vector<int64_t> stored_dims(const Format& format, const std::vector<int64_t>& dims) {
  if (!is_ordinary(format, dims.size())) return dims;
  const std::vector<int64_t>& blocks = format.blocks();
  std::vector<int64_t> out;
  for (size_t d = 0; d < dims.size(); d++) out.push_back(dims[d] / blocks[d] + (dims[d] % blocks[d] != 0));
  out.insert(out.end(), blocks.begin(), blocks.end());
  return out;
}

Coordinates stored_entries(const Format& format, Coordinates entries) {
  if (!is_ordinary(format, entries.order())) return entries;
  entries.check().value();  // in the coordinates that it was given with
  const std::vector<int64_t>& blocks = format.blocks();
  Coordinates out(stored_dims(format, entries.dims()), entries.type());
  out.resize(entries.size());
  for (size_t d = 0; d < blocks.size(); d++)
    for (size_t e = 0; e < size_t(entries.size()); e++) {
      out.column(d)[e] = entries.column(d)[e] / blocks[d];
      out.column(blocks.size() + d)[e] = entries.column(d)[e] % blocks[d];
    }
  copy_values(entries, out);
  return out;
}

Home put_together(runtime::Transport& transport, const Home& blocked, std::vector<int64_t> dims) {
  Coordinates mine = runtime::together(transport, [&] { return elements_of(blocked, dims); });
  std::vector<LevelFormat> levels(blocked.order() / 2, blocked.format().is_dense() ? LevelFormat(Dense) : Compressed);
  Format format(std::move(levels));
  Shares shares = spdistal::blocked(format, mine.dims(), transport.size());
  return pack(transport, std::move(mine), format, std::move(shares));
}

}  // namespace spdistal
