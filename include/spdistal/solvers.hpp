// Solvers of A x = b, written with statements: they run wherever A, b and x live, on any number of ranks. All calls are
// collective. Not part of spdistal.hpp.
//
//   Tensor<double> x("x", {n}, {Dense});
//   x.fill(0);                                          // where to begin
//   Solution found = conjugate_gradients(A, b, x);
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <vector>

#include "spdistal/error.hpp"
#include "spdistal/tensor.hpp"

namespace spdistal {

struct SolverOptions {
  double tolerance = 1e-6;         // of |b - A x|, relative to |b|
  int64_t most_iterations = 1000;  // each multiplies by A once, in bicgstab twice
  int64_t restart = 30;            // gmres: how many vectors it keeps
};

/// What a solver has done.
struct Solution {
  int64_t iterations = 0;
  double residual = 0;  // |b - A x| / |b|, computed from x as it is
  bool converged = false;
};

namespace solvers {

template <std::floating_point T>
void check(const Tensor<T>& A, const Tensor<T>& b, const Tensor<T>& x, const SolverOptions& how) {
  auto sizes = [](const Tensor<T>& tensor) {
    std::string out;
    for (int64_t n : tensor.dims()) out += (out.empty() ? "" : " x ") + std::to_string(n);
    return out;
  };
  if (A.order() != 2 || b.order() != 1 || x.order() != 1 || A.dims()[0] != A.dims()[1] || A.dims()[0] != b.dims()[0] ||
      b.dims() != x.dims())
    throw UserError("A of size " + sizes(A) + ", b of " + sizes(b) + " and x of " + sizes(x) + " make no system",
                    "A is a square matrix, b and x are vectors with as many elements as it has rows");
  if (!b.format().is_dense() || !x.format().is_dense())
    throw UserError("b and x of a system are dense vectors", "assign a sparse b to a dense one first: d(i) = b(i)");
  if (&b.var() == &x.var())
    throw UserError("b and x of a system are the same tensor", "x may begin as a copy: x(i) = b(i)");
  if (!(how.tolerance >= 0) || how.most_iterations < 0 || how.restart < 1)
    throw UserError("a solver with a tolerance of " + std::to_string(how.tolerance) + ", at most " +
                        std::to_string(how.most_iterations) + " iterations and restarts after " +
                        std::to_string(how.restart) + " cannot run",
                    "tolerance and iterations are not negative, restart is 1 or more");
}

/// What the solvers share: vectors that live as b does, their products, and the judgement of x.
template <std::floating_point T>
class System {
 public:
  System(const Tensor<T>& matrix, const Tensor<T>& right, const Tensor<T>& solution, const SolverOptions& options)
      : A(matrix), b(right), x(solution), how(options), r(vector("r")) {
    check(A, b, x, how);
  }

  Tensor<T> vector(const char* name) const { return {name, b.extents(), b.format()}; }
  T product(const Tensor<T>& one, const Tensor<T>& other) const {
    dot() = one(i) * other(i);
    return T(dot);
  }
  T norm(const Tensor<T>& of) const { return std::sqrt(product(of, of)); }
  /// b - A x, as it was before a sweep; which may update it.
  const Tensor<T>& residual() const { return r; }

  /// `sweep(target, most)` improves x from a residual that is right; it ends where it takes its norm to be at most the target, after
  /// `most` iterations, or where it cannot go on, and tells how many it made. What it takes the residual to be drifts from what it
  /// is: x is judged anew after each sweep, and where it is not good enough yet another one begins from there.
  template <class Sweep>
  Solution solve(Sweep&& sweep) {
    const double size = norm(b);
    if (size == 0) {
      dot() = max(i, abs(b(i)));
      if (T(dot) != 0)
        throw UserError("the squares of the right side are too small for its type",
                        "scale it: the solution scales with it");
      x.fill(T(0));
      return {.iterations = 0, .residual = 0, .converged = true};
    }
    for (Solution out;;) {
      r(i) = b(i) - sum(j, A(i, j) * x(j));
      out.residual = norm(r) / size;
      out.converged = out.residual <= how.tolerance;
      if (out.converged || !std::isfinite(out.residual) || out.iterations >= how.most_iterations) return out;
      int64_t made = sweep(how.tolerance * size, how.most_iterations - out.iterations);
      if (made == 0) return out;
      out.iterations += made;
    }
  }

