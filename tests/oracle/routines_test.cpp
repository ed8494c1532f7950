// Leaf routines in the place of loops, against the dense evaluator: on pieces that have more than the loops come to, in place inside of
// larger arrays, from nothing and on top of what is there; and whole statements by the public face.
#include <gtest/gtest.h>

#include <complex>
#include <cstdlib>
#include <spdistal/spdistal.hpp>

#include "oracle/named_pieces.hpp"
#include "process/process.hpp"
#include "routine/registry.hpp"
#include "support/leaves.hpp"
#include "support/own_leaves.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using test::check_named;
using test::Named;
using test::Sizes;

// Before anything asks for a GPU.
const bool asked_for = [] {
  const char* wanted = std::getenv("TEST_GPU");
  bool real = wanted && std::string_view(wanted) == "cuda";
  return setenv("SPDISTAL_GPU", real ? "cuda" : "interpreted:2", 1) == 0;
}();
bool has_cuda() {
  const char* wanted = std::getenv("TEST_GPU");
  return wanted && std::string_view(wanted) == "cuda";
}

bool has_blas() {
  try {
    routine::routines("gemm")[0]->find({});
    return true;
  } catch (const UserError&) { return false; }
}

// ---- pieces ----

std::vector<Named> products(const std::string& leaf) {
  auto by = [&](const std::string& loops) { return "; substitute({" + loops + "}," + leaf + ")"; };
  const std::string rows = "reorder(i,k,j); divide(i,io,ii,M.x); distribute(io)" + by("ii,k,j");
  const std::string tiles =
      "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); distribute({io,jo})";
  return {
      {"ByRows", "A(i,j) = B(i,k) * C(k,j)", "", rows},
      {"AddedByRows", "A(i,j) += B(i,k) * C(k,j)", "", rows},
      {"OfTransposedMatrices", "A(i,j) = B(k,i) * C(j,k)", "", rows},
      {"OfATransposedMatrix", "A(i,j) = B(k,i) * C(k,j)", "", rows},
      {"IntoATransposedMatrix", "A(j,i) = B(i,k) * C(k,j)", "", rows},
      {"ByColumns", "A(i,j) = B(i,k) * C(k,j)", "A:dd:1,0 B:dd:1,0", rows},
      {"OfOneMatrix", "A(i,j) = B(i,k) * B(k,j)", "", rows, 1, Sizes::Same},
      {"WithTheOtherFactorFirst", "A(i,j) = C(k,j) * B(i,k)", "", rows},
      {"BySumma", "A(i,j) = B(i,k) * C(k,j)", "", tiles + by("ii,ji,ki"), 3},
      {"ByTilesWithALoopAroundTheRoutine", "A(i,j) = B(i,k) * C(k,j)", "", tiles + by("ii,ji,ki"), 2},
      {"ByCannon", "A(i,j) = B(i,k) * C(k,j)", "",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); "
       "rotate(ko,{io,jo},kos); "
       "distribute({io,jo})" +
           by("ii,ji,ki"),
       3},
      {"ByRowsOneByOne", "A(i,j) = B(i,k) * C(k,j)", "", "reorder(i,k,j); distribute(i)" + by("k,j")},
      {"InBlocksOfBlocks", "A(i,j) = B(i,k) * C(k,j)", "",
       "reorder(i,k,j); divide(i,io,ii,M.x); split(ii,iio,iii,2); distribute(io)" + by("iii,k,j"), 1},
      {"AllOfIt", "A(i,j) = B(i,k) * C(k,j)", "", "reorder(i,k,j)" + by("i,j,k"), 0},
  };
}

void check_on_pieces(const Named& named, int seeds) {
  Process process(test::options_for(test::Leaves::Interpreted));
  for (uint64_t seed = 1; seed <= uint64_t(seeds) && !::testing::Test::HasFailure(); seed++) try {
      auto caller = [&](const Leaf& leaf) -> RunKernel {
        return [&code = leaf.code(process)](spd_call& call) { code(call); };
      };
      check_named(named, seed, caller, test::MachineSize::Known);  // as it is when a statement runs
    } catch (const std::exception& error) { FAIL() << "seed " << seed << ": " << error.what(); }
}

