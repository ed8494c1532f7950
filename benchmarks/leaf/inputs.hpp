// Matrices and tensors to measure on: every entry depends on the seed and its number alone.
#pragma once
#include <cmath>
#include <string_view>

#include "tensor/pack.hpp"

namespace spdistal::inputs {

inline uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
/// In [0, 1).
inline double unit(uint64_t seed, uint64_t n) { return double(mix(mix(seed) ^ n) >> 11) * 0x1.0p-53; }

/// Entries that f(entry number, coordinates) places.
template <class F>
Coordinates entries(std::vector<int64_t> dims, int64_t count, F&& f) {
  size_t order = dims.size();
  Coordinates out(std::move(dims), ScalarType::Float64);
  out.resize(count);
#pragma omp parallel for
  for (int64_t e = 0; e < count; e++) {
    int64_t at[3];
    f(uint64_t(e), at);
    for (size_t d = 0; d < order; d++) out.column(d)[size_t(e)] = at[d];
    out.values<double>()[size_t(e)] = 0.5 + unit(9, uint64_t(e));
  }
  return out;
}

/// The last coordinate of every entry moved by `shift`, around the end.
inline Coordinates shifted(Coordinates from, int64_t shift) {
  size_t last = from.order() - 1;
  for (int64_t& at : from.column(last)) at = (at + shift) % from.dims()[last];
  return from;
}

inline Coordinates banded(int64_t n, int64_t bands) {
  return entries({n, n}, n * bands, [=](uint64_t e, int64_t* at) {
    at[0] = int64_t(e) / bands;
    at[1] = std::clamp<int64_t>(at[0] + int64_t(e) % bands - bands / 2, 0, n - 1);
  });
}

inline Coordinates uniform(int64_t n, int64_t per_row) {
  return entries({n, n}, n * per_row, [=](uint64_t e, int64_t* at) {
    at[0] = int64_t(e) / per_row;
    at[1] = int64_t(unit(1, e) * double(n));
  });
}

inline Coordinates rmat(int levels, int64_t per_row) {
  int64_t n = int64_t(1) << levels;
  return entries({n, n}, n * per_row, [=](uint64_t e, int64_t* at) {
    at[0] = at[1] = 0;
    for (int level = 0; level < levels; level++) {
      double u = unit(uint64_t(100 + level), e);
      at[0] = at[0] * 2 + (u >= 0.76);
      at[1] = at[1] * 2 + ((u >= 0.57 && u < 0.76) || u >= 0.95);
    }
  });
}

/// Coordinates are dim * u^power.
inline Coordinates tensor3(int64_t count, double power) {
  std::vector<int64_t> dims{20000, 10000, 5000};
  return entries(dims, count, [=](uint64_t e, int64_t* at) {
    for (size_t d = 0; d < 3; d++) at[d] = int64_t(std::pow(unit(200 + d, e), power) * double(dims[d]));
  });
}

inline Storage dense(std::vector<int64_t> dims, uint64_t seed, std::string_view format) {
  std::vector<LevelArrays> levels;
  Format as = Format::parse(format);
  int64_t positions = 1;
  for (int dim : as.mode_order()) {
    int64_t n = dims[size_t(dim)];
    positions *= n;
    levels.push_back({n, {0, n}, positions});
  }
  Storage out(std::make_shared<const Pattern>(as, dims, std::move(levels)), ScalarType::Float64);
#pragma omp parallel for
  for (int64_t p = 0; p < positions; p++) out.values<double>()[size_t(p)] = unit(seed, uint64_t(p));
  return out;
}

}  // namespace spdistal::inputs
