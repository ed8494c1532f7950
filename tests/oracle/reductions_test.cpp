// Reductions by operations, fill values, and functions, against the dense evaluator.
#include "oracle/named_statement.hpp"

namespace spdistal {
namespace {

INSTANTIATE_TEST_SUITE_P(
    ByOperations, Statements,
    ::testing::ValuesIn(std::vector<Named>{
        {"ShortestPaths", "d(i) min= A(j,i) + d(j)", "A:ds=inf", Sizes::Same},
        {"ShortestPathsByColumns", "d(i) min= A(j,i) + d(j)", "A:ds:1,0=inf d:d=inf", Sizes::Same},
        {"ShortestPathsToASparseVector", "d(i) min= A(j,i) + d(j)", "A:ds=inf d:s=inf", Sizes::Same},
        {"TheLeastOfARow", "a(i) = min(j, B(i,j))", "B:ds"},
        {"TheLeastStoredElementOfARow", "a(i) = min(j, B(i,j))", "B:ds=inf"},
        {"TheLeastStoredElementOfAColumn", "a(j) = min(i, B(i,j))", "B:ds=inf"},
        {"TheLeastStoredElementsAsASparseVector", "a(i) = min(j, B(i,j))", "a:s=inf B:ss=inf"},
        {"AMinPlusProduct", "A(i,j) = min(k, B(i,k) + C(k,j))", "A:ds=inf B:ds=inf C:ds=inf"},
        {"AMinPlusProductByColumns", "A(i,j) = min(k, B(i,k) + C(k,j))", "A:ds:1,0=inf B:ds:1,0=inf C:ds:1,0=inf"},
        {"AMinPlusProductHashed", "A(i,j) = min(k, B(i,k) + C(k,j))", "A:dh=inf B:dh=inf C:ss=inf"},
        {"AMinPlusProductIntoAList", "A(i,j) = min(k, B(i,k) + C(k,j))", "A:uq=inf B:uq=inf C:ds=inf"},
        {"WidestPaths", "A(i,j) = max(k, min(B(i,k), C(k,j)))", "A:ds=-inf B:ds=-inf C:ds=-inf"},
        {"AMaximumOfAMatrix", "s = max(i, max(j, B(i,j)))", "B:ss"},
        {"AnAssignedMaximumOfAMatrix", "s max= abs(B(i,j))", "B:ss"},
        {"AProductOfARow", "a(i) = prod(j, B(i,j))", "B:ds=1"},
        {"AnAssignedProduct", "a(i) *= B(i,j)", "a:s B:ds=1"},
        {"AMinimumOfSums", "s = min(i, sum(j, B(i,j)))", "B:ds"},
        {"ASumOfMinima", "s = sum(i, min(j, B(i,j)))", "B:ds"},
        {"WhetherAnyHolds", "a(i) = any(j, B(i,j) > 1)", "B:ds"},
        {"WhetherAllHold", "a(i) = all(j, B(i,j) < 2)", "B:ds"},
        {"ADiagonalOfMinima", "A(i,i) = min(j, B(i,j))", "B:ds", Sizes::Same}}),
    sentence_of);

INSTANTIATE_TEST_SUITE_P(WithFillValues, Statements,
                         ::testing::ValuesIn(std::vector<Named>{
                             {"ACopy", "A(i,j) = B(i,j)", "A:ds=2 B:ss=2"},
                             {"ATranspose", "A(i,j) = B(j,i)", "A:ds=-1 B:ds=-1"},
                             {"ACopyIntoADenseMatrix", "A(i,j) = B(i,j)", "B:ds=3"},
                             {"ASum", "A(i,j) = B(i,j) + C(i,j)", "A:ds=3 B:ds=1 C:ds=2"},
                             {"AProduct", "A(i,j) = B(i,j) * C(i,j)", "A:ds=2 B:ds=1 C:ds=2"},
                             {"AProductWithAZero", "A(i,j) = B(i,j) * C(i,j)", "A:ds B:ds C:ds=2"},
                             {"ADifferenceFromANumber", "A(i,j) = 1 - B(i,j)", "A:ds=1 B:ds"},
                             {"AMatrixTimesAVector", "a(i) = B(i,j) * c(j)", "B:ds=1 c:s"},
                             {"AVectorOfOnes", "a(i) = B(i,j) * c(j)", "B:ds c:s=1"},
                             {"APreComputedSum", "a(i) = (B(i,j) + C(i,j)) * d(j)", "B:ds=1 C:ds=-1"}}),
                         sentence_of);

INSTANTIATE_TEST_SUITE_P(
    OfFunctions, Statements,
    ::testing::ValuesIn(std::vector<Named>{
        {"ASquare", "A(i,j) = pow(B(i,j), 2)", "A:ds B:ds"},
        {"ASine", "A(i,j) = sin(B(i,j)) + tanh(C(i,j))", "A:ds B:ds C:ss"},
        {"ACosineOfWhatIsStored", "A(i,j) = map(B(i,j), cos)", "A:ds B:ds"},
        {"ACosine", "A(i,j) = cos(B(i,j))", "A:ds=1 B:ds"},
        {"ASumOfWhatIsStoredAndMapped", "a(i) = map(B(i,j), exp) * c(j)", "B:ds"},
        {"AMapWithAnotherArgument", "A(i,j) = map(B(i,j), max, c(j))", "A:ds B:ds"},
        {"AMask", "A(i,j) = B(i,j) * (C(i,j) != 0)", "A:ds B:ds C:ds"},
        {"AChoice", "A(i,j) = select(M(i,j), B(i,j), C(i,j))", "A:ds M:ds B:ss C:ds"},
        {"AChoiceOfANumber", "A(i,j) = select(B(i,j) > 1, 1, B(i,j))", "A:ds B:ds"},
        {"AllOfThem",
         "a(i) = sigmoid(b(i)) + cbrt(b(i)) + expm1(b(i)) + log1p(abs(b(i))) + log2(c(i)) + log10(c(i)) + sin(b(i)) + "
         "tan(b(i)) + atan(b(i)) + atan2(b(i), c(i)) + sinh(b(i)) + cosh(b(i)) + erf(b(i)) + floor(b(i)) + ceil(b(i)) "
         "+ "
         "round(b(i))",
         "c:s=1"}}),
    sentence_of);

}  // namespace
}  // namespace spdistal