class OwnLeaves : public ::testing::TestWithParam<Named> {};
TEST_P(OwnLeaves, AreRightOnPieces) {
  test::register_own_leaves();
  check_on_pieces(GetParam(), 30);
}
INSTANTIATE_TEST_SUITE_P(Products, OwnLeaves, ::testing::ValuesIn(products("own")), test::name_of);

class Gemm : public ::testing::TestWithParam<Named> {};
TEST_P(Gemm, IsRightOnPieces) {
  if (!has_blas()) GTEST_SKIP() << "there is no BLAS";
  check_on_pieces(GetParam(), 30);
}
INSTANTIATE_TEST_SUITE_P(Products, Gemm, ::testing::ValuesIn(products("gemm")), test::name_of);

TEST(OwnLeaves, CopyAndMultiplyElementsOfPieces) {
  test::register_own_leaves();
  for (const Named& named :
       std::vector<Named>{{"", "a(i) = b(i)", "", "divide(i,io,ii,M.x); distribute(io); substitute({ii},own)"},
                          {"", "a(i) += b(i)", "", "divide(i,io,ii,M.x); distribute(io); substitute({ii},own)"},
                          {"", "A(i,j) = B(j,i)", "", "divide(i,io,ii,M.x); distribute(io); substitute({ii,j},own)"},
                          {"", "a(i) = b(i) * c(i)", "", "split(i,io,ii,3); distribute(io); substitute({ii},own)"}})
    check_on_pieces(named, 20);
}

// ---- whole statements ----

template <class T>
class Typed : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Typed, Types);

template <class T>
void multiply_whole(const std::string& leaf) {
  const int64_t m = 7, n = 5, l = 6;
  Tensor<T> A("A", {m, n}, {Dense, Dense}), B("B", {m, l}, {Dense, Dense}), C("C", {l, n}, {Dense, Dense});
  B.fill([](std::span<const int64_t> at) { return T(at[0] + 2 * at[1] % 3); });
  C.fill([](std::span<const int64_t> at) { return T(3 * at[0] - at[1]); });
  IndexVar i("i"), j("j"), k("k");
  auto expect = [&](int64_t times) {
    for (int64_t x = 0; x < m; x++)
      for (int64_t y = 0; y < n; y++) {
        T sum(0);
        for (int64_t z = 0; z < l; z++) sum += T(x + 2 * z % 3) * T(3 * z - y);
        EXPECT_EQ(A.at({x, y}), T(times) * sum) << x << ", " << y;
      }
  };
  A(i, j) = B(i, k) * C(k, j);
  A.schedule().substitute({i, j, k}, leaf);
  A.compute();
  expect(1);
  A(i, j) += B(i, k) * C(k, j);
  A.schedule().substitute({i, j, k}, leaf);
  A.compute();
  expect(2);
}

TYPED_TEST(Typed, OwnLeavesMultiply) {
  test::register_own_leaves();
  multiply_whole<TypeParam>("own");
}
TYPED_TEST(Typed, GemmMultiplies) {
  if (!has_blas()) GTEST_SKIP() << "there is no BLAS";
  multiply_whole<TypeParam>("gemm");
}

TEST(Whole, SumsOfNothingAreZeroWhateverWasThere) {
  test::register_own_leaves();
  for (const std::string leaf : {"own", "gemm"}) {
    if (leaf == "gemm" && !has_blas()) continue;
    Tensor<double> A("A", {3, 2}, {Dense, Dense}), B("B", {3, 0}, {Dense, Dense}), C("C", {0, 2}, {Dense, Dense});
    A.fill(5), B.fill(1), C.fill(1);
    IndexVar i("i"), j("j"), k("k");
    A(i, j) = B(i, k) * C(k, j);
    A.schedule().substitute({i, j, k}, leaf);
    A.compute();
    for (int64_t x = 0; x < 3; x++)
      for (int64_t y = 0; y < 2; y++) EXPECT_EQ(A.at({x, y}), 0) << leaf;
  }
}

