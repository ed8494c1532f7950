// The paper's first figure, as a user writes it: in one process and under mpirun, on machines of one to seven pieces.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <spdistal/spdistal.hpp>

#include "api/session.hpp"

namespace spdistal {
namespace {

using Matrix = std::map<std::pair<int64_t, int64_t>, double>;

// Every third row is empty, the first and the last among them.
Matrix draw_matrix(int64_t n, int64_t m) {
  std::mt19937_64 random{7};
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  Matrix out;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      if (i % 3 != 0 && i + 1 < n && number(0, 3) == 0) out[{i, j}] = double(number(1, 9));
  return out;
}

// The figure over given data; machines without a number of pieces are left so. Returns the number of pieces it ran on.
int64_t run_figure(std::optional<int64_t> number_of_pieces, int64_t rows, int64_t columns) {
  Param pieces, n, m;
  Machine M{Grid(pieces)};
  DistVar x, y;
  Format BlockedDense({Dense}, Distribution({x}, M, {x}));
  Format ReplDense({Dense}, Distribution({x}, M, {y}));
  Format BlockedCSR({Dense, Compressed}, Distribution({x, y}, M, {x}));
  Tensor<double> a({n}, BlockedDense);
  Tensor<double> B({n, m}, BlockedCSR);
  Tensor<double> c({m}, ReplDense);
  IndexVar i, j, io, ii;
  a(i) = B(i, j) * c(j);
  a.schedule().divide(i, io, ii, M.x).distribute(io).communicate({a, B, c}, io).parallelize(ii, CPUThread);

  if (number_of_pieces) pieces = *number_of_pieces;
  n = rows, m = columns;
  Matrix matrix = draw_matrix(rows, columns);
  for (const auto& [at, value] : matrix) B.insert({at.first, at.second}, value);
  B.pack();
  for (double factor : {1.0, 2.0}) {
    c.fill([&](std::span<const int64_t> at) { return factor * double(at[0] + 1); });
    a.compute();
    std::vector<double> wanted(size_t(rows), 0);
    for (const auto& [at, value] : matrix) wanted[size_t(at.first)] += value * factor * double(at.second + 1);
    std::vector<double> found(size_t(rows), -1);
    for (const auto& [at, value] : a.gather()) found[size_t(at[0])] = value;
    EXPECT_EQ(found, wanted) << rows << " rows on " << *pieces.value() << " pieces";
    if (rows > 1) { EXPECT_EQ(a.at({1}), wanted[1]); }
  }
  return pieces.value().value_or(0);
}

TEST(Figure1, IsRightOnAnyNumberOfPieces) {
  for (int64_t pieces : {1, 2, 3, 4, 7}) EXPECT_EQ(run_figure(pieces, 20, 15), pieces);
}

TEST(Figure1, IsRightWithMorePiecesThanRows) {
  for (int64_t rows : {1, 2, 5})
    for (int64_t pieces : {4, 7}) run_figure(pieces, rows, 6);
}

TEST(Figure1, IsRightForAMatrixOfNothing) {
  for (int64_t pieces : {1, 3}) {
    run_figure(pieces, 3, 0);
    run_figure(pieces, 0, 3);
  }
}

TEST(Figure1, HasAsManyPiecesAsRanksWhereNobodySaidHowMany) {
  EXPECT_EQ(run_figure({}, 20, 15), Session::instance().transport().size());
  EXPECT_EQ(run_figure({}, 2, 3), Session::instance().transport().size());
}

}  // namespace
}  // namespace spdistal
