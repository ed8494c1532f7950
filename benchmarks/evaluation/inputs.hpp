// Inputs of the evaluation: every element depends on its coordinates alone, so that each rank makes its own rows and all
// systems see the same tensors.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace evaluation {

inline uint64_t scramble(uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 29)) * 0x94D049BB133111EBull;
  return x ^ (x >> 32);
}
/// In [0, 1), a different one for every stream and number.
inline double chance(uint64_t stream, uint64_t number) {
  return double(scramble(scramble(stream) ^ scramble(number)) >> 11) * 0x1.0p-53;
}
/// What the result of a kernel is weighed with to be compared.
inline double weight(uint64_t row, uint64_t column) { return chance(row, column) - 0.5; }
/// An element of the dense operand of that number.
inline double dense_value(int operand, int64_t row, int64_t column) {
  return 0.5 + chance(uint64_t(operand) << 40 | uint64_t(row), uint64_t(column));
}

constexpr int columns = 32;  // of dense factors

struct Block {
  int64_t lo, hi;
  int64_t size() const { return hi - lo; }
};
/// Blocks of equal size but the last: the distribution that all systems start from.
inline Block block_of(int64_t n, int64_t parts, int64_t part) {
  int64_t each = (n + parts - 1) / parts;
  return {std::min(n, part * each), std::min(n, (part + 1) * each)};
}

/// Rows of a square matrix: the columns of each rise.
struct Rows {
  int64_t n = 0;
  Block rows{0, 0};
  std::vector<int64_t> pos{0};
  std::vector<int32_t> crd;
  std::vector<double> values;

  int64_t count() const { return rows.size(); }
  int64_t nnz() const { return pos.back(); }
};

/// The entries of a tensor of order three, in order.
struct Entries {
  int64_t dims[3];
  std::vector<int64_t> at[3];
  std::vector<double> values;
};

namespace detail {

inline void add_row(Rows& out, int64_t row, std::vector<int32_t>& crd, int shift) {
  for (int32_t& column : crd) column = int32_t((column + shift) % out.n);
  std::sort(crd.begin(), crd.end());
  crd.erase(std::unique(crd.begin(), crd.end()), crd.end());
  for (int32_t column : crd) {
    out.crd.push_back(column);
    out.values.push_back(0.5 + chance(uint64_t(row), uint64_t(column)));
  }
  out.pos.push_back(int64_t(out.crd.size()));
}

// One edge of a recursive matrix: a quadrant for every bit of its coordinates.
inline void edge(int bits, uint64_t number, uint64_t& row, uint64_t& column) {
  row = column = 0;
  for (int bit = 0; bit < bits; bit++) {
    double c = chance(5, number * 64 + uint64_t(bit));
    row = row << 1 | uint64_t(c >= 0.76);
    column = column << 1 | uint64_t((c >= 0.57 && c < 0.76) || c >= 0.95);
  }
}

}  // namespace detail

/// Rows that a part of `parts` has: "banded" (11 bands), "uniform" (10 in a row) or "rmat" (16 in a row, skewed), a million
/// rows at scale 1. Columns are moved by `shift`, around the end.
inline Rows matrix(const std::string& name, double scale, int parts, int part, int shift = 0) {
  Rows out;
  out.n = int64_t(1e6 * scale);
  int bits = 0;
  if (name == "rmat") {
    while ((int64_t(1) << bits) < out.n) bits++;
    out.n = int64_t(1) << bits;
  }
  out.rows = block_of(out.n, parts, part);
  std::vector<int32_t> row;
  if (name == "banded") {
    for (int64_t i = out.rows.lo; i < out.rows.hi; i++) {
      row.clear();
      for (int64_t j = std::max<int64_t>(0, i - 5); j <= std::min(out.n - 1, i + 5); j++) row.push_back(int32_t(j));
      detail::add_row(out, i, row, shift);
    }
  } else if (name == "uniform") {
    for (int64_t i = out.rows.lo; i < out.rows.hi; i++) {
      row.clear();
      for (uint64_t k = 0; k < 10; k++) row.push_back(int32_t(chance(uint64_t(i) + 7, k) * double(out.n)));
      detail::add_row(out, i, row, shift);
    }
  } else if (name == "rmat") {
    std::vector<std::vector<int32_t>> rows(size_t(out.count()));
    for (uint64_t e = 0; e < uint64_t(out.n) * 16; e++) {
      uint64_t i, j;
      detail::edge(bits, e, i, j);
      if (int64_t(i) >= out.rows.lo && int64_t(i) < out.rows.hi)
        rows[size_t(int64_t(i) - out.rows.lo)].push_back(int32_t(j));
    }
    for (int64_t i = 0; i < out.count(); i++) detail::add_row(out, out.rows.lo + i, rows[size_t(i)], shift);
  } else {
    throw std::invalid_argument("there is no matrix " + name);
  }
  return out;
}

/// The entries whose first coordinate a part has: "uniform3" or "skewed3" (few coordinates have most), 5 million at scale 1.
inline Entries tensor(const std::string& name, double scale, int parts, int part) {
  if (name != "uniform3" && name != "skewed3") throw std::invalid_argument("there is no tensor " + name);
  Entries out{{20000, 10000, 5000}, {}, {}};
  Block mine = block_of(out.dims[0], parts, part);
  double power = name == "skewed3" ? 3 : 1;
  std::vector<uint64_t> keys;
  for (uint64_t e = 0; e < uint64_t(5e6 * scale); e++) {
    uint64_t key = 0;
    for (uint64_t d = 0; d < 3; d++)
      key = key * uint64_t(out.dims[d]) + uint64_t(std::pow(chance(11 + d, e), power) * double(out.dims[d]));
    int64_t first = int64_t(key / uint64_t(out.dims[1] * out.dims[2]));
    if (first >= mine.lo && first < mine.hi) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (uint64_t key : keys) {
    out.at[2].push_back(int64_t(key % uint64_t(out.dims[2])));
    out.at[1].push_back(int64_t(key / uint64_t(out.dims[2]) % uint64_t(out.dims[1])));
    out.at[0].push_back(int64_t(key / uint64_t(out.dims[1] * out.dims[2])));
    out.values.push_back(0.5 + chance(3, key));
  }
  return out;
}

}  // namespace evaluation
