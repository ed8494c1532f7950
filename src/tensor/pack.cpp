#include "tensor/pack.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/threads.hpp"
#include "format/fill.hpp"
#include "level/level.hpp"
#include "memory/copy.hpp"
#include "tensor/iterate.hpp"
#include "tensor/sort.hpp"

namespace spdistal {
namespace {

// For each entry the outermost level in which it differs from the one before.
Array<uint8_t> depths(const Coordinates& entries, const Format& format) {
  std::vector<const int64_t*> columns;
  for (int dimension : format.mode_order()) columns.push_back(entries.column(size_t(dimension)).data());
  Array<uint8_t> out(entries.size());
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (entries.size() > 100000)
  for (int64_t e = 0; e < entries.size(); e++) {
    uint8_t k = 0;
    if (e > 0)
      while (k < columns.size() && columns[k][e] == columns[k][e - 1]) k++;
    out[e] = k;
  }
  return out;
}

Buffer place_values(Coordinates entries, const Groups& groups, const Format& format) {
  if (!groups.position) return std::move(entries).take_values();
  Buffer out = filled_values(groups.positions, format, entries.type());
  with_type(entries.type(), [&](auto zero) {
    using T = decltype(zero);
    auto* to = reinterpret_cast<T*>(out.data());
    const T* from = entries.values<T>().data();
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (groups.count > 100000)
    for (int64_t g = 0; g < groups.count; g++) to[(*groups.position)[g]] = from[g];
  });
  return out;
}

Storage pack_scalar(const Coordinates& merged_entries, const Format& format) {
  Storage out(std::make_shared<const Pattern>(format, std::vector<int64_t>{}, std::vector<LevelArrays>{}),
              merged_entries.type());
  if (!fills_with_zero(format)) out.fill(fill_value(format, merged_entries.type()));
  if (merged_entries.size() > 0)
    memory::copy_bytes(out.value_bytes(), merged_entries.value_bytes(), size_of(merged_entries.type()));
  return out;
}

// Drops what is not in the runs.
void keep_runs(Coordinates& entries, const std::vector<Range>& runs) {
  if (runs.size() == 1 && runs[0] == Range{0, entries.size()}) return;
  with_type(entries.type(), [&](auto zero) {
    std::span<decltype(zero)> values = entries.values<decltype(zero)>();
    size_t to = 0;
    for (const Range& run : runs)
      for (auto e = size_t(run.lo); e < size_t(run.hi); e++, to++) {
        for (size_t d = 0; d < entries.order(); d++) entries.column(d)[to] = entries.column(d)[e];
        values[to] = values[e];
      }
    entries.resize(int64_t(to));
  });
}

}  // namespace

void drop_zeros(Coordinates& entries) {
  with_type(entries.type(), [&](auto zero) {
    using T = decltype(zero);
    std::span<T> values = entries.values<T>();
    size_t to = 0;
    for (size_t e = 0; e < values.size(); e++) {
      if (values[e] == T{}) continue;
      for (size_t d = 0; d < entries.order(); d++) entries.column(d)[to] = entries.column(d)[e];
      values[to++] = values[e];
    }
    entries.resize(int64_t(to));
  });
}

Buffer filled_values(int64_t count, const Format& format, ScalarType type) {
  size_t bytes = size_t(count) * size_of(type);
  if (fills_with_zero(format)) return Buffer::zeroed(bytes);
  Buffer out = Buffer::uninitialized(bytes);
  std::visit(
      [&](const auto& fill) {
        memory::repeat_bytes(out.data(), {reinterpret_cast<const std::byte*>(&fill), sizeof(fill)}, bytes);
      },
      static_cast<const ScalarVariant&>(fill_value(format, type)));
  return out;
}

Storage pack(Coordinates entries, const Format& format) {
  std::vector<Range> whole;
  for (int64_t dim : entries.dims()) whole.push_back({0, dim});
  return pack(std::move(entries), format, whole);
}

Storage pack(Coordinates entries, const Format& format, const std::vector<Range>& bounds) {
  size_t order = format.order();
  if (entries.order() != order)
    throw UserError(fmt::format("a tensor of order {} does not go into format '{}' of order {}", entries.order(),
                                format.str(), order),
                    "a format has one level for each dimension");
  require(bounds.size() == order, "a piece has bounds for each dimension");
  entries.check().value();
  Coordinates sorted = sort_and_merge(std::move(entries), format.mode_order());
  Format local = of_one_piece(format);
  if (order == 0) return pack_scalar(sorted, local);
  for (size_t d = 0; d < order; d++) {
    auto column = sorted.column(d);
    bool whole = bounds[d] == Range{0, sorted.dims()[d]};
    require(whole || std::all_of(column.begin(), column.end(), [&](int64_t c) { return bounds[d].contains(c); }),
            "the entries of a piece lie within its bounds");
  }

  Array<uint8_t> depth = depths(sorted, format);
  Groups groups{.count = sorted.size() > 0, .first = {}, .position = {}, .positions = 1};  // all below one root
  std::vector<LevelArrays> levels;
  for (size_t k = 0; k < order; k++) {
    size_t d = size_t(format.mode_order()[k]);
    PackLevel in{.dim = sorted.dims()[d],
                 .range = bounds[d],
                 .dimension = d,
                 .column = sorted.column(d),
                 .depth = depth.span(),
                 .level = k,
                 .run_end = k + run_length(format, k) - 1,
                 .position_bytes = k + 1 == order ? size_of(sorted.type()) : sizeof(int32_t)};
    levels.push_back(functions_of(format.levels()[k]).pack(in, groups));
  }
  std::vector<int64_t> dims = sorted.dims();
  ScalarType type = sorted.type();
  Buffer values = place_values(std::move(sorted), groups, format);
  return Storage(std::make_shared<const Pattern>(std::move(local), std::move(dims), std::move(levels)), type,
                 std::move(values));
}

Coordinates unpack(const Storage& storage, Zeros zeros) {
  Coordinates out = unpack_positions(storage);
  keep_runs(out, stored_runs(storage.pattern()));
  if (zeros == Zeros::Drop) drop_zeros(out);
  return out;
}

Coordinates unpack_positions(const Storage& storage) {
  const Pattern& pattern = storage.pattern();
  std::vector<Array<int64_t>> columns;  // of the levels so far, for every position of the last of them
  int64_t parents = 1;
  for (size_t k = 0; k < pattern.order(); k++) {
    const LevelArrays& level = pattern.level(k);
    Array<int64_t> coordinate(level.positions), parent(level.positions);
    functions_of(pattern.format().levels()[k]).expand(level, parents, coordinate, parent);
    for (Array<int64_t>& column : columns) {
      Array<int64_t> spread(level.positions);
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000)
      for (int64_t p = 0; p < level.positions; p++) spread[p] = column[parent[p]];
      column = std::move(spread);
    }
    columns.push_back(std::move(coordinate));
    parents = level.positions;
  }
  std::vector<Array<int64_t>> by_dimension(pattern.order());
  for (size_t k = 0; k < columns.size(); k++)
    by_dimension[size_t(pattern.format().mode_order()[k])] = std::move(columns[k]);
  int64_t bytes = storage.nnz() * int64_t(size_of(storage.type()));
  Array<std::byte> values(bytes);
  memory::copy_bytes(values.data(), storage.value_bytes(), size_t(bytes));
  return Coordinates(storage.dims(), storage.type(), std::move(by_dimension), std::move(values));
}

Storage convert(const Storage& storage, const Format& format, Zeros zeros) {
  bool same = storage.format().levels() == format.levels() && storage.format().mode_order() == format.mode_order() &&
              storage.format().fill() == format.fill();
  if (same && zeros == Zeros::Keep) return storage.clone();
  std::vector<Range> bounds(storage.order());
  for (size_t k = 0; k < storage.order(); k++)
    bounds[size_t(storage.format().mode_order()[k])] = storage.pattern().level(k).range;
  return pack(unpack(storage, zeros), format, bounds);
}

}  // namespace spdistal
