// Test support: well-known kernels built by hand in kernel IR, with the matrices to run them on.
#pragma once
#include <random>
#include <vector>

#include "ir/build.hpp"
#include "unit/ir/call_data.hpp"
#include "unit/ir/level_arrays.hpp"

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

inline CallData::Level dense(int64_t extent) { return {extent, 0, extent, 0, extent}; }
inline size_t add_csr(CallData& call, Csr& m) {
  CallData::Level rows = dense(m.rows), cols{m.cols};
  cols.end = int64_t(m.crd.size()), cols.pos = CallData::view(m.pos), cols.crd = CallData::view(m.crd);
  return call.tensor({rows, cols}, CallData::view(m.vals));
}

/// a(i) = B(i,j) * c(j), rows divided among threads by non-zeros.
inline Function spmv() {
  FunctionBuilder f("spmv");
  Var a = f.vals("a", 0, ScalarType::Float64, Access::Write);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  Var pos = pos_array(f, "B_pos", 1, 1, ScalarType::Int32), crd = crd_array(f, "B_crd", 1, 1, ScalarType::Int32);
  Var B = f.vals("B", 1, ScalarType::Float64, Access::Read), c = f.vals("c", 2, ScalarType::Float64, Access::Read);
  Var shares = f.shares();
  Var nnz = f.constant("nnz", cast(ScalarType::Int64, load(pos, n)));
  f.parallel("t", shares, [&](Var t) {
    f.comment("Rows that begin within this thread's share of the non-zeros.");
    Var begin = f.constant("begin", select(equal(t, 0), int32(0), lower_bound(pos, int32(0), n, nnz * t / shares)));
    Var end = f.constant("end", select(equal(t + 1, shares), n, lower_bound(pos, int32(0), n, nnz * (t + 1) / shares)));
    f.loop("i", begin, end, [&](Var i) {
      Var sum = f.variable("sum", zero(Float64));
      f.loop("p", load(pos, i), load(pos, i + 1), [&](Var p) { f.increase(sum, load(B, p) * load(c, load(crd, p))); });
      f.store(a, i, sum);
    });
  });
  return f.build();
}

/// The parameters of a CSR matrix that is tensor `t`.
struct CsrParams {
  Var pos, crd, vals;
};
inline CsrParams csr_params(FunctionBuilder& f, const std::string& name, int t, Access access = Access::Read) {
  return {pos_array(f, name + "_pos", t, 1, ScalarType::Int32, access),
          crd_array(f, name + "_crd", t, 1, ScalarType::Int32, access), f.vals(name, t, ScalarType::Float64, access)};
}

/// Divides [0, n) evenly among threads and runs `fill` for each row.
inline void parallel_rows(FunctionBuilder& f, const Var& n, const Var& shares, const std::function<void()>& before,
                          const std::function<void(Var)>& fill) {
  f.parallel("t", shares, [&](Var t) {
    before();
    Var begin = f.constant("begin", cast(ScalarType::Int32, n * t / shares));
    Var end = f.constant("end", cast(ScalarType::Int32, n * (t + 1) / shares));
    f.loop("i", begin, end, fill);
  });
}

/// A(i,k) = B(i,j) * C(j,k) with 32 columns k, accumulated in a small local array.
inline Function spmm32() {
  FunctionBuilder f("spmm");
  Var A = f.vals("A", 0, ScalarType::Float64, Access::Write);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  CsrParams B = csr_params(f, "B", 1);
  Var C = f.vals("C", 2, ScalarType::Float64, Access::Read);
  Var shares = f.shares();
  LoopOptions vector{.kind = LoopKind::Vector};
  auto wide = [](const Var& v) { return cast(ScalarType::Int64, v); };
  parallel_rows(
      f, n, shares, [] {},
      [&](Var i) {
        Var sums = f.allocate("sums", ScalarType::Float64, 32, Fill::Zeroed);
        f.loop("p", load(B.pos, i), load(B.pos, i + 1), [&](Var p) {
          Var j = f.constant("j", load(B.crd, p));
          f.loop(
              "k", int32(0), int32(32),
              [&](Var k) { f.store_add(sums, k, load(B.vals, p) * load(C, wide(j) * 32 + k)); }, vector);
        });
        f.loop(
            "k", int32(0), int32(32), [&](Var k) { f.store(A, wide(i) * 32 + k, load(sums, k)); }, vector);
      });
  return f.build();
}

