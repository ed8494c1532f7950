// The C++ face with data: what tensors hold, and when statements are computed from it.
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>

#include "api/state.hpp"
#include "spdistal/spdistal.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using test::refusal;

const Format dense1({Dense}), dense2({Dense, Dense}), sparse1({Compressed});

// The values of a dense vector, in order.
std::vector<double> values(const Tensor<double>& a) {
  std::vector<double> out;
  for (const auto& [at, value] : a.gather()) out.push_back(value);
  return out;
}

struct Data : ::testing::Test {
  // 2 . . 3
  // . . . .
  // -1 . 4 .
  Tensor<double> B = Tensor<double>::from_coo({3, 4}, {{0, 0, 2, 2}, {0, 3, 0, 2}}, {2, 3, -1, 4}, CSR);
  Tensor<double> a{"a", {3}, dense1}, c{"c", {4}, dense1};
  IndexVar i{"i"}, j{"j"}, k{"k"};

  Data() { c.fill(1); }
};

TEST_F(Data, ValuesThatAnElementCannotHoldAreRefused) {
  Tensor<int32_t> x("x", {3}, dense1);
  Tensor<float> y("y", {3}, sparse1);
  auto message = [](const std::string& value, const std::string& tensor, const std::string& type) {
    return "error: the value " + value + " does not fit an element of " + tensor + ", which is " + type +
           "\nhint: give the tensor a type that holds all its values";
  };
  EXPECT_EQ(refusal([&] { x.insert({0}, 1.5); }), message("1.5", "x", "int32"));
  EXPECT_EQ(refusal([&] { x.insert({0}, int64_t(1) << 40); }), message("1099511627776", "x", "int32"));
  EXPECT_EQ(refusal([&] { x.insert_local({0}, -0.5f); }), message("-0.5", "x", "int32"));
  EXPECT_EQ(refusal([&] { x.fill(2.5); }), message("2.5", "x", "int32"));
  EXPECT_EQ(refusal([&] { y.insert({0}, 1e39); }), message("1e+39", "y", "float"));
  x.insert({1}, 7.0);
  x.insert({2}, int64_t(-8));
  y.insert({1}, 0.1);
  x.pack();
  y.pack();
  EXPECT_EQ(x.at({1}), 7);
  EXPECT_EQ(x.at({2}), -8);
  EXPECT_EQ(y.at({1}), 0.1f);
}

TEST_F(Data, EntriesAreInsertedAndPacked) {
  Tensor<double> A("A", {3, 4}, CSR);
  A.insert({2, 2}, 4);
  A.insert({0, 3}, 3);
  A.insert({0, 0}, 2);
  A.pack();
  EXPECT_EQ(A.nnz(), 3);
  EXPECT_EQ(A.at({2, 2}), 4);
  EXPECT_EQ(A.at({1, 1}), 0) << "what is not stored is zero";
  EXPECT_EQ(A.dims(), (std::vector<int64_t>{3, 4}));
}

TEST_F(Data, EntriesAtTheSamePlaceAdd) {
  Tensor<double> A("A", {2, 2}, CSR);
  A.insert({1, 0}, 2);
  A.insert({1, 0}, 5);
  A.pack();
  EXPECT_EQ(A.nnz(), 1);
  EXPECT_EQ(A.at({1, 0}), 7);
}

TEST_F(Data, PackingReplacesWhatWasThere) {
  Tensor<double> A("A", {2}, sparse1);
  A.insert({0}, 1);
  A.pack();
  A.insert({1}, 2);
  EXPECT_EQ(A.at({0}), 1) << "entries count from pack on";
  A.pack();
  EXPECT_EQ(A.at({0}), 0);
  EXPECT_EQ(A.at({1}), 2);
}

TEST_F(Data, LocalListsElementsInStorageOrder) {
  std::vector<std::vector<int64_t>> places;
  for (const auto& [at, value] : B.local()) places.emplace_back(at.begin(), at.end());
  EXPECT_EQ(places, (std::vector<std::vector<int64_t>>{{0, 0}, {0, 3}, {2, 0}, {2, 2}}));
  Tensor<double> byColumns = Tensor<double>::from_coo({3, 4}, {{0, 0, 2, 2}, {0, 3, 0, 2}}, {2, 3, -1, 4}, CSC);
  places.clear();
  for (const auto& [at, value] : byColumns.local()) places.emplace_back(at.begin(), at.end());
  EXPECT_EQ(places, (std::vector<std::vector<int64_t>>{{0, 0}, {2, 0}, {2, 2}, {0, 3}}));
}

