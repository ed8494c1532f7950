#include "gpu/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <parallel/algorithm>

namespace spdistal::bench {
namespace {

uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
double unit(uint64_t x) { return double(mixed(x) >> 11) / 9007199254740992.0; }

// Rows by a function that appends the coordinates of one, in order.
template <class F>
Csr matrix(std::string name, int64_t n, int64_t most, F&& row) {
  Csr out{std::move(name), n, std::vector<int32_t>(size_t(n) + 1), {}, {}};
  std::vector<int32_t> crd(size_t(n * most));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) out.pos[size_t(i) + 1] = row(i, &crd[size_t(i * most)]);
  for (size_t i = 0; i < size_t(n); i++) out.pos[i + 1] += out.pos[i];
  out.crd.resize(size_t(out.pos.back()));
  out.values.resize(out.crd.size());
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++)
    for (int32_t p = out.pos[size_t(i)]; p < out.pos[size_t(i) + 1]; p++) {
      out.crd[size_t(p)] = crd[size_t(i * most + p - out.pos[size_t(i)])];
      out.values[size_t(p)] = value_at(uint64_t(p));
    }
  return out;
}

}  // namespace

double value_at(uint64_t k) { return unit(k) + 0.5; }

Csr banded(int64_t n) {
  return matrix(fmt::format("banded {}M x 11", n / 1000000), n, 11, [n](int64_t i, int32_t* crd) {
    int32_t count = 0;
    for (int64_t j = std::max<int64_t>(0, i - 5); j <= std::min(n - 1, i + 5); j++) crd[count++] = int32_t(j);
    return count;
  });
}
Csr uniform(int64_t n) {
  return matrix(fmt::format("uniform {}M x 10", n / 1000000), n, 10, [n](int64_t i, int32_t* crd) {
    for (int64_t k = 0; k < 10; k++) crd[k] = int32_t(mixed(uint64_t(i * 10 + k)) % uint64_t(n));
    std::sort(crd, crd + 10);
    return int32_t(std::unique(crd, crd + 10) - crd);
  });
}
Csr rmat(int scale) {
  size_t n = size_t(1) << scale, edges = n * 16;
  std::vector<uint64_t> keys(edges);
#pragma omp parallel for schedule(static)
  for (size_t e = 0; e < edges; e++) {
    uint64_t r = 0, c = 0;
    for (int b = 0; b < scale; b++) {
      double p = unit(e * 64 + uint64_t(b));
      r = r << 1 | uint64_t(p >= 0.76), c = c << 1 | uint64_t((p >= 0.57 && p < 0.76) || p >= 0.95);
    }
    keys[e] = r << 32 | c;
  }
  __gnu_parallel::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Csr out{fmt::format("R-MAT 2^{}", scale), int64_t(n), std::vector<int32_t>(n + 1), {}, {}};
  for (uint64_t key : keys) out.pos[(key >> 32) + 1]++, out.crd.push_back(int32_t(key & 0xffffffff));
  for (size_t i = 0; i < n; i++) out.pos[i + 1] += out.pos[i];
  for (size_t p = 0; p < keys.size(); p++) out.values.push_back(value_at(p));
  return out;
}

Csr shifted(const Csr& from, int64_t by) {
  Csr out = from;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < from.n; i++) {
    auto row = [&](std::vector<int32_t>& of) { return of.begin() + from.pos[size_t(i)]; };
    auto end = out.crd.begin() + from.pos[size_t(i) + 1];
    for (auto at = row(out.crd); at < end; at++) *at = int32_t((*at + by) % from.n);
    std::sort(row(out.crd), end);
  }
  for (size_t p = 0; p < out.values.size(); p++) out.values[p] = value_at(p + (uint64_t(by) << 40));
  return out;
}

Csf tensor(int64_t elements, Spread spread) {
  constexpr uint64_t I = 200000, J = 100000, K = 50000;
  auto count = size_t(elements);
  std::vector<uint64_t> keys(count);
#pragma omp parallel for schedule(static)
  for (size_t t = 0; t < count; t++) {
    auto cubic = [&](uint64_t k, uint64_t n) {
      double x = unit(3 * t + k);
      return std::min(uint64_t(x * x * x * double(n)), n - 1);
    };
    uint64_t fibre = mixed(t) % (count / 4);
    uint64_t i = spread == Spread::Cubic ? cubic(0, I) : mixed(fibre + (1ull << 50)) % I;
    uint64_t j = spread == Spread::Cubic ? cubic(1, J) : mixed(fibre + (1ull << 51)) % J;
    uint64_t k = spread == Spread::Cubic ? cubic(2, K) : mixed(t + (1ull << 52)) % K;
    keys[t] = i << 34 | j << 17 | k;
  }
  __gnu_parallel::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Csf out{fmt::format("{} {}M", spread == Spread::Cubic ? "cubic" : "fibres", elements / 1000000),
          {I, J, K},
          {},
          {},
          {},
          {},
          {}};
  out.slice_pos.assign(I + 1, 0);
  for (size_t p = 0; p < keys.size(); p++) {
    if (p == 0 || keys[p] >> 17 != keys[p - 1] >> 17) {
      out.fibre_pos.push_back(int32_t(p));
      out.fibre_crd.push_back(int32_t(keys[p] >> 17 & 0x1ffff));
      out.slice_pos[(keys[p] >> 34) + 1]++;
    }
    out.crd.push_back(int32_t(keys[p] & 0x1ffff));
    out.values.push_back(value_at(p));
  }
  out.fibre_pos.push_back(int32_t(keys.size()));
  for (size_t i = 0; i < I; i++) out.slice_pos[i + 1] += out.slice_pos[i];
  return out;
}

}  // namespace spdistal::bench
