// Generated kernels on a GPU beside cuSPARSE's: SpMV, SpMM and SDDMM with 32 columns, double precision, default
// schedules. Results are compared first; times are medians of runs that are waited for one by one.
//
//   bench_gpu [part of the size, default 1]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <spdistal/spdistal.hpp>
#include <vector>

#include "api/session.hpp"
#include "api/state.hpp"
#include "gpu/cusparse.hpp"
#include "memory/mirror.hpp"

using namespace spdistal;

namespace {

constexpr int64_t columns = 32;

struct Csr {
  std::string name;
  int64_t n;
  std::vector<int32_t> pos, crd;
  std::vector<double> values;
};

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
      out.values[size_t(p)] = unit(uint64_t(p)) + 0.5;
    }
  return out;
}

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
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Csr out{fmt::format("R-MAT 2^{}", scale), int64_t(n), std::vector<int32_t>(n + 1), {}, {}};
  for (uint64_t key : keys) out.pos[(key >> 32) + 1]++, out.crd.push_back(int32_t(key & 0xffffffff));
  for (size_t i = 0; i < n; i++) out.pos[i + 1] += out.pos[i];
  for (size_t p = 0; p < keys.size(); p++) out.values.push_back(unit(p) + 0.5);
  return out;
}

template <class F>
double milliseconds(F&& run) {
  Session& session = Session::instance();
  std::vector<double> times;
  for (int k = -3; k < 11; k++) {
    session.wait_for_gpu();
    auto start = std::chrono::steady_clock::now();
    run();
    session.wait_for_gpu();
    if (k >= 0)
      times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double difference(const double* a, const double* b, size_t count) {
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (size_t k = 0; k < count; k++)
    if (a[k] != b[k]) most = std::max(most, std::abs(a[k] - b[k]) / std::max(std::abs(b[k]), 1e-300));
  return most;
}

void line(const std::string& kernel, const std::string& input, double theirs, double ours, double differs) {
  fmt::print("{:<6} {:<18} {:>12.3f} {:>12.3f} {:>8.2f} {:>12.1e}\n", kernel, input, theirs, ours, theirs / ours,
             differs);
  std::fflush(stdout);
}

memory::Buffer on_gpu(const void* data, size_t bytes) {
  memory::Buffer out = memory::Buffer::uninitialized(bytes, memory::device(0));
  runtime::device_at(memory::device(0)).copy(out.data(), data, bytes);
  return out;
}
std::vector<double> fetched(memory::Buffer& from, size_t count) {
  std::vector<double> out(count);
  runtime::Device& gpu = runtime::device_at(memory::device(0));
  gpu.copy(out.data(), from.data(), count * sizeof(double));
  gpu.wait(runtime::Stream{});
  return out;
}

const double* values_of(const TensorBase& tensor) { return data_of(state_of(tensor)).piece(0).values<double>().data(); }

void measure(const Csr& m, const bench::Cusparse& cusparse) {
  auto n = size_t(m.n), dense = n * size_t(columns);
  std::vector<double> x(dense), y(dense);
#pragma omp parallel for
  for (size_t k = 0; k < dense; k++) x[k] = unit(k) + 0.5, y[k] = unit(k + dense) + 0.5;
  Machine M(Grid(1, GPU));
  DistVar u, v;
  Format vector({Dense}, Distribution({u}, M, {u})), rows({Dense, Dense}, Distribution({u, v}, M, {u}));
  Format csr({Dense, Compressed}, Distribution({u, v}, M, {u}));
  IndexVar i, j, k;
  using std::span;
  auto B = Tensor<double>::borrow_rows({m.n, m.n}, span<const int32_t>(m.pos), span<const int32_t>(m.crd),
                                       span<const double>(m.values), csr);
  memory::Buffer pos = on_gpu(m.pos.data(), m.pos.size() * 4), crd = on_gpu(m.crd.data(), m.crd.size() * 4);
  memory::Buffer values = on_gpu(m.values.data(), m.values.size() * 8), X = on_gpu(x.data(), dense * 8);
  memory::Buffer Y = on_gpu(y.data(), dense * 8), out = on_gpu(x.data(), std::max(dense, m.values.size()) * 8);
  bench::DeviceMatrix theirs{m.n, m.n, int64_t(m.crd.size()), pos.data(), crd.data(), values.data()};
  auto best = [&](int ways, auto&& make) {
    double least = 1e30;
    for (int way = 0; way < ways; way++) try {
        bench::Cusparse::Run run = make(way);
        least = std::min(least, milliseconds(run));
      } catch (const std::runtime_error&) {}
    return least;
  };
  {
    auto c = Tensor<double>::borrow({m.n}, span<const double>(x.data(), n), vector);
    Tensor<double> a("a", {m.n}, vector);
    a(i) = B(i, j) * c(j);
    a.compute();
    double before =
        best(bench::Cusparse::spmv_ways, [&](int way) { return cusparse.spmv(theirs, X.data(), out.data(), way); });
    double ours = milliseconds([&] { a.compute(); });
    std::vector<double> wanted = fetched(out, n);
    line("SpMV", m.name, before, ours, difference(values_of(a), wanted.data(), n));
  }
  {
    auto C = Tensor<double>::borrow({m.n, columns}, span<const double>(x), rows);
    Tensor<double> A("A", {m.n, columns}, rows);
    A(i, j) = B(i, k) * C(k, j);
    A.compute();
    double before = best(bench::Cusparse::spmm_ways,
                         [&](int way) { return cusparse.spmm(theirs, X.data(), out.data(), columns, way); });
    double ours = milliseconds([&] { A.compute(); });
    std::vector<double> wanted = fetched(out, dense);
    line("SpMM", m.name, before, ours, difference(values_of(A), wanted.data(), dense));
  }
  {
    auto C = Tensor<double>::borrow({m.n, columns}, span<const double>(x), rows);
    Format by_columns({Dense, Dense}, {1, 0}, Distribution({u, v}, M, {u}));
    auto D = Tensor<double>::borrow({columns, m.n}, span<const double>(y), by_columns);
    Tensor<double> A("A", {m.n, m.n}, csr);
    A(i, j) = B(i, j) * C(i, k) * D(k, j);
    A.compute();
    bench::DeviceMatrix result = theirs;
    result.values = out.data();
    double before = best(1, [&](int) { return cusparse.sddmm(result, X.data(), Y.data(), columns); });
    double ours = milliseconds([&] { A.compute(); });
    std::vector<double> wanted = fetched(out, m.values.size());
    for (size_t p = 0; p < wanted.size(); p++) wanted[p] *= m.values[p];
    line("SDDMM", m.name, before, ours, difference(values_of(A), wanted.data(), wanted.size()));
  }
}

}  // namespace

int main(int count, char** arguments) {
  double part = count > 1 ? std::atof(arguments[1]) : 1;
  Session::instance().gpu();
  auto cusparse = bench::Cusparse::find();
  if (!cusparse) return fmt::print("there is no libcusparse.so to compare with\n"), 1;
  fmt::print("{:<6} {:<18} {:>12} {:>12} {:>8} {:>12}\n", "kernel", "input", "cuSPARSE ms", "spdistal ms", "ratio",
             "difference");
  measure(banded(int64_t(20e6 * part)), *cusparse);
  measure(uniform(int64_t(10e6 * part)), *cusparse);
  measure(rmat(23 + int(std::floor(std::log2(part)))), *cusparse);
}
