// Tensors of random places: uniform matrices with so many places drawn per row, and tensors with so many drawn in all,
// evenly or by a power law (each coordinate floor(size * u^3)). What is drawn twice stands once.

#include <algorithm>
#include <bit>
#include <vector>

#include "generate/hash.hpp"
#include "generate/kinds.hpp"

namespace spdistal {
namespace {

constexpr uint64_t row_stream = uint64_t(1) << 50, sample_stream = uint64_t(1) << 54;

bool is_matrix(const Arguments& a) { return a.integers("sizes").size() == 3; }

std::vector<int64_t> dims(const Arguments& a) {
  const std::vector<int64_t>& sizes = a.integers("sizes");
  return {sizes.begin(), sizes.end() - 1};
}

double entries(const Arguments& a) {
  double last = double(a.integers("sizes").back());
  return is_matrix(a) ? last * double(a.integers("sizes")[0]) : last;
}

void matrix_rows(const Arguments& a, Range rows, Coordinates& out) {
  uint64_t columns = uint64_t(a.integers("sizes")[1]), draws = uint64_t(a.integers("sizes")[2]);
  if (columns == 0 || draws == 0) return;
  uint64_t stride = std::max<uint64_t>(16, std::bit_ceil(draws));
  std::vector<int64_t> row(draws);
  out.reserve(rows.size() * int64_t(draws));
  for (int64_t i = rows.lo; i < rows.hi; i++) {
    for (uint64_t t = 0; t < draws; t++)
      row[t] = int64_t(hash_of(seeded(a.seed(), uint64_t(i) * stride + t + row_stream)) % columns);
    std::sort(row.begin(), row.end());
    int64_t count = std::unique(row.begin(), row.end()) - row.begin();
    int64_t at = extend(out, count);
    std::fill_n(out.column(0).begin() + at, count, i);
    std::fill_n(out.values<double>().begin() + at, count, 0.0);
    std::copy_n(row.begin(), count, out.column(1).begin() + at);
  }
}

// All samples whose first coordinate lies in the rows, duplicates included.
template <class Bend>
void draw(const Arguments& a, Range rows, Coordinates& out, Bend&& bend) {
  std::vector<int64_t> sizes = dims(a);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  uint64_t samples = uint64_t(a.integers("sizes").back()), stride = std::bit_ceil(std::max<uint64_t>(4, sizes.size()));
  append_in_parallel({0, int64_t(samples)}, out, [&](Range mine, Coordinates& made) {
    auto coordinate = [&](int64_t s, size_t d) {
      double u = bend(unit(hash_of(seeded(a.seed(), uint64_t(s) * stride + d + sample_stream))));
      return std::min(sizes[d] - 1, int64_t(u * double(sizes[d])));
    };
    for (int64_t s = mine.lo; s < mine.hi; s++) {
      int64_t first = coordinate(s, 0);
      if (!rows.contains(first)) continue;
      size_t at = size_t(extend(made, 1));
      made.column(0)[at] = first;
      for (size_t d = 1; d < sizes.size(); d++) made.column(d)[at] = coordinate(s, d);
      made.values<double>()[at] = 0;  // made from the coordinates later
    }
  });
}

void uniform_rows(const Arguments& a, Range rows, Coordinates& out) {
  if (is_matrix(a))
    return append_in_parallel(rows, out, [&](Range mine, Coordinates& made) { matrix_rows(a, mine, made); });
  draw(a, rows, out, [](double u) { return u; });
}

void powerlaw_rows(const Arguments& a, Range rows, Coordinates& out) {
  draw(a, rows, out, [](double u) { return u * u * u; });
}

}  // namespace

const GeneratorKind uniform{.name = "uniform",
                            .usage = "uniform,ROWS,COLUMNS,PER_ROW or uniform,SIZE,SIZE,SIZE,…,SAMPLES",
                            .what = "a matrix with PER_ROW places drawn in each row, or a tensor of SAMPLES places",
                            .parameters = {{.name = "sizes", .kind = Parameter::Kind::Integers, .at_least = 3}},
                            .dims = dims,
                            .entries = entries,
                            .rows = uniform_rows,
                            .duplicates = GeneratorKind::Duplicates::Dropped};

const GeneratorKind powerlaw{.name = "powerlaw",
                             .usage = "powerlaw,SIZE,SIZE,…,SAMPLES",
                             .what = "a tensor of SAMPLES places, dense at the first coordinates",
                             .parameters = {{.name = "sizes", .kind = Parameter::Kind::Integers, .at_least = 2}},
                             .dims = dims,
                             .entries = [](const Arguments& a) { return double(a.integers("sizes").back()); },
                             .rows = powerlaw_rows,
                             .duplicates = GeneratorKind::Duplicates::Dropped};

}  // namespace spdistal
