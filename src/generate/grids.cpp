// Matrices of three-dimensional grids of N x N x N points: stencils, and the KKT system of an optimal control problem
// with control on the boundary.
#include <algorithm>
#include <array>
#include <cmath>

#include "generate/kinds.hpp"

namespace spdistal {
namespace {

constexpr Parameter grid_size{.name = "n", .least = 0, .most = 1 << 18};

using Point = std::array<int64_t, 3>;

Point point(int64_t number, int64_t n) { return {number / (n * n), number / n % n, number % n}; }

void add(Coordinates& out, int64_t i, int64_t j, double value) {
  size_t at = size_t(extend(out, 1));
  out.column(0)[at] = i, out.column(1)[at] = j, out.values<double>()[at] = value;
}

// f(number of the neighbour, how many coordinates differ) for the point itself and all 26 around it that exist.
template <class F>
void around(const Point& p, int64_t n, F&& f) {
  for (int64_t x = std::max<int64_t>(0, p[0] - 1); x <= std::min(n - 1, p[0] + 1); x++)
    for (int64_t y = std::max<int64_t>(0, p[1] - 1); y <= std::min(n - 1, p[1] + 1); y++)
      for (int64_t z = std::max<int64_t>(0, p[2] - 1); z <= std::min(n - 1, p[2] + 1); z++)
        f((x * n + y) * n + z, (x != p[0]) + (y != p[1]) + (z != p[2]));
}

std::vector<int64_t> grid_dims(const Arguments& a) {
  int64_t n = a.integer("n"), points = n * n * n;
  return {points, points};
}

void stencil(const Arguments& a, Range rows, Coordinates& out, int farthest, double diagonal) {
  int64_t n = a.integer("n");
  append_in_parallel(rows, out, [&](Range mine, Coordinates& made) {
    for (int64_t i = mine.lo; i < mine.hi; i++)
      around(point(i, n), n, [&](int64_t j, int distance) {
        if (distance <= farthest) add(made, i, j, distance == 0 ? diagonal : -1);
      });
  });
}

// The system, with unknowns state y (N^3), control u (6 N^2: the points of each face), multiplier l (N^3):
//
//   [ H  0  A' ]    H, R diagonal; A the 27-point stencil; B for each face a 9-point stencil from the controls of the
//   [ 0  R  B' ]    face to its grid points
//   [ A  B  0  ]
struct Kkt {
  int64_t n;
  int64_t points() const { return n * n * n; }
  int64_t face() const { return n * n; }
  int64_t controls() const { return 6 * face(); }
  int64_t size() const { return 2 * points() + controls(); }

  // The point (a, b) of a face: faces 2d and 2d + 1 are the two ends of dimension d.
  int64_t on_face(int64_t f, int64_t a, int64_t b) const {
    int64_t end = f % 2 == 0 ? 0 : n - 1;
    Point p = f / 2 == 0 ? Point{end, a, b} : f / 2 == 1 ? Point{a, end, b} : Point{a, b, end};
    return (p[0] * n + p[1]) * n + p[2];
  }
  template <class F>
  void around_on_face(int64_t a, int64_t b, F&& f) const {
    for (int64_t x = std::max<int64_t>(0, a - 1); x <= std::min(n - 1, a + 1); x++)
      for (int64_t y = std::max<int64_t>(0, b - 1); y <= std::min(n - 1, b + 1); y++) f(x, y);
  }

  void row(int64_t i, Coordinates& out) const {
    int64_t multipliers = points() + controls();
    auto stencil_value = [](int distance) { return distance == 0 ? 26.0 : -1.0; };
    if (i < points()) {
      add(out, i, i, 1);
      around(point(i, n), n, [&](int64_t j, int d) { add(out, i, multipliers + j, stencil_value(d)); });
    } else if (i < multipliers) {
      int64_t u = i - points(), f = u / face(), a = u % face() / n, b = u % n;
      add(out, i, i, 1);
      around_on_face(a, b, [&](int64_t x, int64_t y) { add(out, i, multipliers + on_face(f, x, y), -1); });
    } else {
      Point p = point(i - multipliers, n);
      around(p, n, [&](int64_t j, int d) { add(out, i, j, stencil_value(d)); });
      for (int64_t f = 0; f < 6; f++) {
        size_t d = size_t(f / 2);
        if (p[d] != (f % 2 == 0 ? 0 : n - 1)) continue;
        int64_t a = d == 0 ? p[1] : p[0], b = d == 2 ? p[1] : p[2];
        around_on_face(a, b, [&](int64_t x, int64_t y) { add(out, i, points() + f * face() + x * n + y, -1); });
      }
    }
  }
};

}  // namespace

const GeneratorKind stencil7{
    .name = "stencil7",
    .usage = "stencil7,N",
    .what = "the 7-point stencil of a grid of N x N x N points",
    .parameters = {grid_size},
    .dims = grid_dims,
    .entries = [](const Arguments& a) { return 7 * std::pow(a.real("n"), 3); },
    .rows = [](const Arguments& a, Range rows, Coordinates& out) { stencil(a, rows, out, 1, 6); },
    .values = GeneratorKind::Values::Given};

const GeneratorKind stencil27{
    .name = "stencil27",
    .usage = "stencil27,N",
    .what = "the 27-point stencil of a grid of N x N x N points",
    .parameters = {grid_size},
    .dims = grid_dims,
    .entries = [](const Arguments& a) { return 27 * std::pow(a.real("n"), 3); },
    .rows = [](const Arguments& a, Range rows, Coordinates& out) { stencil(a, rows, out, 3, 26); },
    .values = GeneratorKind::Values::Given};

const GeneratorKind nlpkkt{.name = "nlpkkt",
                           .usage = "nlpkkt,N",
                           .what = "a KKT system of optimal control on a grid of N x N x N points",
                           .parameters = {grid_size},
                           .dims =
                               [](const Arguments& a) {
                                 int64_t size = Kkt{a.integer("n")}.size();
                                 return std::vector<int64_t>{size, size};
                               },
                           .entries = [](const Arguments& a) { return 56 * std::pow(a.real("n"), 3); },
                           .rows =
                               [](const Arguments& a, Range rows, Coordinates& out) {
                                 Kkt system{a.integer("n")};
                                 append_in_parallel(rows, out, [&](Range mine, Coordinates& made) {
                                   for (int64_t i = mine.lo; i < mine.hi; i++) system.row(i, made);
                                 });
                               },
                           .values = GeneratorKind::Values::Given};

}  // namespace spdistal