TEST(Whole, SampledProductsAreAddedUpInParts) {
  test::register_own_leaves();
  const int64_t n = 9, m = 7;
  Tensor<double> B("B", {n, n}, CSR), S("S", {n, n}, CSR), C("C", {n, m}, {Dense, Dense}),
      D("D", {m, n}, {Dense, Dense});
  for (int64_t row = 0; row < n; row++) B.insert({row, (2 * row) % n}, 3);
  B.pack();
  C.fill(2), D.fill(5);
  IndexVar i("i"), j("j"), k("k"), ko("ko"), ki("ki");
  for (int turn = 0; turn < 2; turn++) {
    S(i, j) = B(i, j) * C(i, k) * D(k, j);
    S.schedule().reorder({i, j, k}).split(k, ko, ki, 3).reorder({ko, i, j, ki}).substitute({i, j, ki}, "own");
    for (int64_t row = 0; row < n; row++) EXPECT_EQ(S.at({row, (2 * row) % n}), 3 * 2 * 5 * m) << row;
  }
}

TEST(Whole, TellsWhoComputed) {
  test::register_own_leaves();
  Tensor<double> a("a", {9}, {Dense}), b("b", {9}, {Dense});
  b.fill(2);
  IndexVar i("i");
  a(i) = b(i);
  a.schedule().substitute({i}, "own");
  a.compute();
  EXPECT_EQ(a.kernel(), "// leaf own\nforall i in 9: substitute own\n  a(i) = b(i)\n");
  EXPECT_EQ(a.report().leaf, "own");
  EXPECT_NE(a.report().str().find("leaf own\n"), std::string::npos);
  EXPECT_EQ(a.at({4}), 2);
}

// As docs/languages.md shows it.
TEST(Whole, TheRoutineOfTheDocumentsMultiplies) {
  register_leaf({.name = "multiply_csr",
                 .statement = "a(i) = B(i,j) * c(j)",
                 .formats = {"B:ds"},
                 .types = {ScalarType::Float64},
                 .run = [](const LeafPiece& piece) {
                   const LeafTensor &a = piece["a"], &B = piece["B"], &c = piece["c"];
                   const LeafArray &pos = B.levels[1].array("pos"), &crd = B.levels[1].array("crd");
                   for (int64_t row = 0; row < a.levels[0].extent; row++) {
                     double sum = piece.start == LeafStart::Combine ? a.as<double>()[row] : 0;
                     for (int64_t p = pos[row]; p < pos[row + 1]; p++)
                       sum += B.as<double>()[p] * c.as<double>()[crd[p] - c.levels[0].first];
                     a.as<double>()[row] = sum;
                   }
                 }});
  const int64_t n = 23;
  Machine M{Grid(4)};
  DistVar u, v;
  Tensor<double> B("B", {n, n}, Format({Dense, Compressed}, Distribution({u, v}, M, {u})));
  Tensor<double> a("a", {n}, {Dense}), c("c", {n}, {Dense});
  for (int64_t row = 0; row < n; row++)
    for (int64_t column : {row / 2, row}) B.insert({row, column}, double(row + 1));
  B.pack();
  c.fill([](std::span<const int64_t> at) { return double(at[0] * at[0]); });
  IndexVar i("i"), j("j"), io("io"), ii("ii");
  a(i) = B(i, j) * c(j);
  a.schedule().divide(i, io, ii, M.x).distribute(io).substitute({ii, j}, "multiply_csr");
  for (int64_t row = 0; row < n; row++)
    EXPECT_EQ(a.at({row}), double((row + 1) * (row * row + (row / 2) * (row / 2)))) << row;
}

// ---- what is refused when a statement is compiled ----

struct Refused : ::testing::Test {
  const int64_t n = 12;
  Machine M{Grid(2)};
  DistVar u, v;
  Format csr{{Dense, Compressed}, Distribution({u, v}, M, {u})};
  Tensor<double> B{"B", {n, n}, csr}, a{"a", {n}, {Dense}}, c{"c", {n}, {Dense}};
  IndexVar i{"i"}, j{"j"}, io{"io"}, ii{"ii"}, iio{"iio"}, iii{"iii"}, jo{"jo"}, ji{"ji"};

