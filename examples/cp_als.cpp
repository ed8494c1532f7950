// CP decomposition of a sparse 3-tensor by alternating least squares: T(i,j,k) ≈ A(i,r) * B(j,r) * C(k,r), one factor after the
// other the best for the two that stand. The large products are statements; the small systems are solved on every rank.
#include <array>
#include <cmath>
#include <iostream>
#include <random>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

constexpr int R = 3;
using Small = std::array<std::array<double, R>, R>;

// What belongs to one dimension of T. The small matrices are on every rank.
struct Mode {
  int size;
  Tensor<double> factor, product, gram, inverse;
  Mode(const char* name, int n, const Format& everywhere)
      : size(n),
        factor(name, {n, R}, {Dense, Dense}),
        product(name + std::string("_product"), {n, R}, {Dense, Dense}),
        gram(name + std::string("_gram"), {R, R}, everywhere),
        inverse(name + std::string("_inverse"), {R, R}, everywhere) {}
};

Small values(const Tensor<double>& matrix) {
  Small out{};
  for (const auto& [at, value] : matrix.gather()) out[at[0]][at[1]] = value;
  return out;
}

// Gauss and Jordan; Gram matrices need no pivots.
Small inverted(Small m) {
  Small out{};
  for (int r = 0; r < R; r++) out[r][r] = 1;
  for (int r = 0; r < R; r++) {
    double pivot = m[r][r];
    for (int c = 0; c < R; c++) m[r][c] /= pivot, out[r][c] /= pivot;
    for (int other = 0; other < R; other++) {
      if (other == r) continue;
      double times = m[other][r];
      for (int c = 0; c < R; c++) m[other][c] -= times * m[r][c], out[other][c] -= times * out[r][c];
    }
  }
  return out;
}

// The best factor for the two others: its product with T, times the inverse of their Gram matrices' product.
void improve(Mode& mode, const Mode& one, const Mode& other) {
  mode.product.compute();
  Small system = values(one.gram), second = values(other.gram);
  for (int r = 0; r < R; r++)
    for (int s = 0; s < R; s++) system[r][s] *= second[r][s];
  Small inverse = inverted(system);
  mode.inverse.fill([&](std::span<const int64_t> at) { return inverse[at[0]][at[1]]; });
  mode.factor.compute();
  mode.gram.compute();
}

int main() {
  Machine M{Grid(ranks())};
  DistVar x, y, z;
  Format everywhere({Dense, Dense}, Distribution({x, y}, M, {z}));
  Mode a("A", 30, everywhere), b("B", 24, everywhere), c("C", 20, everywhere);

  // A tensor of rank 3 with few entries: each of its parts lives on some rows of every factor.
  std::mt19937 random(3);
  auto number = [&] { return 0.5 + double(random() % 1000) / 1000; };
  Tensor<double> T("T", {a.size, b.size, c.size}, CSF(3));
  for (int part = 0; part < R; part++) {
    std::array<std::vector<double>, 3> vectors{std::vector<double>(30), std::vector<double>(24),
                                               std::vector<double>(20)};
    for (std::vector<double>& vector : vectors)
      for (double& v : vector) v = random() % 3 == 0 ? number() : 0;
    for (int p = 0; p < a.size; p++)
      for (int q = 0; q < b.size; q++)
        for (int s = 0; s < c.size; s++)
          if (double v = vectors[0][p] * vectors[1][q] * vectors[2][s]; v != 0) T.insert({p, q, s}, v);
  }
  T.pack();

  IndexVar i("i"), j("j"), k("k"), r("r"), s("s");
  for (Mode* mode : {&a, &b, &c}) {
    std::vector<double> start(size_t(mode->size) * R);
    for (double& v : start) v = number();
    mode->factor.fill([&](std::span<const int64_t> at) { return start[size_t(at[0] * R + at[1])]; });
    mode->gram(r, s) = mode->factor(i, r) * mode->factor(i, s);
    mode->gram.compute();
  }

  // A sweep.
  a.product(i, r) = T(i, j, k) * b.factor(j, r) * c.factor(k, r);
  a.factor(i, r) = a.product(i, s) * a.inverse(s, r);
  b.product(j, r) = T(i, j, k) * a.factor(i, r) * c.factor(k, r);
  b.factor(j, r) = b.product(j, s) * b.inverse(s, r);
  c.product(k, r) = T(i, j, k) * a.factor(i, r) * b.factor(j, r);
  c.factor(k, r) = c.product(k, s) * c.inverse(s, r);
  // |T - X|² = |T|² - 2 (T, X) + |X|², where X is the decomposition: no X is ever made.
  Tensor<double> tt("tt"), tx("tx"), xx("xx");
  tt() = T(i, j, k) * T(i, j, k);
  tx() = c.product(k, r) * c.factor(k, r);
  xx() = a.gram(r, s) * b.gram(r, s) * c.gram(r, s);

  double fit = 0, before = -1;
  int sweeps = 0;
  bool rises = true;
  for (; fit - before > 1e-9 && sweeps < 200; sweeps++) {
    improve(a, b, c), improve(b, a, c), improve(c, a, b);
    tx.compute(), xx.compute();
    before = fit;
    fit = 1 - std::sqrt(std::abs(double(tt) - 2 * double(tx) + double(xx)) / double(tt));
    rises &= fit > before - 1e-7;
  }

  if (rank() == 0)
    std::cout << T.dims()[0] << " x " << T.dims()[1] << " x " << T.dims()[2] << " on " << ranks()
              << " ranks: " << sweeps << " sweeps, fit " << fit << (rises ? "" : ", which fell on the way") << "\n";
  return rises && fit > 1 - 1e-5 ? 0 : 1;
}