/// A(i,l) = B(i,j,k) * C(j,l) * D(k,l) with 32 columns l: an accumulator for each row, and one for each fibre.
inline Function mttkrp32() {
  FunctionBuilder f("mttkrp");
  Var A = f.vals("A", 0, ScalarType::Float64, Access::Write);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  Var pos1 = pos_array(f, "B1_pos", 1, 1, ScalarType::Int32), crd1 = crd_array(f, "B1_crd", 1, 1, ScalarType::Int32);
  Var pos2 = pos_array(f, "B2_pos", 1, 2, ScalarType::Int32), crd2 = crd_array(f, "B2_crd", 1, 2, ScalarType::Int32);
  Var B = f.vals("B", 1, ScalarType::Float64, Access::Read);
  Var C = f.vals("C", 2, ScalarType::Float64, Access::Read), D = f.vals("D", 3, ScalarType::Float64, Access::Read);
  Var shares = f.shares();
  LoopOptions vector{.kind = LoopKind::Vector};
  auto at = [](const Expr& row, const Var& l) { return cast(ScalarType::Int64, row) * 32 + l; };
  parallel_rows(
      f, n, shares, [] {},
      [&](Var i) {
        Var sums = f.allocate("sums", ScalarType::Float64, 32, Fill::Zeroed);
        f.loop("p1", load(pos1, i), load(pos1, i + 1), [&](Var p1) {
          Var fibre = f.allocate("fibre", ScalarType::Float64, 32, Fill::Zeroed);
          f.loop("p2", load(pos2, p1), load(pos2, p1 + 1), [&](Var p2) {
            f.loop(
                "l", int32(0), int32(32),
                [&](Var l) { f.store_add(fibre, l, load(B, p2) * load(D, at(load(crd2, p2), l))); }, vector);
          });
          f.loop(
              "l", int32(0), int32(32),
              [&](Var l) { f.store_add(sums, l, load(fibre, l) * load(C, at(load(crd1, p1), l))); }, vector);
        });
        f.loop(
            "l", int32(0), int32(32), [&](Var l) { f.store(A, at(i, l), load(sums, l)); }, vector);
      });
  return f.build();
}

/// Turns counts in pos[1 …] into positions, and makes room for as many coordinates and values.
inline void finish_counts(FunctionBuilder& f, const Var& n, const CsrParams& A) {
  f.store(A.pos, 0, 0);
  f.loop("i", int32(0), n, [&](Var i) { f.store_add(A.pos, i + 1, load(A.pos, i)); });
  Var nnz = f.constant("nnz", load(A.pos, n));
  f.resize(A.crd, nnz);
  f.resize(A.vals, nnz);
}

/// A(i,j) = B(i,j) + C(i,j) + D(i,j): counted, then filled.
inline Function spadd3() {
  FunctionBuilder f("spadd3");
  CsrParams A = csr_params(f, "A", 0, Access::Write);
  std::vector<CsrParams> in{csr_params(f, "B", 1), csr_params(f, "C", 2), csr_params(f, "D", 3)};
  const char* names[] = {"pB", "pC", "pD"};
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  Var shares = f.shares();
  // Merges the three rows i; `emit` is told the coordinate and adds what it likes; then cursors move on.
  auto merge = [&](Var i,
                   const std::function<void(Var j, const std::vector<Var>& at, const std::vector<Expr>& here)>& emit) {
    std::vector<Var> at, end;
    for (size_t s = 0; s < 3; s++) {
      at.push_back(f.variable(names[s], load(in[s].pos, i)));
      end.push_back(f.constant(std::string(names[s]) + "_end", load(in[s].pos, i + 1)));
    }
    f.loop_while(at[0] < end[0] || at[1] < end[1] || at[2] < end[2], [&] {
      std::vector<Expr> crd;
      for (size_t s = 0; s < 3; s++)
        crd.push_back(f.constant(std::string("j") + names[s][1],
                                 select(at[s] < end[s], load(in[s].crd, at[s]), int32(INT32_MAX))));
      Var j = f.constant("j", min(min(crd[0], crd[1]), crd[2]));
      std::vector<Expr> here;
      for (size_t s = 0; s < 3; s++) here.push_back(equal(crd[s], j));
      emit(j, at, here);
      for (size_t s = 0; s < 3; s++) f.increase(at[s], cast(ScalarType::Int32, here[s]));
    });
  };
  parallel_rows(
      f, n, shares, [] {},
      [&](Var i) {
        Var count = f.variable("count", int32(0));
        merge(i, [&](Var, const auto&, const auto&) { f.increase(count, 1); });
        f.store(A.pos, i + 1, count);
      });
  finish_counts(f, n, A);
  parallel_rows(
      f, n, shares, [] {},
      [&](Var i) {
        Var pA = f.variable("pA", load(A.pos, i));
        merge(i, [&](Var j, const std::vector<Var>& at, const std::vector<Expr>& here) {
          Var sum = f.variable("sum", zero(Float64));
          for (size_t s = 0; s < 3; s++) f.when(here[s], [&] { f.increase(sum, load(in[s].vals, at[s])); });
          f.store(A.crd, pA, j);
          f.store(A.vals, pA, sum);
          f.increase(pA, 1);
        });
      });
  return f.build();
}