TEST_F(Data, DenseTensorsAreFilledByOneValueOrByTheirCoordinates) {
  Tensor<double> D("D", {2, 3}, dense2);
  D.fill(5);
  EXPECT_EQ(D.at({1, 2}), 5);
  D.fill([](std::span<const int64_t> at) { return double(10 * at[0] + at[1]); });
  EXPECT_EQ(D.at({1, 2}), 12);
  EXPECT_EQ(D.nnz(), 6);
  EXPECT_EQ(refusal([&] { B.fill(1); }).substr(0, 54), "error: the tensor is sparse: only what is stored has a");
}

TEST_F(Data, FilesGiveBackWhatWasWritten) {
  auto folder = std::filesystem::temp_directory_path() / ("spdistal_data_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const char* name : {"B.mtx", "B.mtx.gz", "B.tns", "B.tns.gz", "B.spd"}) {
    SCOPED_TRACE(name);
    std::string path = folder / name;
    B.write(path);
    for (const Format& format : {CSR, CSC, COO(2), CSF(2)}) {
      Tensor<double> read = Tensor<double>::read(path, format);
      EXPECT_EQ(read.nnz(), 4);
      for (const auto& [at, value] : B.local()) EXPECT_EQ(read.at({at[0], at[1]}), value);
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Data, AScalarIsANumber) {
  Tensor<double> s("s");
  s() = B(i, j) * B(i, j);
  EXPECT_EQ(double(s), 4 + 9 + 1 + 16);
}

TEST_F(Data, AStatementIsComputedWhenItsResultIsAskedFor) {
  a(i) = B(i, j) * c(j);
  EXPECT_EQ(values(a), (std::vector<double>{5, 0, 3}));
  EXPECT_EQ(a.nnz(), 3);
}

TEST_F(Data, ZeroOverwritesWhatWasThere) {
  a.fill(7);
  a(i) = 0.0;
  EXPECT_EQ(values(a), (std::vector<double>{0, 0, 0}));
  a.fill(7);
  a(i) = 0 * B(i, j) * c(j);
  EXPECT_EQ(values(a), (std::vector<double>{0, 0, 0}));
  a.fill(7);
  a(i) += 0;
  EXPECT_EQ(values(a), (std::vector<double>{7, 7, 7}));
}

TEST_F(Data, StatementsUseTheResultsOfOthers) {
  Tensor<double> d("d", {3}, dense1), s("s");
  a(i) = B(i, j) * c(j);
  d(i) = 2 * a(i);
  s() = d(i) * a(i);
  EXPECT_EQ(double(s), 2 * (25 + 9));
  EXPECT_EQ(values(d), (std::vector<double>{10, 0, 6}));
}

TEST_F(Data, ComputingAgainTakesOperandsAsTheyAreNow) {
  a(i) = B(i, j) * c(j);
  EXPECT_EQ(a.at({0}), 5);
  c.fill(2);
  EXPECT_EQ(a.at({0}), 5) << "a result stays until it is computed again";
  a.compute();
  EXPECT_EQ(a.at({0}), 10);
}

TEST_F(Data, ANewStatementReplacesTheOldOne) {
  a(i) = B(i, j) * c(j);
  EXPECT_EQ(a.at({0}), 5);
  a(i) = -B(i, j) * c(j);
  EXPECT_EQ(a.at({0}), -5);
}

TEST_F(Data, StatementsAreComputedInProgramOrder) {
  Tensor<double> d("d", {3}, dense1), e("e", {3}, dense1);
  a(i) = B(i, j) * c(j);
  d(i) = 2 * a(i);
  a(i) = -B(i, j) * c(j);
  e(i) = 2 * a(i);
  EXPECT_EQ(values(d), (std::vector<double>{10, 0, 6})) << "d was said before a changed";
  EXPECT_EQ(values(e), (std::vector<double>{-10, 0, -6}));
  EXPECT_EQ(values(a), (std::vector<double>{-5, 0, -3}));
}

TEST_F(Data, AnIncrementOfAResultThatWasNeverAskedForAddsToIt) {
  a(i) = B(i, j) * c(j);
  a(i) += B(i, j) * c(j);
  EXPECT_EQ(values(a), (std::vector<double>{10, 0, 6}));
}

TEST_F(Data, AStatementThatIsReplacedTwiceStillServesThoseWhoReadIt) {
  Tensor<double> d("d", {3}, dense1);
  a(i) = B(i, j) * c(j);
  d(i) = 2 * a(i);
  a(i) = -B(i, j) * c(j);
  a(i) = 10 * B(i, j) * c(j);
  EXPECT_EQ(values(a), (std::vector<double>{50, 0, 30}));
  EXPECT_EQ(values(d), (std::vector<double>{10, 0, 6}));
  EXPECT_EQ(values(a), (std::vector<double>{50, 0, 30})) << "looking at d changes nothing";
  d.compute();
  EXPECT_EQ(values(d), (std::vector<double>{100, 0, 60})) << "computed again from what a is now";
}

TEST_F(Data, AnIterationIsALoopOfStatements) {
  Tensor<double> M = Tensor<double>::from_coo({2, 2}, {{0, 1}, {1, 0}}, {2, 3}, CSR), x("x", {2}, dense1);
  x.fill(1);
  for (int step = 0; step < 4; step++) x(i) = M(i, j) * x(j);
  EXPECT_EQ(values(x), (std::vector<double>{36, 36}));
}

TEST_F(Data, AStatementMayReadWhatItWrites) {
  Tensor<double> M = Tensor<double>::from_coo({2, 2}, {{0, 1}, {1, 0}}, {2, 3}, CSR), x("x", {2}, dense1);
  x.fill([](std::span<const int64_t> at) { return double(1 + at[0]); });
  x(i) = M(i, j) * x(j);
  EXPECT_EQ(values(x), (std::vector<double>{4, 3}));
  EXPECT_EQ(values(x), (std::vector<double>{4, 3})) << "looking does not compute again";
  x.compute();
  EXPECT_EQ(values(x), (std::vector<double>{6, 12}));
}

TEST_F(Data, IncrementsOfADenseTensorAddToWhatItHolds) {
  a.fill(100);
  a(i) += B(i, j) * c(j);
  EXPECT_EQ(values(a), (std::vector<double>{105, 100, 103}));
}

TEST_F(Data, IncrementsOfASparseTensorMayAddEntries) {
  Tensor<double> A = Tensor<double>::from_coo({3, 4}, {{0, 1}, {0, 1}}, {10, 20}, CSR);
  A(i, j) += B(i, j);
  EXPECT_EQ(A.nnz(), 5);
  EXPECT_EQ(A.at({0, 0}), 12);
  EXPECT_EQ(A.at({1, 1}), 20);
  EXPECT_EQ(A.at({2, 2}), 4);
  Tensor<double> empty("empty", {3, 4}, CSR);
  empty(i, j) += B(i, j);
  EXPECT_EQ(empty.nnz(), 4) << "a tensor without data starts empty";
}

TEST_F(Data, SparseResultsComeInTheirFormat) {
  Tensor<double> S("S", {3, 3}, COO(2));
  S(i, j) = B(i, k) * B(j, k);
  EXPECT_EQ(S.nnz(), 4);
  EXPECT_EQ(S.at({0, 0}), 13);
  EXPECT_EQ(S.at({0, 2}), -2);
  EXPECT_EQ(S.at({2, 2}), 17);
}

TEST_F(Data, AConvertedOperandIsConvertedAgainWhenItChanges) {
  Tensor<double> L = Tensor<double>::from_coo({2, 2}, {{0, 1}, {1, 1}}, {1, 2}, CSR), S("S", {2, 2}, CSR);
  Tensor<double> R("R", {2, 2}, CSR);
  R.insert({0, 1}, 10);
  R.pack();
  S(i, j) = L(i, j) + R(j, i);
  EXPECT_EQ(S.nnz(), 3);
  EXPECT_EQ(S.at({1, 0}), 10);
  R.insert({0, 0}, 20);
  R.insert({1, 0}, 30);
  R.pack();
  S.compute();
  EXPECT_EQ(S.nnz(), 3) << "the two of L, one of them with one of R, and another of R";
  EXPECT_EQ(S.at({0, 0}), 20);
  EXPECT_EQ(S.at({0, 1}), 31);
  EXPECT_EQ(S.at({1, 0}), 0);
  EXPECT_EQ(S.at({1, 1}), 2);
  R(i, j) = 2 * L(i, j);
  S.compute();
  EXPECT_EQ(S.at({1, 0}), 2) << "what a statement changes is converted again too";
  EXPECT_EQ(S.at({1, 1}), 6);
}

TEST_F(Data, AStatementMayReadWhatItWritesTheOtherWayRound) {
  Tensor<double> S = Tensor<double>::from_coo({2, 2}, {{0, 1}, {1, 1}}, {1, 2}, CSR);
  S(i, j) = S(i, j) + S(j, i);
  EXPECT_EQ(S.nnz(), 3);
  EXPECT_EQ(S.at({1, 0}), 1);
  EXPECT_EQ(S.at({1, 1}), 4);
  S.compute();
  EXPECT_EQ(S.at({0, 1}), 2);
  EXPECT_EQ(S.at({1, 1}), 8);
}

TEST_F(Data, ConversionsHaveKernelsOfTheirOwn) {
  Tensor<double> L = Tensor<double>::from_coo({2, 2}, {{0, 1}, {1, 1}}, {1, 2}, CSR), S("S", {2, 2}, CSR);
  Tensor<double> R = Tensor<double>::from_coo({2, 2}, {{0}, {1}}, {10}, CSR);
  S(i, j) = L(i, j) + R(j, i);
  std::string text = S.kernel();
  size_t first = text.find("int kernel("), second = text.find("int kernel(", first + 1);
  EXPECT_NE(second, text.npos);
  EXPECT_EQ(text.find("int kernel(", second + 1), text.npos);
}

TEST_F(Data, ATransposeMayHaveMoreColumnsThanNarrowCoordinatesCount) {
  constexpr int64_t many = int64_t(1) << 33;
  Tensor<double> T = Tensor<double>::from_coo({many, 3}, {{7, 7, many - 1}, {0, 2, 0}}, {1, 2, 3}, CSF(2));
  Tensor<double> S("S", {3, many}, CSR);
  S(i, j) = T(j, i);
  EXPECT_EQ(S.nnz(), 3);
  EXPECT_EQ(S.at({0, 7}), 1);
  EXPECT_EQ(S.at({2, 7}), 2);
  EXPECT_EQ(S.at({0, many - 1}), 3);
}

TEST_F(Data, OperandsStayAliveWithoutTheirHandles) {
  {
    Tensor<double> gone = Tensor<double>::from_coo({4}, {{0, 3}}, {1, 10}, sparse1);
    Tensor<double> scaled("scaled", {4}, dense1);
    scaled(j) = 2 * gone(j);
    a(i) = B(i, j) * scaled(j);
  }
  EXPECT_EQ(values(a), (std::vector<double>{64, 0, -2}));
}

TEST_F(Data, AScheduleDoesNotChangeTheResult) {
  IndexVar io("io"), ii("ii"), f("f"), fp("fp"), fo("fo"), fi("fi");
  a(i) = B(i, j) * c(j);
  a.schedule().divide(i, io, ii, 2).parallelize(io, CPUThread);
  EXPECT_EQ(values(a), (std::vector<double>{5, 0, 3}));
  a(i) = B(i, j) * c(j);
  a.schedule().fuse(i, j, f).pos(f, fp, B(i, j)).split(fp, fo, fi, 3);
  EXPECT_EQ(values(a), (std::vector<double>{5, 0, 3}));
}

TEST_F(Data, AMachineWithoutASizeIsOneProcess) {
  Param pieces("pieces");
  Machine M{Grid(pieces)};
  IndexVar io("io"), ii("ii");
  a(i) = B(i, j) * c(j);
  a.schedule().divide(i, io, ii, M.x).distribute(io).communicate({a, B, c}, io).parallelize(ii, CPUThread);
  EXPECT_EQ(values(a), (std::vector<double>{5, 0, 3}));
}

TEST_F(Data, ParametersAreBoundByDataOrByHand) {
  Param n("n"), m("m");
  Tensor<double> d("d", {n}, dense1), e("e", {m}, dense1);
  EXPECT_EQ(refusal([&] { d.fill(1); }),
            "error: the first dimension of d has no size yet\n"
            "hint: bind its Param (n = 1000), or read data that has the size");
  n = 3;
  d.fill(1);
  e(i) = d(i);
  EXPECT_EQ(refusal([&] { e.compute(); }),
            "error: the first dimension of e has no size yet\n  e(i) = d(i)\n  ^^^^\n"
            "hint: bind its Param (n = 1000), or read data that has the size");
  m = 3;
  EXPECT_EQ(values(e), (std::vector<double>{1, 1, 1}));
}

TEST_F(Data, SizesThatDifferAreFoundWhenTheyAreKnown) {
  Param n("n");
  Tensor<double> d("d", {n}, dense1);
  n = 5;
  d.fill(1);
  EXPECT_EQ(refusal([&] {
              a(i) = B(i, j) * d(j);
              a.compute();
            }).substr(0, 12),
            "error: j is ");
}

TEST_F(Data, DataThatIsMissingIsNamed) {
  Tensor<double> A("A", {3, 4}, CSR);
  EXPECT_EQ(refusal([&] { A.nnz(); }), "error: A holds no data\nhint: insert and pack, read, or fill it");
  a(i) = A(i, j) * c(j);
  EXPECT_EQ(refusal([&] { a.compute(); }), "error: A holds no data\nhint: insert and pack, read, or fill it");
  A.insert({0, 0}, 1);
  EXPECT_EQ(refusal([&] { a.compute(); }),
            "error: A has entries that were inserted but not packed\nhint: call pack() after the last insert");
  A.pack();
  a.compute();
  EXPECT_EQ(a.at({0}), 1) << "a refused computation can be done later";
  EXPECT_EQ(refusal([&] { A.compute(); }),
            "error: A has no statement to compute\nhint: assign to it first: a(i) = B(i, j) * c(j)");
}

TEST_F(Data, WrongCoordinatesAreRefused) {
  Tensor<double> A("A", {3, 4}, CSR);
  EXPECT_EQ(refusal([&] { A.insert({1}, 1); }), "error: A has 2 dimensions, the entry 1 coordinate");
  EXPECT_THROW(B.at({0}), UserError);
  EXPECT_THROW(B.at({3, 0}), UserError);
  EXPECT_THROW(B.at({0, -1}), UserError);
  EXPECT_THROW((Tensor<double>::from_coo({2}, {{0, 5}}, {1, 2}, sparse1)), UserError);
  EXPECT_THROW((Tensor<double>::from_coo({2}, {{0, 1}}, {1}, sparse1)), UserError);
  EXPECT_THROW((Tensor<double>::from_coo({2}, {{0}, {0}}, {1}, sparse1)), UserError);
  EXPECT_THROW(
      {
        A.insert({3, 0}, 1);
        A.pack();
      },
      UserError);
}

TEST_F(Data, SparseResultsOfWhatIsNotZeroAtZeroAreRefused) {
  Tensor<double> A("A", {3, 4}, CSR), D("D", {3, 4}, dense2);
  EXPECT_EQ(refusal([&] { A(i, j) = exp(D(i, j)); }),
            "error: A is sparse, but exp(D(i,j)) is 1.0 where its tensors are zero\n  A(i,j) = exp(D(i,j))\n"
            "           ^^^^^^^^^^^\nhint: give A a dense format: dd, or 1 where nothing is stored: ds=1");
  D(i, j) = exp(B(i, j));
  EXPECT_EQ(D.at({1, 1}), 1);
}

TEST_F(Data, EveryElementTypeIsComputed) {
  auto check = [&](auto one) {
    using T = decltype(one);
    Tensor<T> b = Tensor<T>::from_coo({3}, {{0, 2}}, {T(2), T(3)}, sparse1), d({3}, dense1);
    d(i) = b(i) * b(i);
    EXPECT_EQ(d.at({0}), T(4));
    EXPECT_EQ(d.at({1}), T(0));
    EXPECT_EQ(d.at({2}), T(9));
  };
  check(int32_t(1)), check(int64_t(1)), check(1.0f), check(1.0);
  check(std::complex<float>(1)), check(std::complex<double>(1));
}

TEST_F(Data, TheKernelIsText) {
  a(i) = B(i, j) * c(j);
  EXPECT_NE(a.kernel().find("for"), std::string::npos);
}

TEST_F(Data, TheKernelOfPiecesIsTextBeforeTheFirstRunToo) {
  Machine M{Grid(2)};
  DistVar x;
  Tensor<double> d("d", {3}, Format({Dense}, Distribution({x}, M, {x})));
  d(i) = B(i, j) * c(j);
  std::string before = d.kernel();
  EXPECT_NE(before.find("for"), std::string::npos);
  d.compute();
  EXPECT_EQ(d.kernel(), before);
}

TEST_F(Data, GivenAfterAStatementTakesItsPlaceUntilItIsComputedAgain) {
  Tensor<double> b("b", {3}, dense1);
  b.fill(2.0);
  a(i) = b(i) * 5;
  a.fill(7.0);
  EXPECT_EQ(a.at({1}), 7.0);
  a.compute();
  EXPECT_EQ(a.at({1}), 10.0);
}

TEST_F(Data, FilledAnewKeepsItsPiecesAndWhatWasPlannedForThem) {
  Tensor<double> b("b", {3}, dense1);
  b.fill(2.0);
  uint64_t pattern = find_tensor(b.var())->home->pattern_version(), contents = find_tensor(b.var())->home->version();
  b.fill(3.0);
  EXPECT_EQ(find_tensor(b.var())->home->pattern_version(), pattern);
  EXPECT_NE(find_tensor(b.var())->home->version(), contents);
  EXPECT_EQ(b.at({2}), 3.0);
}

TEST(Runtime, AProcessThatNobodyLaunchedIsAlone) {
  EXPECT_EQ(rank(), 0);
  EXPECT_EQ(ranks(), 1);
}

}  // namespace
}  // namespace spdistal