  Refused() {
    test::register_own_leaves();
    for (int64_t row = 0; row < n; row++) B.insert({row, (5 * row) % n}, 1);
    B.pack();
    c.fill(1);
    a(i) = B(i, j) * c(j);
  }
};

TEST_F(Refused, APartOfASparsePieceUnlessItIsFetched) {
  a.schedule().divide(i, io, ii, M.x).split(ii, iio, iii, 2).distribute(io).substitute({iii, j}, "own");
  EXPECT_EQ(test::refusal([&] { a.compute(); }),
            "error: substitute: the loop over iio takes a part of B, and own takes sparse pieces whole\n"
            "  zero a\n"
            "  forall io in M.x: distribute\n"
            "    forall iio in ceil(ceil(12 / M.x) / 2)\n"
            "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "      forall iii in 2: substitute own\n"
            "        with ii = iio * 2 + iii < ceil(12 / M.x)\n"
            "        with i = io * ceil(12 / M.x) + ii < 12\n"
            "        forall j in 12\n"
            "          a(i) += B(i,j) * c(j)\n"
            "hint: communicate({B}, iio) fetches just that part");
  a(i) = B(i, j) * c(j);
  a.schedule().divide(i, io, ii, M.x).split(ii, iio, iii, 2).distribute(io).communicate({B}, iio);
  a.schedule().substitute({iii, j}, "own");
  for (int64_t row = 0; row < n; row++) EXPECT_EQ(a.at({row}), 1) << row;
}

TEST_F(Refused, LoopsThatCutSparseTensorsInOneProcess) {
  a.schedule().split(i, io, ii, 2).substitute({ii, j}, "own");
  EXPECT_NE(test::refusal([&] { a.compute(); }).find("hint: distribute(io)"), std::string::npos);
}

TEST_F(Refused, ResultsThatStoreWhatComesOut) {
  register_leaf({.name = "adds",
                 .statement = "A(i,j) = B(i,j) + C(i,j)",
                 .formats = {"A:ds", "B:ds", "C:ds"},
                 .run = [](const LeafPiece&) {}});
  Tensor<double> A("A", {n, n}, csr), C("C", {n, n}, csr);
  C.insert({1, 1}, 1);
  C.pack();
  A(i, j) = B(i, j) + C(i, j);
  A.schedule().substitute({i, j}, "adds");
  EXPECT_NE(
      test::refusal([&] { A.compute(); }).find("A stores what comes out of the loops, and adds writes values alone"),
      std::string::npos);
}

// ---- on a GPU ----

struct OnGpu {
  explicit OnGpu(int64_t pieces) : M{Grid(pieces, GPU)} {}
  Machine M;
  DistVar u, v;
  Format vector{{Dense}, Distribution({u}, M, {u})}, rows{{Dense, Dense}, Distribution({u, v}, M, {u})};
  Format csr{{Dense, Compressed}, Distribution({u, v}, M, {u})};
  Format columns{{Dense, Dense}, {1, 0}, Distribution({u, v}, M, {u})};
};

