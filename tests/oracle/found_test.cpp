// Programs that random sweeps found to go wrong, by name.
#include <gtest/gtest.h>

#include <limits>

#include "reference/evaluate.hpp"
#include "support/formats.hpp"
#include "support/own_leaves.hpp"
#include "support/run_case.hpp"

namespace spdistal::test {
namespace {

// Values by position; of sparse tensors zeros are not stored.
TensorCase tensor(const std::string& levels, std::vector<int64_t> dims, const std::vector<double>& values) {
  reference::DenseArray array(ScalarType::Float64, dims);
  for (size_t k = 0; k < values.size(); k++) array.values[k] = values[k];
  return {format_of("T:" + levels, "T", dims.size()), array, std::vector<bool>(dims.size())};
}

void expect_right(const ProgramCase& program) {
  EXPECT_EQ(find_fault(build(program)).value_or(""), "") << describe(program);
}

// The second run is in chunks: threads took coordinates that lay outside of theirs, and added them once for each.
TEST(Found, ThreadsTakeNothingOutsideOfThePartOfALoopThatTheyShare) {
  ProgramCase program{"a(i) = b(i) + B(i,j) * c(j)",
                      {{"a", tensor("d", {2}, {})},
                       {"b", tensor("s", {2}, {1, 2})},
                       {"B", tensor("sd", {2, 2}, {1, 0, 0, 3})},
                       {"c", tensor("d", {2}, {5, 7})}},
                      {}};
  program.setting = {.ranks = 2, .threads = 3};
  expect_right(program);
}

// C comes from this rank alone, but its values in another order than they are stored: chunks that need nothing of D from the
// other rank took those of the run before.
TEST(Found, ChunksThatAreReadyWaitForValuesThatAreReordered) {
  ProgramCase program{
      "A(i) = C(i,j) + D(i,j)",
      {{"A", tensor("d", {3}, {})}, {"C", tensor("sd", {3, 2}, {0, 0, 0, 1, 1, 0})}, {"D", tensor("dd", {3, 2}, {})}},
      {"fuse(i, j, k)", "divide(k, l, m, M.x)", "distribute(l)"},
      "2/2"};
  program.tensors.at("C").place = "C(x,y) -> M(z)/(y)";
  program.setting = {.ranks = 2};
  expect_right(program);
}

// Nothing of the sum is ever there, so that there was no room; the workspace is walked all the same.
TEST(Found, AWorkspaceOfZerosHasRoomInASparseResult) {
  ProgramCase program{"A(i) = 0 * B(i,j)",
                      {{"A", tensor("s", {2}, {})}, {"B", tensor("dd", {2, 2}, {1, 2, 3, 4})}},
                      {"precompute(0 * B(i,j), {i, j}, {k, l}, w)"}};
  expect_right(program);
}

// What pieces make is rounded on its way home: to 0 and to true here, where the sums are 0.25 and 0.
TEST(Found, WhatIsAddedIsRoundedWithWhatItIsAddedTo) {
  for (auto [type, added] : {std::pair{ScalarType::Int32, -0.75}, {ScalarType::Bool, -1.0}}) {
    ProgramCase program{"a(i) += b(i)", {{"a", tensor("d", {2}, {})}, {"b", tensor("d", {2}, {added, added})}}, {}};
    reference::DenseArray& old = program.tensors.at("a").array;
    old = reference::DenseArray(type, {2});
    for (Scalar& value : old.values) value = type == ScalarType::Bool ? Scalar(true) : Scalar(int32_t(1));
    program.setting = {.ranks = 2};
    expect_right(program);
  }
}

// C is fetched only where B stores something: elsewhere its place holds zero.
TEST(Found, AQuotientOfWhatIsNotStoredIsZeroBesideOtherTerms) {
  for (int ranks : {1, 2}) {
    ProgramCase program{"A(i,j) = B(i,j) / C(i) + F(i,j)",
                        {{"A", tensor("dd", {2, 2}, {})},
                         {"B", tensor("sd", {2, 2}, {0, 0, 1, 2})},
                         {"C", tensor("d", {2}, {4, 2})},
                         {"F", tensor("ds", {2, 2}, {1, 0, 0, 1})}},
                        {}};
    program.setting.ranks = ranks;
    expect_right(program);
  }
}

TEST(Found, AZeroInTheTextIsZeroTimesAnything) {
  double inf = std::numeric_limits<double>::infinity();
  const std::map<std::string, TensorCase> all = {{"A", tensor("d", {2}, {})},
                                                 {"B", tensor("d", {2}, {})},
                                                 {"C", tensor("d", {2}, {1, 2})},
                                                 {"D", tensor("d", {2}, {inf, inf})},
                                                 {"S", tensor("s", {2}, {0, -3})}};
  for (std::string statement :
       {"A(i) = 0 / B(i) - C(i)", "A(i) = abs(false) * D(i) - C(i)", "A(i) = max(0, -0.0) * D(i) + C(i)",
        "A(i) = min(0, S(i)) * D(i)", "A(i) = (S(i) - 0) * D(i) + C(i)", "A(i) = inf * (S(i) + 0 * C(i)) + C(i)"}) {
    ProgramCase program{statement, {}, {}};
    for (const auto& [name, value] : all)
      if (statement.find(name + "(") != statement.npos) program.tensors.emplace(name, value);
    expect_right(program);
  }
}

TEST(Found, APrecomputedElementThatIsNotThereIsZeroDividedByZero) {
  TensorCase rows = tensor("ds", {3, 2}, {0, 0, 1, 2, 0, 0});
  rows.array.absent = {true, true, false, false, false, true};  // a zero that is stored, and one that is not
  ProgramCase program{"A(i) = B(i,j) / d(i)",
                      {{"A", tensor("d", {3}, {})}, {"B", rows}, {"d", tensor("d", {3}, {0, 0, 0})}},
                      {"precompute(B(i,j), {j}, {jw}, w)"}};
  expect_right(program);
  program.commands = {"precompute(B(i,j), {i, j}, {iw, jw}, w)"};
  expect_right(program);
}

// Of a row that one of them has, a place is looked up in each: neither may have it, and more was stored than there was room for.
TEST(Found, WhatIsKnownOfRowsIsNotKnownOfWhatIsLookedUpInThem) {
  for (std::string levels : {"sh", "ss"})
    for (std::string result : {"sh", "ss"}) {
      ProgramCase program{"A(i,j) = C(i,j) + D(i,j)",
                          {{"A", tensor(result, {3, 3}, {})},
                           {"C", tensor(levels, {3, 3}, {1, 0, 0, 0, 0, 0, 0, 2, 0})},
                           {"D", tensor("sh", {3, 3}, {0, 0, 3, 0, 0, 0, 4, 5, 0})}},
                          {}};
      expect_right(program);
      program.setting.ranks = 2;
      expect_right(program);
    }
}

// The row that one colour stores has places at the other, which computes nothing of it.
TEST(Found, ColoursThatShareADenseRowAgreeThatItIsStored) {
  ProgramCase program{"A(i,j) = B(j,i)",
                      {{"A", tensor("sd", {1, 2}, {})}, {"B", tensor("ds", {2, 1}, {1, 0})}},
                      {"divide(j, k, l, 4)", "distribute(k, l)"},
                      "2x1x2"};
  program.tensors.at("A").place = "A(x,y) -> M(0,x,y)";
  for (int ranks : {1, 2}) {
    program.setting.ranks = ranks;
    expect_right(program);
  }
}

// The routine takes the loops inside of i, whichever command comes first.
TEST(Found, BlocksByWeightAroundARoutineAreRefused) {
  register_own_leaves();
  ProgramCase program{"A(i,j) = B(i,k) * C(k,j)",
                      {{"A", tensor("dd", {2, 2}, {})},
                       {"B", tensor("ds", {2, 2}, {1, 0, 2, 3})},
                       {"C", tensor("dd", {2, 2}, {1, 2, 3, 4})}},
                      {"split(j, jo, ji, 1)", "substitute({k, jo, ji}, own)", "divide(i, io, ii, 2)"}};
  EXPECT_NO_THROW(build(program));
  program.commands.back() = "divide(i, io, ii, 2, {B})";
  EXPECT_THROW(build(program), UserError);
}

// E leaves more of F than the loops over what B stores come to, and the piece of F has no places for it.
TEST(Found, APieceIsGivenNothingThatItHasNoPlacesFor) {
  ProgramCase program{"A(i) = B(k,l) * (C(i) + E(i,k,l) * F(m,l))",
                      {{"A", tensor("d", {2}, {})},
                       {"B", tensor("ds", {1, 3}, {0, 2, 0})},
                       {"C", tensor("d", {2}, {1, 2})},
                       {"E", tensor("dsd", {2, 1, 3}, {0, 0, 0, 1, 2, 3})},
                       {"F", tensor("sd", {1, 3}, {5, 7, 9})}},
                      {}};
  program.setting.ranks = 2;
  expect_right(program);

  ProgramCase zero{"A(i) = (F(j) + 0 * D(i)) * C(i,j,k) * B(j,k)",
                   {{"A", tensor("d", {2}, {})},
                    {"F", tensor("s", {2}, {0, 3})},
                    {"D", tensor("d", {2}, {1, 2})},
                    {"C", tensor("dds", {2, 2, 2}, {0, 1, 2, 0, 3, 0, 0, 0})},
                    {"B", tensor("ds", {2, 2}, {1, 2, 3, 0})}},
                   {}};
  zero.setting.ranks = 2;
  expect_right(zero);
}

TEST(Found, ALoopFusedWithOneWithoutValuesKeepsItsOwn) {
  struct Fused {
    std::string statement, command;
    std::vector<int64_t> dims;  // of A
  };
  for (const Fused& fused : {Fused{"A(i,j) = B(k,i) * C(k,j)", "fuse(i, j, io)", {0, 2}},
                             Fused{"A(j) = B(k,i) * C(k,j)", "fuse(j, i, io)", {2}}}) {
    ProgramCase program{fused.statement,
                        {{"A", tensor(std::string(fused.dims.size(), 'd'), fused.dims, {})},
                         {"B", tensor("dd", {3, 0}, {})},
                         {"C", tensor("sd", {3, 2}, {0, 0, 1, 2, 3, 4})}},
                        {"pos(k, ii, C(k,j))", fused.command, "split(ii, l, m, 1)", "distribute(l)"}};
    for (int ranks : {1, 2}) {
      program.setting.ranks = ranks;
      expect_right(program);
    }
  }
}

// The whole of a tensor without elements has its other dimension all the same: its copy in another order is made from that.
TEST(Found, ATensorWithoutElementsHasAllItsCoordinates) {
  ProgramCase program{
      "A(i,j) = C(i,j) + D(i,j)",
      {{"A", tensor("dd", {0, 1}, {})}, {"C", tensor("sd", {0, 1}, {})}, {"D", tensor("ds:1,0", {0, 1}, {})}},
      {},
      "1"};
  program.tensors.at("C").place = "C(x,y) -> M(x)";
  expect_right(program);
}

// Nothing is stored below the second position: whoever is dealt that one alone gets a piece without positions.
TEST(Found, PositionsThatFillABandMayHaveNothingBelow) {
  ProgramCase fused{
      "A(m,n) = C(m,n)",
      {{"A", tensor("dd", {2, 3}, {})}, {"C", tensor("rs:1,0", {2, 3}, {0, 0, 1, 1, 0, 0})}},
      {"pos(n, i, C(m,n))", "fuse(i, m, p)", "divide(p, j, k, M.x)", "split(k, l, B, 1)", "distribute(j, l)"},
      "1/1"};
  expect_right(fused);
  ProgramCase outer{
      "A(i,l) = B(i,j) * C(j,l)",
      {{"A", tensor("dd", {3, 2}, {})}, {"B", tensor("rs", {3, 1}, {1, 0, 1})}, {"C", tensor("dd", {1, 2}, {3, 5})}},
      {"pos(i, m, B(i,j))", "split(j, n, o, 1)", "reorder(n, m, o, l)", "distribute(n)", "communicate({B}, o)"}};
  expect_right(outer);
}

// Loops over positions of a dense level come to all of its coordinates: pieces had places for those alone that store something.
TEST(Found, PositionsOfADenseLevelComeToCoordinatesThatStoreNothing) {
  for (auto [result, levels] : {std::pair{"A(k)", "d"}, {"A(j,l)", "dd"}}) {
    std::string left = result, other = left == "A(k)" ? "C(i)" : "C(k,l)";
    ProgramCase program{
        left + " = B(j,k,i) * " + other,
        {{"A", tensor(levels, left == "A(k)" ? std::vector<int64_t>{3} : std::vector<int64_t>{2, 2}, {})},
         {"B", tensor("sds", {2, 3, 1}, {0, 2, 0, 3, 0, 0})},
         {"C", left == "A(k)" ? tensor("d", {1}, {5}) : tensor("ds", {3, 2}, {0, 0, 1, 2, 0, 0})}},
        {"fuse(j, k, f)", "pos(f, fp, B(j,k,i))", "divide(fp, fo, fi, 2)", "distribute(fo)"}};
    for (int ranks : {1, 2}) {
      program.setting.ranks = ranks;
      expect_right(program);
    }
  }
}

// Where each colour has one position, the kernel of those that store nothing leaves rows without any end.
TEST(Found, RowsEndWherePositionsOfLoopsAroundStoreNothing) {
  ProgramCase program{"A(j,i) = B(k)",
                      {{"A", tensor("ds:1,0", {2, 3}, {})}, {"B", tensor("b", {3}, {0, 2, 0})}},
                      {"reorder(k, i, j)", "pos(k, l, B(k))", "distribute(l)"}};
  for (int ranks : {1, 2}) {
    program.setting.ranks = ranks;
    expect_right(program);
  }
}

// Compilers may take it that signed numbers never overflow.
TEST(Found, WholeNumbersWrapInCompiledKernels) {
  ProgramCase program{"A(i) = B(i) + C(i,j)",
                      {{"A", tensor("d", {1}, {})}, {"B", tensor("d", {1}, {})}, {"C", tensor("dd", {1, 1}, {})}},
                      {}};
  for (auto [name, value] : {std::pair<const char*, Scalar>{"B", int32_t(2147483647)}, {"C", true}}) {
    reference::DenseArray& array = program.tensors.at(name).array;
    array.type = value.type();
    array.values.assign(1, value);
  }
  for (Leaves leaves : {Leaves::Interpreted, Leaves::Compiled}) {
    program.setting.leaves = leaves;
    expect_right(program);
  }
}

// Steps to which nothing is stored leave what they would have written as it was in the run before.
TEST(Found, StepsAtPositionsWithoutAnElementAddNothing) {
  ProgramCase program{
      "A(i,j) = B(i)",
      {{"A", tensor("dd", {2, 1}, {})}, {"B", tensor("b", {2}, {0, 1})}},
      {"pos(i, k, B(i))", "divide(j, l, io, M.x)", "reorder(l, k, io)", "distribute(l)", "communicate({B}, k)"},
      "1"};
  expect_right(program);
}

// By the definition: what is not stored annihilates, a zero that is stored does not.
TEST(Found, TheEvaluatorTellsStoredZerosFromWhatIsNotStored) {
  ProgramCase described{"a(i) = b(i) * c(i)",
                        {{"a", tensor("d", {3}, {})}, {"b", tensor("s", {3}, {})}, {"c", tensor("d", {3}, {})}},
                        {}};
  BuiltProgram program = build(described);
  double infinity = std::numeric_limits<double>::infinity();
  for (auto& [of, array] : program.arrays) {
    if (of.symbol().name() == "c") array.values.assign(3, Scalar(infinity));
    if (of.symbol().name() != "b") continue;
    array.values[2] = Scalar(2.0);
    array.absent = {true, false, false};
  }
  reference::evaluate(program.assignment, program.arrays);
  const std::vector<Scalar>& found = program.arrays.at(program.assignment.lhs.tensor).values;
  EXPECT_EQ(found[0], Scalar(0.0));
  EXPECT_EQ(found[1], Scalar(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(found[2], Scalar(infinity));
}

}  // namespace
}  // namespace spdistal::test