/// A(i,j) = B(i,j) + C(i,j): counted, then filled, by a merge that is written once.
inline Function spadd_once() {
  FunctionBuilder f("spadd_once");
  CsrParams A = csr_params(f, "A", 0, Access::Write), B = csr_params(f, "B", 1), C = csr_params(f, "C", 2);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32), shares = f.shares();
  Var i = var("i", Int32), fill = var("fill", Bool), at = var("at", Int32);
  Var crd = var("crd", A.crd.type), vals = var("vals", A.vals.type);
  LocalPart merge = f.define("merge", {i, fill}, {at, crd, vals}, [&] {
    Var pB = f.variable("pB", load(B.pos, i)), pC = f.variable("pC", load(C.pos, i));
    Expr more_B = pB < load(B.pos, i + 1), more_C = pC < load(C.pos, i + 1);
    f.loop_while(more_B || more_C, [&] {
      Var jB = f.constant("jB", select(more_B, load(B.crd, pB), int32(INT32_MAX)));
      Var jC = f.constant("jC", select(more_C, load(C.crd, pC), int32(INT32_MAX)));
      Var j = f.constant("j", min(jB, jC));
      f.when(fill, [&] {
        f.store(crd, at, j);
        f.store(vals, at,
                select(equal(jB, j), load(B.vals, pB), zero(Float64)) +
                    select(equal(jC, j), load(C.vals, pC), zero(Float64)));
      });
      f.increase(at, 1);
      f.increase(pB, cast(ScalarType::Int32, equal(jB, j)));
      f.increase(pC, cast(ScalarType::Int32, equal(jC, j)));
    });
  });
  auto each_row = [&](const std::function<void(Var row)>& fill_row) {
    parallel_rows(
        f, n, shares, [] {}, fill_row);
  };
  each_row([&](Var row) {
    Var count = f.variable("count", int32(0));
    f.perform(merge, {row, literal(ir::Scalar::of(false))}, {count, A.crd, A.vals});
    f.store(A.pos, row + 1, count);
  });
  finish_counts(f, n, A);
  each_row([&](Var row) {
    Var pA = f.variable("pA", load(A.pos, row));
    f.perform(merge, {row, literal(ir::Scalar::of(true))}, {pA, A.crd, A.vals});
  });
  return f.build();
}

/// A(i,j) = B(i,k) * C(k,j), all CSR: a dense workspace with a list of the coordinates touched.
inline Function spgemm() {
  FunctionBuilder f("spgemm");
  CsrParams A = csr_params(f, "A", 0, Access::Write), B = csr_params(f, "B", 1), C = csr_params(f, "C", 2);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  Var m = f.number("m", Source::Field::Extent, 2, 1, ScalarType::Int32);
  Var shares = f.shares();
  auto products = [&](Var i, const std::function<void(Var pB, Var pC, Var j)>& each_product) {
    f.loop("pB", load(B.pos, i), load(B.pos, i + 1), [&](Var pB) {
      Var k = f.constant("k", load(B.crd, pB));
      f.loop("pC", load(C.pos, k), load(C.pos, k + 1),
             [&](Var pC) { each_product(pB, pC, f.constant("j", load(C.crd, pC))); });
    });
  };
  std::optional<Var> seen, w, touched;
  parallel_rows(
      f, n, shares, [&] { seen = f.allocate("seen", ScalarType::Int32, m, Fill::Zeroed); },
      [&](Var i) {
        Var count = f.variable("count", int32(0));
        products(i, [&](Var, Var, Var j) {
          f.when(differ(load(*seen, j), i + 1), [&] {
            f.store(*seen, j, i + 1);
            f.increase(count, 1);
          });
        });
        f.store(A.pos, i + 1, count);
      });
  finish_counts(f, n, A);
  auto workspaces = [&] {
    w = f.allocate("w", ScalarType::Float64, m, Fill::Zeroed);
    seen = f.allocate("seen", ScalarType::Bool, m, Fill::Zeroed);
  };
  parallel_rows(f, n, shares, workspaces, [&](Var i) {
    Var pA = f.variable("pA", load(A.pos, i));
    products(i, [&](Var pB, Var pC, Var j) {
      f.when(!load(*seen, j), [&] {
        f.store(*seen, j, true);
        f.store(A.crd, pA, j);
        f.increase(pA, 1);
      });
      f.store_add(*w, j, load(B.vals, pB) * load(C.vals, pC));
    });
    f.sort(A.crd, load(A.pos, i), pA);
    f.loop("p", load(A.pos, i), pA, [&](Var p) {
      Var j = f.constant("j", load(A.crd, p));
      f.store(A.vals, p, load(*w, j));
      f.store(*w, j, 0);
      f.store(*seen, j, false);
    });
  });
  return f.build();
}

}  // namespace spdistal::testing