// SpMV, SpMM and SDDMM of a matrix with three elements in each row, twice, by rows in so many pieces.
template <class T>
void multiply_on_gpu(const std::string& leaf, int64_t pieces, bool by_columns = false) {
  OnGpu on(pieces);
  const int64_t n = 50, m = 8;
  const Format& dense = by_columns ? on.columns : on.rows;
  Tensor<T> B("B", {n, n}, on.csr), a("a", {n}, on.vector), c("c", {n}, on.vector), A("A", {n, m}, on.rows);
  Tensor<T> C("C", {n, m}, dense), S("S", {n, n}, on.csr), D("D", {m, n}, dense);
  for (int64_t row = 0; row < n; row++)
    for (int64_t step : {0, 1, 7}) B.insert({row, (row + step) % n}, T(1 + step));
  B.pack();
  c.fill([](std::span<const int64_t> at) { return T(at[0]); });
  C.fill([](std::span<const int64_t> at) { return T(at[0] - at[1]); });
  D.fill([](std::span<const int64_t> at) { return T(at[0] + 2 * at[1]); });
  IndexVar i("i"), j("j"), k("k"), io("io"), ii("ii");
  a(i) = B(i, j) * c(j);
  a.schedule().divide(i, io, ii, on.M.x).distribute(io).substitute({ii, j}, leaf);
  A(i, j) = B(i, k) * C(k, j);
  A.schedule().divide(i, io, ii, on.M.x).distribute(io).substitute({ii, k, j}, leaf);
  S(i, j) = B(i, j) * C(i, k) * D(k, j);
  S.schedule().reorder({i, j, k}).divide(i, io, ii, on.M.x).distribute(io).substitute({ii, j, k}, leaf);
  // The same in three parts of the sum, each added to those before.
  Tensor<T> P("P", {n, n}, on.csr);
  IndexVar ko("ko"), ki("ki");
  P(i, j) = B(i, j) * C(i, k) * D(k, j);
  P.schedule().reorder({i, j, k}).divide(i, io, ii, on.M.x).split(k, ko, ki, 3).reorder({io, ko, ii, j, ki});
  P.schedule().distribute(io).substitute({ii, j, ki}, leaf);
  for (int turn = 0; turn < 2; turn++) a.compute(), A.compute(), S.compute(), P.compute();
  for (int64_t row = 0; row < n; row++) {
    int64_t sum = 0;
    for (int64_t step : {0, 1, 7}) sum += (1 + step) * ((row + step) % n);
    EXPECT_EQ(a.at({row}), T(sum)) << row;
    for (int64_t column = 0; column < m; column++) EXPECT_EQ(A.at({row, column}), T(sum - 11 * column)) << row;
    int64_t column = (row + 7) % n, inner = 0;
    for (int64_t x = 0; x < m; x++) inner += (row - x) * (x + 2 * column);
    EXPECT_EQ(S.at({row, column}), T(8 * inner)) << row;
    EXPECT_EQ(P.at({row, column}), T(8 * inner)) << row;
  }
}

// Routines that run where the host can look at the memory of a device: arrays are found there, and nothing else.
TEST(OnGpu, OwnLeavesFindTheirArraysThere) {
  if (has_cuda()) GTEST_SKIP() << "the host cannot look at the memory of a real GPU";
  test::register_own_leaves();
  for (int64_t pieces : {1, 3})
    for (bool by_columns : {false, true}) multiply_on_gpu<double>("own_gpu", pieces, by_columns);
}

// All of the routine but the library: that is one which computes in memory of the host what its documentation says.
void register_with_fake_library() {
  routine::Libraries fake{.cusparse = FAKE_CUSPARSE, .cublas = FAKE_CUSPARSE};
  for (const routine::RoutineHandle& routine : routine::routines("cusparse")) {
    LeafRoutine said = routine->said();
    said.name = "cusparse_on_host";
    said.run = routine->find(fake).run;
    register_leaf(std::move(said));
  }
}
TYPED_TEST(Typed, CusparseIsCalledForWhatItIsToMultiply) {
  if (has_cuda()) GTEST_SKIP() << "the host cannot look at the memory of a real GPU";
  register_with_fake_library();
  for (int64_t pieces : {1, 3})
    for (bool by_columns : {false, true}) multiply_on_gpu<TypeParam>("cusparse_on_host", pieces, by_columns);
}

TYPED_TEST(Typed, CusparseMultiplies) {
  if (!has_cuda()) GTEST_SKIP() << "there is no GPU (TEST_GPU=cuda)";
  for (int64_t pieces : {1, 3})
    for (bool by_columns : {false, true}) multiply_on_gpu<TypeParam>("cusparse", pieces, by_columns);
}

TEST(OnGpu, RoutinesOfTheCpuAreRefused) {
  if (!has_blas()) GTEST_SKIP() << "there is no BLAS";
  OnGpu on(1);
  Tensor<double> A("A", {4, 4}, on.rows), B("B", {4, 4}, on.rows);
  B.fill(1);
  IndexVar i("i"), j("j"), k("k");
  A(i, j) = B(i, k) * B(k, j);
  A.schedule().substitute({i, k, j}, "gemm");
  EXPECT_THROW(A.compute(), UserError);
}

}  // namespace
}  // namespace spdistal
