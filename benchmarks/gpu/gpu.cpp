// Generated kernels on a GPU beside cuSPARSE's, where it has them: SpMV, SpMM and SDDMM with 32 columns, sums of three and
// products of two sparse matrices, SpTTV and SpMTTKRP, double precision, default schedules. Results are compared first; times are medians of runs that are waited for one by one.
//
//   bench_gpu [part of the size, default 1] [small, dense, sums, tensors or products: these alone]
//             [banded, uniform, rmat, fibres or cubic: of this input alone]
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
#include "gpu/inputs.hpp"
#include "memory/mirror.hpp"
#include "tensor/distribute.hpp"

using namespace spdistal;
using bench::Csr;
using bench::value_at;

namespace {

constexpr int64_t columns = 32;

template <class F>
double milliseconds(F&& run) {
  Session& session = Session::instance();
  std::vector<double> times;
  for (int k = -3; k < 11; k++) {
    session.wait_for_gpus();
    auto start = std::chrono::steady_clock::now();
    run();
    session.wait_for_gpus();
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
  for (size_t k = 0; k < dense; k++) x[k] = value_at(k), y[k] = value_at(k + dense);
  Machine M(Grid(1, GPU));
  DistVar u, v;
  Format vector({Dense}, Distribution({u}, M, {u})), rows({Dense, Dense}, Distribution({u, v}, M, {u}));
  Format csr({Dense, Compressed}, Distribution({u, v}, M, {u}));
  IndexVar i, j, k;
  using std::span;
  auto B = Tensor<double>::view_csr({m.n, m.n}, m.pos, m.crd, m.values, nullptr, csr);
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
    auto c = Tensor<double>::view_dense({m.n}, span<const double>(x.data(), n), vector);
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
    auto C = Tensor<double>::view_dense({m.n, columns}, span<const double>(x), rows);
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
    auto C = Tensor<double>::view_dense({m.n, columns}, span<const double>(x), rows);
    Format by_columns({Dense, Dense}, {1, 0}, Distribution({u, v}, M, {u}));
    auto D = Tensor<double>::view_dense({columns, m.n}, span<const double>(y), by_columns);
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

bench::DeviceMatrix matrix_on_gpu(const Csr& m, std::vector<memory::Buffer>& keep) {
  auto put = [&](const auto& array) {
    keep.push_back(on_gpu(array.data(), array.size() * sizeof(array[0])));
    return static_cast<void*>(keep.back().data());
  };
  void *pos = put(m.pos), *crd = put(m.crd), *values = put(m.values);
  return {m.n, m.n, int64_t(m.crd.size()), pos, crd, values};
}

Tensor<double> borrowed(const Csr& m, const Format& format) {
  using std::span;
  return Tensor<double>::view_csr({m.n, m.n}, m.pos, m.crd, m.values, nullptr, format);
}

void compare_made(const std::string& kernel, const std::string& input, double before, double ours,
                  const TensorBase& result, bench::Cusparse::Made& made) {
  const Storage& stored = data_of(state_of(result)).piece(0);
  auto count = size_t(stored.nnz());
  std::vector<double> wanted = fetched(*made.values, size_t(made.stored));
  double differs = count == wanted.size() ? difference(stored.values<double>().data(), wanted.data(), count) : 1e300;
  line(kernel, input, before, ours, differs);
}

void measure_sums(const Csr& b, const bench::Cusparse& cusparse) {
  Csr c = shifted(b, 1), d = shifted(b, 2);
  Machine M(Grid(1, GPU));
  DistVar u, v;
  Format csr({Dense, Compressed}, Distribution({u, v}, M, {u}));
  IndexVar i, j;
  Tensor<double> B = borrowed(b, csr), C = borrowed(c, csr), D = borrowed(d, csr), A("A", {b.n, b.n}, csr);
  A(i, j) = B(i, j) + C(i, j) + D(i, j);
  A.compute();
  double ours = milliseconds([&] { A.compute(); });
  std::vector<memory::Buffer> keep;
  keep.reserve(9);
  auto first = std::make_shared<bench::Cusparse::Made>(), all = std::make_shared<bench::Cusparse::Made>();
  bench::DeviceMatrix x = matrix_on_gpu(b, keep), y = matrix_on_gpu(c, keep), z = matrix_on_gpu(d, keep);
  bench::Cusparse::Run add = cusparse.add(x, y, first);
  double before = milliseconds([&] {
    add();
    bench::DeviceMatrix sum{b.n, b.n, first->stored, first->pos->data(), first->crd->data(), first->values->data()};
    cusparse.add(sum, z, all)();
  });
  compare_made("SpAdd3", b.name, before, ours, A, *all);
}

void measure_products(const Csr& b, const bench::Cusparse& cusparse) {
  Machine M(Grid(1, GPU));
  DistVar u, v;
  Format csr({Dense, Compressed}, Distribution({u, v}, M, {u}));
  IndexVar i, j, k;
  Tensor<double> B = borrowed(b, csr), C = borrowed(b, csr), A("A", {b.n, b.n}, csr);
  A(i, j) = B(i, k) * C(k, j);
  A.compute();
  double ours = milliseconds([&] { A.compute(); });
  std::vector<memory::Buffer> keep;
  keep.reserve(3);
  auto made = std::make_shared<bench::Cusparse::Made>();
  bench::DeviceMatrix x = matrix_on_gpu(b, keep);
  double before = 0;
  try {
    before = milliseconds(cusparse.multiply(x, x, made));
  } catch (const std::runtime_error& error) { return fmt::print("SpGEMM {} {}\n", b.name, error.what()); }
  compare_made("SpGEMM", b.name, before, ours, A, *made);
}

Tensor<double> borrowed(const bench::Csf& t, const Format& format) {
  Tensor<double> out("B", {t.dims[0], t.dims[1], t.dims[2]}, format);
  auto indices = [](const std::vector<int32_t>& from) {
    return IndexArray::make(int64_t(from.size()), IndexWidth::Int32,
                            [&](auto* to) { std::copy(from.begin(), from.end(), to); });
  };
  auto level = [&](size_t k, size_t positions) {
    return LevelArrays{t.dims[k], {0, t.dims[k]}, int64_t(positions), {}};
  };
  std::vector<LevelArrays> levels{level(0, size_t(t.dims[0])), level(1, t.fibre_crd.size()), level(2, t.crd.size())};
  levels[1].arrays = {{"pos", indices(t.slice_pos)}, {"crd", indices(t.fibre_crd)}};
  levels[2].arrays = {{"pos", indices(t.fibre_pos)}, {"crd", indices(t.crd)}};
  Buffer values = Buffer::uninitialized(t.values.size() * sizeof(double));
  std::copy(t.values.begin(), t.values.end(), reinterpret_cast<double*>(values.data()));
  Storage storage(std::make_shared<const Pattern>(format, out.dims(), std::move(levels)), ScalarType::Float64,
                  std::move(values));
  TensorState& state = state_of(out);
  set_home(state, scatter(Session::instance().transport(), std::move(storage), shares_of(state)));
  return out;
}

// Without a rival: what the loops say is what is compared with.
void measure_tensors(const bench::Csf& t) {
  Machine M(Grid(1, GPU));
  DistVar u, v, w;
  Format vector({Dense}, Distribution({u}, M, {u})), rows({Dense, Dense}, Distribution({u, v}, M, {u}));
  Format csr({Dense, Compressed}, Distribution({u, v}, M, {u}));
  Format csf({Dense, Compressed, Compressed}, Distribution({u, v, w}, M, {u}));
  IndexVar i, j, k, l;
  Tensor<double> B = borrowed(t, csf);
  auto some = [](int64_t n) {
    std::vector<double> out(static_cast<size_t>(n));
    for (size_t p = 0; p < out.size(); p++) out[p] = value_at(p + (1ull << 41));
    return out;
  };
  std::vector<double> x = some(t.dims[2]), y = some(t.dims[1] * columns), z = some(t.dims[2] * columns);
  using std::span;
  {
    auto c = Tensor<double>::view_dense({t.dims[2]}, span<const double>(x), vector);
    Tensor<double> A("A", {t.dims[0], t.dims[1]}, csr);
    A(i, j) = B(i, j, k) * c(k);
    A.compute();
    double ours = milliseconds([&] { A.compute(); });
    std::vector<double> wanted(t.fibre_crd.size());
#pragma omp parallel for
    for (size_t f = 0; f < wanted.size(); f++)
      for (auto p = size_t(t.fibre_pos[f]); p < size_t(t.fibre_pos[f + 1]); p++)
        wanted[f] += t.values[p] * x[size_t(t.crd[p])];
    line("SpTTV", t.name, 0, ours, difference(values_of(A), wanted.data(), wanted.size()));
  }
  auto C = Tensor<double>::view_dense({t.dims[1], columns}, span<const double>(y), rows);
  auto D = Tensor<double>::view_dense({t.dims[2], columns}, span<const double>(z), rows);
  Tensor<double> A("A", {t.dims[0], columns}, rows);
  A(i, l) = B(i, j, k) * C(j, l) * D(k, l);
  A.compute();
  double ours = milliseconds([&] { A.compute(); });
  std::vector<double> wanted(size_t(t.dims[0] * columns));
#pragma omp parallel for schedule(dynamic, 16)
  for (size_t s = 0; s < size_t(t.dims[0]); s++)
    for (auto f = size_t(t.slice_pos[s]); f < size_t(t.slice_pos[s + 1]); f++)
      for (auto p = size_t(t.fibre_pos[f]); p < size_t(t.fibre_pos[f + 1]); p++)
        for (size_t q = 0; q < size_t(columns); q++)
          wanted[s * size_t(columns) + q] +=
              t.values[p] * y[size_t(t.fibre_crd[f]) * size_t(columns) + q] * z[size_t(t.crd[p]) * size_t(columns) + q];
  line("MTTKRP", t.name, 0, ours, difference(values_of(A), wanted.data(), wanted.size()));
}

// A whole call with almost nothing to do, in microseconds.
void measure_small() {
  Csr m = bench::banded(1000);
  Machine M(Grid(1, GPU));
  DistVar u, v;
  Format vector({Dense}, Distribution({u}, M, {u})), csr({Dense, Compressed}, Distribution({u, v}, M, {u}));
  IndexVar i, j;
  Tensor<double> B = borrowed(m, csr), a("a", {m.n}, vector), c("c", {m.n}, vector);
  for (int64_t k = 0; k < m.n; k++) c.insert({k}, 1);
  c.pack();
  a(i) = B(i, j) * c(j);
  a.compute();
  double waited = milliseconds([&] { a.compute(); });
  double of_many = milliseconds([&] {
    for (int k = 0; k < 100; k++) a.compute();
  });
  fmt::print("compute() of an SpMV with 1,000 rows: {:.1f} us waited for, {:.1f} us each of a hundred\n", waited * 1e3,
             of_many * 10);
}

}  // namespace

int main(int count, char** arguments) {
  double part = count > 1 ? std::atof(arguments[1]) : 1;
  Session::instance().gpus();
  auto cusparse = bench::Cusparse::find();
  if (!cusparse) return fmt::print("there is no libcusparse.so to compare with\n"), 1;
  fmt::print("{:<6} {:<18} {:>12} {:>12} {:>8} {:>12}\n", "kernel", "input", "cuSPARSE ms", "spdistal ms", "ratio",
             "difference");
  using namespace bench;
  int smaller = int(std::floor(std::log2(part)));
  auto of_part = [&](double n) { return int64_t(n * part); };
  auto wanted = [&](std::string_view group) { return count < 3 || arguments[2] == group; };
  auto of = [&](std::string_view input) { return count < 4 || arguments[3] == input; };
  if (wanted("small")) measure_small();
  if (wanted("dense")) {
    if (of("banded")) measure(banded(of_part(20e6)), *cusparse);
    if (of("uniform")) measure(uniform(of_part(10e6)), *cusparse);
    if (of("rmat")) measure(rmat(23 + smaller), *cusparse);
  }
  if (wanted("sums")) {
    if (of("banded")) measure_sums(banded(of_part(10e6)), *cusparse);
    if (of("uniform")) measure_sums(uniform(of_part(5e6)), *cusparse);
  }
  if (wanted("tensors")) {
    if (of("fibres")) measure_tensors(tensor(of_part(50e6), Spread::Fibres));
    if (of("cubic")) measure_tensors(tensor(of_part(50e6), Spread::Cubic));
  }
  if (wanted("products")) {
    if (of("banded")) measure_products(banded(of_part(4e6)), *cusparse);
    if (of("uniform")) measure_products(uniform(of_part(1e6)), *cusparse);
    if (of("rmat")) measure_products(rmat(18 + smaller), *cusparse);
  }
}