 private:
  IndexVar i{"i"}, j{"j"};
  Tensor<T> A, b, x;
  SolverOptions how;
  Tensor<T> r, dot{"dot"};
};

}  // namespace solvers

/// Conjugate gradients: A is symmetric and positive definite. x holds where to begin, and then the solution.
template <std::floating_point T>
Solution conjugate_gradients(const Tensor<T>& A, const Tensor<T>& b, Tensor<T>& x, const SolverOptions& how = {}) {
  IndexVar i("i"), j("j");
  solvers::System<T> system(A, b, x, how);
  Tensor<T> r = system.residual(), p = system.vector("p"), q = system.vector("q");
  return system.solve([&](double target, int64_t most) {
    p(i) = r(i);
    T rr = system.product(r, r);
    int64_t made = 0;
    while (made < most && std::sqrt(rr) > target) {
      q(i) = A(i, j) * p(j);
      T pq = system.product(p, q);
      if (!(pq > 0)) break;  // A is not positive definite
      T alpha = rr / pq;
      x(i) += alpha * p(i);
      r(i) = r(i) - alpha * q(i);
      T before = rr;
      rr = system.product(r, r);
      p(i) = r(i) + (rr / before) * p(i);
      made++;
    }
    return made;
  });
}

/// The stabilised method of biconjugate gradients (van der Vorst): any A that is regular. As conjugate_gradients.
template <std::floating_point T>
Solution bicgstab(const Tensor<T>& A, const Tensor<T>& b, Tensor<T>& x, const SolverOptions& how = {}) {
  IndexVar i("i"), j("j");
  solvers::System<T> system(A, b, x, how);
  Tensor<T> r = system.residual(), first = system.vector("first");
  Tensor<T> p = system.vector("p"), v = system.vector("v"), t = system.vector("t");
  return system.solve([&](double target, int64_t most) {
    first(i) = r(i);
    p(i) = r(i);
    T rho = system.product(first, r);
    int64_t made = 0;
    while (made < most && std::isfinite(rho) && rho != 0) {
      v(i) = A(i, j) * p(j);
      T along = system.product(first, v);
      if (along == 0) break;
      T alpha = rho / along;
      x(i) += alpha * p(i);
      r(i) = r(i) - alpha * v(i);
      t(i) = A(i, j) * r(j);
      T tt = system.product(t, t), omega = tt == 0 ? T(0) : system.product(t, r) / tt;
      x(i) += omega * r(i);
      r(i) = r(i) - omega * t(i);
      made++;
      if (omega == 0 || system.norm(r) <= target) break;
      T before = rho;
      rho = system.product(first, r);
      p(i) = r(i) + (rho / before) * (alpha / omega) * (p(i) - omega * v(i));
    }
    return made;
  });
}

/// Generalised minimal residuals (Saad and Schultz), begun anew after `restart` iterations: any A that is regular. As
/// conjugate_gradients.
template <std::floating_point T>
Solution gmres(const Tensor<T>& A, const Tensor<T>& b, Tensor<T>& x, const SolverOptions& how = {}) {
  IndexVar i("i"), j("j");
  solvers::System<T> system(A, b, x, how);
  std::vector<Tensor<T>> basis{system.vector("v")};
  return system.solve([&](double target, int64_t most) {
    // Column k of H is A times vector k in the basis, made triangular by rotations as it comes; g is the right side, likewise.
    std::vector<std::vector<T>> H;
    std::vector<T> cosine, sine, g{system.norm(system.residual())};
    basis[0](i) = system.residual()(i) / g[0];
    size_t k = 0;
    const auto limit = size_t(std::min(most, how.restart));
    for (bool last = false; k < limit && !last && std::abs(g[k]) > target; k++) {
      if (basis.size() == k + 1) basis.push_back(system.vector("v"));
      Tensor<T>& next = basis[k + 1];
      next(i) = A(i, j) * basis[k](j);
      std::vector<T>& column = H.emplace_back();
      for (size_t l = 0; l <= k; l++) {
        column.push_back(system.product(next, basis[l]));
        next(i) = next(i) - column[l] * basis[l](i);
      }
      T left = system.norm(next);
      last = left == 0;  // the solution is in the basis
      if (!last) next(i) = next(i) / left;
      for (size_t l = 0; l < k; l++) {
        T upper = column[l], lower = column[l + 1];
        column[l] = cosine[l] * upper + sine[l] * lower;
        column[l + 1] = cosine[l] * lower - sine[l] * upper;
      }
      T length = std::hypot(column[k], left);
      if (length == 0) break;  // A is singular
      cosine.push_back(column[k] / length), sine.push_back(left / length);
      column[k] = length;
      g.push_back(-sine[k] * g[k]);
      g[k] = cosine[k] * g[k];
    }
    for (size_t row = k; row-- > 0;) {
      for (size_t later = row + 1; later < k; later++) g[row] -= H[later][row] * g[later];
      g[row] = g[row] / H[row][row];
      x(i) += g[row] * basis[row](i);
    }
    return int64_t(k);
  });
}

/// Jacobi's iteration: the diagonal of A outweighs the rest of each row. As conjugate_gradients. Throws UserError where an element of
/// the diagonal is zero.
template <std::floating_point T>
Solution jacobi(const Tensor<T>& A, const Tensor<T>& b, Tensor<T>& x, const SolverOptions& how = {}) {
  IndexVar i("i");
  solvers::System<T> system(A, b, x, how);
  Tensor<T> diagonal = system.vector("diagonal"), inverses("inverses");
  diagonal(i) = A(i, i);
  inverses() = sum(i, abs(1 / diagonal(i)));
  if (!std::isfinite(T(inverses)))
    throw UserError("the diagonal of A has a zero, by which Jacobi's iteration would divide",
                    "reorder the rows of A, or take gmres or bicgstab");
  return system.solve([&](double, int64_t) {
    x(i) += system.residual()(i) / diagonal(i);
    return int64_t(1);
  });
}

}  // namespace spdistal
