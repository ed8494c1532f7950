#include "tensor/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "base/threads.hpp"
#include "format/fill.hpp"
#include "memory/copy.hpp"

namespace spdistal {
namespace {

constexpr int64_t many = 100000;  // worth several threads

}  // namespace

Result<> check(const Rows& rows) {
  int64_t count = rows.crd.size(), values = int64_t(rows.values.size() / size_of(rows.type));
  int64_t begin = rows.pos.empty() ? 0 : rows.pos[0], end = rows.pos.empty() ? 0 : rows.pos[rows.count()];
  if (rows.pos.empty() || begin != 0 || end != count || values != count)
    return Diagnostic{fmt::format("the rows begin at {} and end at {}, but there are {} columns and {} values", begin,
                                  end, count, values),
                      {},
                      "pos begins with 0, has an entry more than there are rows, and ends with the number of values"};
  int64_t fall = rows.count();
  rows.pos.visit([&](auto pos) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (rows.count() > many) reduction(min : fall)
    for (int64_t r = 0; r < rows.count(); r++)
      if (pos[size_t(r)] > pos[size_t(r) + 1]) fall = std::min(fall, r);
  });
  if (fall < rows.count())
    return Diagnostic{
        fmt::format("row {} ends at {}, before it begins at {}", rows.first + fall, rows.pos[fall + 1], rows.pos[fall]),
        {},
        {}};
  return {};
}

bool are_in_order(const Rows& rows) {
  if (rows.first < 0 || rows.first > rows.dims[0] || rows.count() > rows.dims[0] - rows.first) return false;
  bool in_order = true;
  int64_t columns = rows.dims[1];
  rows.pos.visit([&](auto pos) {
    rows.crd.visit([&](auto crd) {
#pragma omp parallel for reduction(&& : in_order) num_threads(loop_threads()) if (rows.crd.size() > many)
      for (int64_t r = 0; r < rows.count(); r++) {
        int64_t last = -1, lo = pos[size_t(r)], hi = pos[size_t(r) + 1];
        bool rises = true;
        for (int64_t p = lo; p < hi; p++) {
          int64_t column = crd[size_t(p)];
          rises &= column > last;
          last = column;
        }
        in_order = in_order && rises && last < columns;
      }
    });
  });
  return in_order;
}

Storage as_storage(const Rows& rows, const Format& format) {
  LevelArrays above{rows.dims[0], {rows.first, rows.first + rows.count()}, rows.count()};
  LevelArrays below{rows.dims[1], {0, rows.dims[1]}, rows.crd.size(), {{"pos", rows.pos}, {"crd", rows.crd}}};
  // Who writes to values clones borrowed ones first.
  auto* values = const_cast<std::byte*>(rows.values.data());
  return Storage(std::make_shared<const Pattern>(of_one_piece(format), rows.dims, std::vector{above, below}), rows.type,
                 Buffer::borrowed({values, rows.values.size()}, rows.owner));
}

Coordinates as_entries(const Rows& rows) {
  Coordinates out(rows.dims, rows.type);
  out.resize(rows.crd.size());
  rows.pos.visit([&](auto pos) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (rows.crd.size() > many)
    for (int64_t r = 0; r < rows.count(); r++)
      std::fill(out.column(0).begin() + pos[size_t(r)], out.column(0).begin() + pos[size_t(r) + 1], rows.first + r);
  });
  rows.crd.visit([&](auto crd) { std::copy(crd.begin(), crd.end(), out.column(1).begin()); });
  memory::copy_large(out.value_bytes(), rows.values.data(), rows.values.size());
  return out;
}

uint64_t hash(const Rows& rows) {
  Hasher out;
  out.all(std::span<const int64_t>(rows.dims));
  out.word(uint64_t(rows.type));
  for (const IndexArray* array : {&rows.pos, &rows.crd})
    out.bytes(static_cast<const std::byte*>(array->data()), array->bytes());
  out.bytes(rows.values.data(), rows.values.size());
  return out.value();
}

}  // namespace spdistal
