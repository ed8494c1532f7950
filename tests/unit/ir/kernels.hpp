// Test support: well-known kernels built by hand in kernel IR, with the matrices to run them on.
#pragma once
#include <random>
#include <vector>

#include "ir/build.hpp"
#include "unit/ir/call.hpp"

namespace spdistal::testing {

using namespace ir;

struct Csr {
  int64_t rows = 0, cols = 0;
  std::vector<int32_t> pos{0}, crd;
  std::vector<double> vals;
  bool operator==(const Csr&) const = default;
};

/// About `per_row` entries in each row, some rows empty; whole numbers as values, so that sums are exact.
inline Csr random_csr(int64_t rows, int64_t cols, int per_row, unsigned seed) {
  std::mt19937 random(seed);
  Csr out{rows, cols, {0}, {}, {}};
  for (int64_t i = 0; i < rows; i++) {
    int64_t wanted = random() % 5 == 0 ? 0 : int64_t(random() % unsigned(2 * per_row + 1));
    for (int64_t j = 0; j < cols; j++)
      if (int64_t(random() % unsigned(cols)) < wanted) {
        out.crd.push_back(int32_t(j));
        out.vals.push_back(double(int(random() % 17) - 8));
      }
    out.pos.push_back(int32_t(out.crd.size()));
  }
  return out;
}
inline std::vector<double> random_dense(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> out(n);
  for (double& x : out) x = double(int(random() % 17) - 8);
  return out;
}

inline Call::Level dense(int64_t extent) { return {extent, 0, extent, 0, extent}; }
inline size_t add_csr(Call& call, Csr& m) {
  Call::Level rows = dense(m.rows), cols{m.cols};
  cols.end = int64_t(m.crd.size()), cols.pos = Call::view(m.pos), cols.crd = Call::view(m.crd);
  return call.tensor({rows, cols}, Call::view(m.vals));
}

/// a(i) = B(i,j) * c(j), rows divided among threads by non-zeros.
inline Function spmv() {
  FunctionBuilder f("spmv");
  Var a = f.vals("a", 0, ScalarType::Float64, Access::Write);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  Var pos = f.pos("B_pos", 1, 1, ScalarType::Int32), crd = f.crd("B_crd", 1, 1, ScalarType::Int32);
  Var B = f.vals("B", 1, ScalarType::Float64, Access::Read), c = f.vals("c", 2, ScalarType::Float64, Access::Read);
  Var threads = f.threads();
  Var nnz = f.constant("nnz", cast(ScalarType::Int64, load(pos, n)));
  f.parallel("t", threads, [&](Var t) {
    f.comment("Rows that begin within this thread's share of the non-zeros.");
    Var begin = f.constant("begin", select(equal(t, 0), int32(0), lower_bound(pos, int32(0), n, nnz * t / threads)));
    Var end =
        f.constant("end", select(equal(t + 1, threads), n, lower_bound(pos, int32(0), n, nnz * (t + 1) / threads)));
    f.loop("i", begin, end, [&](Var i) {
      Var sum = f.variable("sum", zero(Float64));
      f.loop("p", load(pos, i), load(pos, i + 1), [&](Var p) { f.increase(sum, load(B, p) * load(c, load(crd, p))); });
      f.store(a, i, sum);
    });
  });
  return f.build();
}

}  // namespace spdistal::testing
