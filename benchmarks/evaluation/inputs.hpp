// Inputs of the evaluation: every element depends on its coordinates alone, so that each rank makes its own rows and all
// systems see the same tensors.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "files.hpp"

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
/// The same for two numbers, for a tenth of the time: whoever waits for what is not timed waits for this.
inline double cheap_chance(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15ull + b * 0xC2B2AE3D27D4EB4Full;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ull;
  return double((x ^ (x >> 32)) >> 11) * 0x1.0p-53;
}
/// What the result of a kernel is weighed with to be compared.
inline double weight(int64_t row, int64_t column) { return cheap_chance(uint64_t(row) + 1, uint64_t(column)) - 0.5; }

/// Dense operands have other values in each round, and the first of a kernel twice as large ones in odd rounds: so is the result.
inline double growth(int round) { return round % 2 == 0 ? 1 : 2; }
/// An element of the dense operand of that number: 4 and 7 are second ones.
inline double dense_value(int operand, int64_t row, int64_t column, int round = 0) {
  double grown = operand == 4 || operand == 7 ? 1 : growth(round);
  return grown * (0.5 + cheap_chance(uint64_t(operand) << 40 | uint64_t(row), uint64_t(column)));
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

// How many vertices Mycielski's graph of an order has, and the neighbours of one: the graph of the order before, a copy of each
// of its vertices beside the neighbours of that, and one vertex beside all copies.
inline int64_t mycielskian_size(int order) { return 3 * (int64_t(1) << (order - 2)) - 1; }
inline void mycielskian_row(int order, int64_t vertex, std::vector<int32_t>& out) {
  if (order == 2) return out.push_back(int32_t(1 - vertex));
  int64_t before = mycielskian_size(order - 1);
  if (vertex == 2 * before) {
    for (int64_t v = before; v < 2 * before; v++) out.push_back(int32_t(v));
    return;
  }
  mycielskian_row(order - 1, vertex % before, out);
  if (vertex >= before) return out.push_back(int32_t(2 * before));
  for (size_t k = 0, count = out.size(); k < count; k++) out.push_back(int32_t(out[k] + before));
}

}  // namespace detail

inline bool is_tensor(const std::string& name) {
  return is_tensor_file(name) || name == "uniform3" || name == "skewed3";
}

/// Rows that a part of `parts` has, at scale 1: "banded" (a million of 11), "uniform" (a million of 10), "rmat" (a million of 16,
/// skewed), "mesh" (a million of 5: a square grid), "mycielskian" (24,575, 11 million stored, a twelfth of a row in the mean); or
/// those of a file. Columns are moved by `shift`, around the end.
inline Rows matrix(const std::string& name, double scale, int parts, int part, int shift = 0) {
  Rows out;
  out.n = int64_t(1e6 * scale);
  int bits = 0, order = 0;
  FileEntries file;
  if (name == "rmat") {
    while ((int64_t(1) << bits) < out.n) bits++;
    out.n = int64_t(1) << bits;
  } else if (name == "mesh") {
    out.n = int64_t(std::sqrt(double(out.n))) * int64_t(std::sqrt(double(out.n)));
  } else if (name == "mycielskian") {
    order = std::max(2, int(std::lround(15 + std::log(scale) / std::log(3.0))));
    out.n = detail::mycielskian_size(order);
  } else if (is_matrix_file(name)) {
    file = read_matrix(name);
    out.n = file.dims[0];
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
  } else if (name == "mesh") {
    auto side = int64_t(std::sqrt(double(out.n)));
    for (int64_t i = out.rows.lo; i < out.rows.hi; i++) {
      row.assign(1, int32_t(i));
      if (i % side > 0) row.push_back(int32_t(i - 1));
      if (i % side + 1 < side) row.push_back(int32_t(i + 1));
      if (i >= side) row.push_back(int32_t(i - side));
      if (i + side < out.n) row.push_back(int32_t(i + side));
      detail::add_row(out, i, row, shift);
    }
  } else if (name == "mycielskian") {
    for (int64_t i = out.rows.lo; i < out.rows.hi; i++) {
      row.clear();
      detail::mycielskian_row(order, i, row);
      detail::add_row(out, i, row, shift);
    }
  } else if (is_matrix_file(name)) {
    std::vector<std::vector<int32_t>> rows(size_t(out.count()));
    for (const auto& at : file.at)
      if (at[0] >= out.rows.lo && at[0] < out.rows.hi) rows[size_t(at[0] - out.rows.lo)].push_back(int32_t(at[1]));
    for (int64_t i = 0; i < out.count(); i++) detail::add_row(out, out.rows.lo + i, rows[size_t(i)], shift);
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

/// The entries whose first coordinate a part has: "uniform3" or "skewed3" (few coordinates have most), 5 million at scale 1; or
/// those of a file.
inline Entries tensor(const std::string& name, double scale, int parts, int part) {
  FileEntries file;
  if (is_tensor_file(name)) file = read_tensor(name);
  else if (name != "uniform3" && name != "skewed3") throw std::invalid_argument("there is no tensor " + name);
  Entries out{{20000, 10000, 5000}, {}, {}};
  if (!file.dims.empty()) std::copy(file.dims.begin(), file.dims.end(), out.dims);
  Block mine = block_of(out.dims[0], parts, part);
  std::vector<uint64_t> keys;
  auto add = [&](const auto& at) {
    if (int64_t(at[0]) < mine.lo || int64_t(at[0]) >= mine.hi) return;
    keys.push_back((uint64_t(at[0]) * uint64_t(out.dims[1]) + uint64_t(at[1])) * uint64_t(out.dims[2]) +
                   uint64_t(at[2]));
  };
  for (const auto& at : file.at) add(at);
  double power = name == "skewed3" ? 3 : 1;
  for (uint64_t e = 0; file.dims.empty() && e < uint64_t(5e6 * scale); e++) {
    std::array<int64_t, 3> at;
    for (uint64_t d = 0; d < 3; d++) at[d] = int64_t(std::pow(chance(11 + d, e), power) * double(out.dims[d]));
    add(at);
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
