// Statements that have a name, in the formats that people store them in, each its own test: kernels through the
// interpreter against the dense evaluator, over random tensors with empty rows and sizes down to none.
#include "oracle/named_statement.hpp"

namespace spdistal {
namespace {

// ---- the tables of the papers ------------------------------------------------------------------------------------------

INSTANTIATE_TEST_SUITE_P(
    OfThePapers, Statements,
    ::testing::ValuesIn(std::vector<Named>{
        {"AMatrixInCSRTimesAVector", "y(i) = A(i,j) * x(j)", "A:ds"},
        {"AMatrixInCSCTimesAVector", "y(i) = A(i,j) * x(j)", "A:ds:1,0"},
        {"AMatrixInDCSRTimesAVector", "y(i) = A(i,j) * x(j)", "A:ss"},
        {"AMatrixInCOOTimesAVector", "y(i) = A(i,j) * x(j)", "A:uq"},
        {"AMatrixTimesASparseVector", "y(i) = A(i,j) * x(j)", "A:ds x:s"},
        {"AMatrixByColumnsTimesASparseVectorIntoASparseVector", "y(i) = A(i,j) * x(j)", "A:ds:1,0 x:s y:s"},
        {"AMatrixInCSRTimesADenseMatrix", "A(i,j) = B(i,k) * C(k,j)", "B:ds"},
        {"AMatrixInCSRTimesADenseMatrixByColumns", "A(i,j) = B(i,k) * C(k,j)", "A:dd:1,0 B:ds C:dd:1,0"},
        {"TheProductOfTwoMatricesInCSR", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds"},
        {"TheSquareOfAMatrixInCSR", "A(i,j) = B(i,k) * B(k,j)", "A:ds B:ds", Sizes::Same},
        {"TheSumOfTwoMatricesInCSR", "A(i,j) = B(i,j) + C(i,j)", "A:ds B:ds C:ds"},
        {"TheSumOfThreeMatricesInCSR", "A(i,j) = B(i,j) + C(i,j) + D(i,j)", "A:ds B:ds C:ds D:ds"},
        {"TheSumOfThreeMatricesInDCSR", "A(i,j) = B(i,j) + C(i,j) + D(i,j)", "A:ss B:ss C:ss D:ss"},
        {"TheSumOfMatricesInCSRAndDCSRAndDense", "A(i,j) = B(i,j) + C(i,j) + D(i,j)", "B:ds C:ss"},
        {"TheSumOfMatricesInCSRAndDCSRAndCOOIntoCSR", "A(i,j) = B(i,j) + C(i,j) + D(i,j)", "A:ds B:ds C:ss D:uq"},
        {"TheSumOfMatricesInCSRAndCSCIntoDCSR", "A(i,j) = B(i,j) + C(i,j) + D(i,j)", "A:ss B:ds C:ds:1,0 D:ss"},
        {"MTTKRPWithDenseFactors", "A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", "B:sss"},
        {"MTTKRPOfATensorWithADenseFirstLevel", "A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", "B:dss"},
        {"MTTKRPOfACoordinateList", "A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", "B:uqq"},
        {"MTTKRPWithSparseFactorsIntoADenseMatrix", "A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", "B:sss C:ds D:ds"},
        {"MTTKRPWithSparseFactorsIntoCSR", "A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", "A:ds B:sss C:ds D:ds"},
        {"MTTKRPWithSparseFactorsIntoDCSR", "A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", "A:ss B:sss C:ss D:ss"},
        {"ATensorTimesAVector", "A(i,j) = B(i,j,k) * c(k)", "B:sss"},
        {"ATensorTimesAVectorIntoDCSR", "A(i,j) = B(i,j,k) * c(k)", "A:ss B:sss"},
        {"ATensorTimesAVectorInItsMiddleDimension", "A(i,k) = B(i,j,k) * c(j)", "A:ds B:sss"},
        {"ATensorTimesAVectorInItsFirstDimension", "A(j,k) = B(i,j,k) * c(i)", "A:ss B:sss c:s"},
        {"ATensorTimesAMatrix", "A(i,j,k) = B(i,j,l) * C(k,l)", "B:sss"},
        {"ATensorTimesAMatrixIntoASparseTensor", "A(i,j,k) = B(i,j,l) * C(k,l)", "A:sss B:sss"},
        {"ATensorTimesASparseMatrixIntoASparseTensor", "A(i,j,k) = B(i,j,l) * C(k,l)", "A:sss B:sss C:ds"},
        {"ATensorTimesAMatrixWithDenseRows", "A(i,j,k) = B(i,j,l) * C(k,l)", "A:ssd B:sss"},
        {"SDDMMIntoADenseMatrix", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "B:ds"},
        {"SDDMMIntoCSRWithFactorsByRows", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:ds B:ds"},
        {"SDDMMIntoCSRWithTheSecondFactorByColumns", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:ds B:ds D:dd:1,0"},
        {"SDDMMIntoCSRWithBothFactorsByColumns", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:ds B:ds C:dd:1,0 D:dd:1,0"},
        {"SDDMMIntoCSRWithTheSecondFactorTransposed", "A(i,j) = B(i,j) * C(i,k) * D(j,k)", "A:ds B:ds"},
        {"SDDMMIntoDCSR", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:ss B:ss"},
        {"SDDMMOfACoordinateListIntoOne", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:uq B:uq"},
        {"SDDMMFromCSRIntoCSC", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:ds:1,0 B:ds"},
        {"TheResidual", "y(i) = b(i) - A(i,j) * x(j)", "A:ds"},
        {"TheResidualWithAMatrixInCSC", "y(i) = b(i) - A(i,j) * x(j)", "A:ds:1,0"},
        {"TheResidualOfSparseVectors", "y(i) = b(i) - A(i,j) * x(j)", "A:ds b:s x:s y:s"},
        {"TheScaledTransposeTimesAVectorPlusAVector", "y(i) = alpha * A(j,i) * x(j) + beta * z(i)", "A:ds"},
        {"TheScaledTransposeInCSCTimesAVectorPlusAVector", "y(i) = alpha * A(j,i) * x(j) + beta * z(i)", "A:ds:1,0"},
        {"TheInnerProductOfTwoTensors", "s = B(i,j,k) * C(i,j,k)", "B:sss C:sss"},
        {"TheInnerProductOfASparseAndADenseTensor", "s = B(i,j,k) * C(i,j,k)", "B:sss"},
        {"TheInnerProductOfTensorsInDifferentOrders", "s = B(i,j,k) * C(i,j,k)", "B:sss C:sss:2,0,1"},
        {"TheSumOfTwoTensors", "A(i,j,k) = B(i,j,k) + C(i,j,k)", "A:sss B:sss C:dss"},
        {"TheElementwiseProductOfTwoMatrices", "A(i,j) = B(i,j) * C(i,j)", "A:ds B:ds C:ss"},
        {"TheSumOfARowTimesAnElementwiseProduct", "a(i) = B(i,j) * C(i,j) * d(j)", "B:ds C:ss d:s"},
    }),
    sentence_of);

// ---- what other compilers get wrong --------------------------------------------------------------------------------------

INSTANTIATE_TEST_SUITE_P(
    ThatAreHard, Statements,
    ::testing::ValuesIn(std::vector<Named>{
        {"AMatrixPlusATransposeInCSR", "A(i,j) = B(i,j) + C(j,i)", "A:ds B:ds C:ds"},
        {"AMatrixPlusItsTranspose", "A(i,j) = B(i,j) + B(j,i)", "A:ds B:ds", Sizes::Same},
        {"AMatrixPlusATransposeIntoDCSR", "A(i,j) = B(i,j) + C(j,i)", "A:ss B:ss C:ss"},
        {"AMatrixPlusATransposeIntoADenseMatrix", "A(i,j) = B(i,j) + C(j,i)", "B:ds C:ds"},
        {"AMatrixPlusATransposeOfCoordinateLists", "A(i,j) = B(i,j) + C(j,i)", "A:uq B:uq C:uq"},
        {"AMatrixTimesATransposeElementwise", "A(i,j) = B(i,j) * C(j,i)", "A:ds B:ds C:ds"},
        {"TheProductOfThreeMatricesIntoCSR", "A(i,j) = B(i,k) * C(k,l) * D(l,j)", "A:ds B:ds C:ds D:ds"},
        {"TheProductOfThreeMatricesWithADenseOneIntoCSR", "A(i,j) = B(i,k) * C(k,l) * D(l,j)", "A:ds B:ds D:ds"},
        {"TheProductOfThreeMatricesInMixedFormats", "A(i,j) = B(i,k) * C(k,l) * D(l,j)", "A:ds B:uq C:ds:1,0 D:ss"},
        {"TheGalerkinProduct", "A(i,j) = P(k,i) * B(k,l) * P(l,j)", "A:ds B:ds P:ds", Sizes::Same},
        {"ASumOfMatricesTimesAMatrix", "A(i,j) = (B(i,k) + C(i,k)) * D(k,j)", "A:ds B:ds C:ds D:ds"},
        {"ASumOfMatricesTimesADenseMatrix", "A(i,j) = (B(i,k) + C(i,k)) * D(k,j)", "B:ds C:ss"},
        {"ASumOfMatricesTimesAMatrixIntoACoordinateList", "A(i,j) = (B(i,k) + C(i,k)) * D(k,j)", "A:uq B:ds C:uq D:ss"},
        {"TheDiagonalOfAMatrixInCSR", "a(i) = B(i,i)", "B:ds", Sizes::Same},
        {"TheDiagonalOfAMatrixInDCSR", "a(i) = B(i,i)", "B:ss", Sizes::Same},
        {"TheDiagonalOfACoordinateListIntoASparseVector", "a(i) = B(i,i)", "a:s B:uq", Sizes::Same},
        {"TheTraceOfAMatrixInCSR", "s = B(i,i)", "B:ds", Sizes::Same},
        {"AMatrixPlusANumberIntoADenseMatrix", "A(i,j) = B(i,j) + 2", "B:ds"},
        {"ACoordinateListPlusANumberIntoADenseMatrix", "A(i,j) = B(i,j) + 2", "B:uq"},
        {"TheMaximumOfAMatrixAndANumberIntoADenseMatrix", "A(i,j) = max(B(i,j), 3)", "B:ds"},
        {"TheMaximumOfAMatrixByColumnsAndANumber", "A(i,j) = max(B(i,j), 3)", "B:ds:1,0"},
        {"TheExponentialOfASparseMatrixIntoADenseOne", "A(i,j) = exp(B(i,j))", "B:ss"},
        {"TheAbsoluteValuesOfASparseMatrix", "A(i,j) = abs(B(i,j))", "A:ds B:ds"},
        {"TheLargerOfTwoSparseMatrices", "A(i,j) = max(B(i,j), C(i,j))", "A:ds B:ds C:ds"},
        {"ASparseMatrixByANumber", "A(i,j) = B(i,j) / 2", "A:ds B:ds"},
        {"ATransposeTimesAMatrixInCSR", "A(i,j) = B(k,i) * C(k,j)", "A:ds B:ds C:ds"},
        {"AMatrixTimesATransposeInCSR", "A(i,j) = B(i,k) * C(j,k)", "A:ds B:ds C:ds"},
        {"TheOuterProductOfSparseVectors", "A(i,j) = b(i) * c(j)", "A:ss b:s c:s"},
        {"TheOuterProductOfSparseVectorsIntoACoordinateList", "A(i,j) = b(i) * c(j)", "A:uq b:s c:s"},
        {"RowSumsIntoASparseVector", "a(i) = B(i,j)", "a:s B:ss"},
        {"ColumnSumsIntoASparseVector", "a(j) = B(i,j)", "a:s B:ds"},
        {"AnIncrementOfASparseMatrix", "A(i,j) += B(i,j)", "A:ds B:ds"},
        {"AnIncrementOfASparseMatrixByAProduct", "A(i,j) += B(i,k) * C(k,j)", "A:ds B:ds C:ds"},
        {"AMatrixTimesTheVectorThatIsWritten", "x(i) = B(i,j) * x(j)", "B:ds", Sizes::Same},
        {"AMatrixTimesTheSparseVectorThatIsWritten", "x(i) = B(i,j) * x(j)", "B:ds x:s", Sizes::Same},
        {"ABlockedMatrixTimesABlockedVector", "y(i,k) = A(i,j,k,l) * x(j,l)", "A:dsdd"},
        {"ABlockedMatrixTimesADenseBlockedMatrix", "C(i,k,n) = A(i,j,k,l) * B(j,l,n)", "A:dsdd"},
        {"TheSumOfTwoBlockedMatrices", "A(i,j,k,l) = B(i,j,k,l) + C(i,j,k,l)", "A:dsdd B:dsdd C:dsdd"},
        {"AMatrixOfSparseBlocksTimesABlockedVector", "y(i,k) = A(i,j,k,l) * x(j,l)", "A:ddss"},
        {"TheProductOfTwoBlockedMatrices", "A(i,j,m,n) = B(i,k,m,l) * C(k,j,l,n)", "A:dsdd B:dsdd C:dsdd"},
        {"ABlockedMatrixFromACoordinateList", "A(i,j,k,l) = B(i,j,k,l)", "A:dsdd B:uqqq"},
    }),
    sentence_of);

// ---- names that look alike -----------------------------------------------------------------------------------------------

INSTANTIATE_TEST_SUITE_P(
    WithNamesThatLookAlike, Statements,
    ::testing::ValuesIn(std::vector<Named>{
        {"ATensorCalledAsTheSecondAccessOfAnother", "A(i,j) = B(i,j) * B(j,i) + B2(i,j)", "", Sizes::Same},
        {"ASparseTensorCalledAsTheSecondAccessOfAnother", "A(i,j) = B(i,j) * B(j,i) + B2(i,j)", "A:ds B:ds B2:ds",
         Sizes::Same},
        {"AVectorCalledAsAnArrayOfAMatrix", "a(i) = B(i,j) * B2_pos(j) + B2_crd(i)", "B:ds"},
        {"TensorsThatDifferInAQuoteAndAnUnderscore", "A(i,j) = C'(i,j) * C_(i,j) + C(i,j)", "A:ds C':ds C_:ss"},
        {"VariablesThatDifferInAQuoteAndAnUnderscore", "A(i',i_) = B(i',i_) + C(i_,i')", "B:ds"},
        {"TensorsCalledAsCopiesOfOthers", "A(i,j) = C(i,j) * C(j,i) + C'(j,i) + C'2(j,i)", "A:ds C:ds C':ds C'2:ds",
         Sizes::Same},
        {"SeveralCopiesOfOneTensor", "E(i,j,k) = C(k,j,m) * C(k,i,j) + C(k,i,n) * D(o,i,n)", "C:dss D:dss E:dss",
         Sizes::Same},
        {"ThreeAccessesToOneTensorOfCompressedLevels", "A(l,j,i,m) = B(i,j,l) + B(m,j,l) * B(i,l,j)", "A:sdsd B:sss",
         Sizes::Same},
        {"ThreeAccessesToOneTensorOfPermutedLevels", "A(l,j,i,m) = B(i,j,l) + B(m,j,l) * B(i,l,j)",
         "A:sdsd B:sss:0,2,1", Sizes::Same},
    }),
    sentence_of);

// ---- zeros in the text ----------------------------------------------------------------------------------------------------

std::vector<Named> zeros() {
  std::vector<Named> out = {
      {"ZeroIntoANumber", "s = 0", ""},
      {"ZeroTimesAVector", "x(i) = 0 * b(i)", ""},
      {"ZeroTimesRowSums", "x(i) = 0 * B(i,j)", "B:ds"},
      {"ZeroTimesColumnSums", "x(j) = 0 * B(i,j)", "B:ds"},
      {"AnIncrementByZero", "x(i) += 0", ""},
      {"AnIncrementOfASparseVectorByZero", "x(i) += 0", "x:s"},
      {"AMatrixPlusZeroIntoADenseOne", "A(i,j) = B(i,j) + 0", "B:ds"},
      {"ADenseMatrixMinusZero", "A(i,j) = B(i,j) - 0", ""},
      {"AProductPlusZeroTimesAMatrix", "A(i,j) = B(i,k) * C(k,j) + 0 * D(i,j)", "A:ds B:ds C:ds D:ds"},
  };
  for (const char* format : {"dd", "ds", "ds:1,0", "ss", "sd", "uq"}) {
    std::string into = "Into_" + std::string(format), result = "A:" + std::string(format);
    std::erase_if(into, [](char c) { return c == ':' || c == ','; });
    out.push_back({"Zero" + into, "A(i,j) = 0", result});
    out.push_back({"ZeroTimesAMatrix" + into, "A(i,j) = 0 * B(i,j)", result + " B:ds"});
    out.push_back({"ZeroTimesATranspose" + into, "A(i,j) = 0 * B(j,i)", result + " B:ds"});
    out.push_back({"ZeroTimesAProduct" + into, "A(i,j) = 0 * B(i,k) * C(k,j)", result + " B:ds C:ds"});
    out.push_back({"AMatrixPlusZero" + into, "A(i,j) = B(i,j) + 0", result + " B:ds"});
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(WithZeros, Statements, ::testing::ValuesIn(zeros()), sentence_of);

// ---- every format with every other ---------------------------------------------------------------------------------------

struct MatrixFormat {
  std::string name, text;
};

std::vector<Named> products() {
  const std::vector<MatrixFormat> formats = {{"Dense", "dd"},      {"CSR", "ds"}, {"CSC", "ds:1,0"}, {"DCSR", "ss"},
                                             {"SparseRows", "sd"}, {"COO", "uq"}, {"Hashed", "dh"}};
  std::vector<Named> out;
  for (const auto& b : formats)
    for (const auto& c : formats)
      for (const auto& a : formats)
        out.push_back({b.name + "Times" + c.name + "Into" + a.name, "A(i,j) = B(i,k) * C(k,j)",
                       "A:" + a.text + " B:" + b.text + " C:" + c.text});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Products, Statements, ::testing::ValuesIn(products()), sentence_of);

std::vector<Named> copies() {
  const std::vector<MatrixFormat> formats = {{"Dense", "dd"},
                                             {"DenseByColumns", "dd:1,0"},
                                             {"CSR", "ds"},
                                             {"CSC", "ds:1,0"},
                                             {"DCSR", "ss"},
                                             {"DCSC", "ss:1,0"},
                                             {"SparseRows", "sd"},
                                             {"COO", "uq"},
                                             {"COOByColumns", "uq:1,0"},
                                             {"Hashed", "dh"},
                                             {"HashedTwice", "hh"},
                                             {"Bitmap", "db"},
                                             {"Banded", "dr"}};
  std::vector<Named> out;
  for (const auto& b : formats)
    for (const auto& a : formats) {
      std::string places = "A:" + a.text + " B:" + b.text;
      out.push_back({"ACopyFrom" + b.name + "Into" + a.name, "A(i,j) = B(i,j)", places});
      out.push_back({"ATransposeFrom" + b.name + "Into" + a.name, "A(i,j) = B(j,i)", places});
    }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Copies, Statements, ::testing::ValuesIn(copies()), sentence_of);

// ---- coordinates in no order -------------------------------------------------------------------------------------------

INSTANTIATE_TEST_SUITE_P(
    OfHashedLevels, Statements,
    ::testing::ValuesIn(std::vector<Named>{
        {"AHashedMatrixTimesAVector", "y(i) = A(i,j) * x(j)", "A:dh"},
        {"AMatrixHashedTwiceTimesAVector", "y(i) = A(i,j) * x(j)", "A:hh"},
        {"AMatrixHashedTwiceTimesAVectorIntoAHashedOne", "y(i) = A(i,j) * x(j)", "A:hh y:h"},
        {"AMatrixTimesAHashedVector", "y(i) = A(i,j) * x(j)", "A:ds x:h"},
        {"AHashedMatrixTimesAHashedVector", "y(i) = A(i,j) * x(j)", "A:dh x:h y:s"},
        {"AHashedMatrixByColumnsTimesAVector", "y(i) = A(i,j) * x(j)", "A:hs:1,0"},
        {"ASumOfACompressedAndAHashedMatrix", "A(i,j) = B(i,j) + C(i,j)", "A:ds B:ds C:dh"},
        {"ASumOfHashedMatrices", "A(i,j) = B(i,j) + C(i,j)", "A:dh B:dh C:dh"},
        {"ASumOfMatricesHashedTwice", "A(i,j) = B(i,j) + C(i,j)", "A:hh B:ss C:hh"},
        {"ASumOfThreeOfWhichOneIsHashed", "A(i,j) = B(i,j) + C(i,j) - D(i,j)", "A:ss B:ss C:hs D:sh"},
        {"AProductOfACompressedAndAHashedMatrix", "A(i,j) = B(i,j) * C(i,j)", "A:ds B:ds C:dh"},
        {"AProductOfHashedMatrices", "A(i,j) = B(i,j) * C(i,j)", "A:ds B:dh C:dh"},
        {"AProductIntoAHashedMatrix", "A(i,j) = B(i,j) * C(i,j)", "A:dh B:hh C:ss"},
        {"AProductAndASum", "A(i,j) = B(i,j) * C(i,j) + D(i,j)", "A:ds B:dh C:ds D:hh"},
        {"ATransposeOfAMatrixHashedTwice", "A(i,j) = B(j,i)", "A:hs B:hh"},
        {"RowsAreSummedIntoAHashedVector", "a(i) = B(i,j) + C(i,j)", "a:h B:dh C:ds"},
        {"AProductOfMatricesIntoOneHashedTwice", "A(i,j) = B(i,k) * C(k,j)", "A:hh B:ss C:hs"},
        {"AProductOfHashedMatricesIntoACompressedOne", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:dh C:hs"},
        {"ASampledProduct", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:dh B:dh"},
        {"ASampledProductIntoAnotherFormat", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:ds B:hh"},
        {"MTTKRPOfATensorHashedThrice", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:hhh"},
        {"MTTKRPOfATensorHashedInTheMiddle", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:shs"},
        {"ATensorTimesAHashedVector", "A(i,j) = B(i,j,k) * c(k)", "A:hh B:sss c:h"},
        {"TheDiagonalOfAHashedMatrix", "a(i) = B(i,i)", "a:s B:hh", Sizes::Same},
        {"AHashedMatrixAndItsTranspose", "A(i,j) = B(i,j) + B(j,i)", "A:ds B:dh", Sizes::Same},
        {"ACompressedMatrixIntoAHashedOneOfDenseRows", "A(i,j) = B(i,j)", "A:hd B:ds"},
        {"AHashedMatrixOfDenseRowsIntoACompressedOne", "A(i,j) = B(i,j)", "A:ds B:hd"}}),
    sentence_of);

// ---- places of which some are empty --------------------------------------------------------------------------------------

INSTANTIATE_TEST_SUITE_P(OfBitmaps, Statements,
                         ::testing::ValuesIn(std::vector<Named>{
                             {"ABitmapTimesAVector", "y(i) = A(i,j) * x(j)", "A:db"},
                             {"ABitmapOfBitmapsTimesAVector", "y(i) = A(i,j) * x(j)", "A:bb"},
                             {"ABitmapOfCompressedRowsTimesAVector", "y(i) = A(i,j) * x(j)", "A:bs"},
                             {"CompressedRowsOfBitmapsTimesAVectorIntoABitmap", "y(i) = A(i,j) * x(j)", "A:sb y:b"},
                             {"ABitmapOfDenseRowsTimesABitmap", "y(i) = A(i,j) * x(j)", "A:bd x:b"},
                             {"ASumOfBitmaps", "A(i,j) = B(i,j) + C(i,j)", "A:db B:db C:db"},
                             {"ASumOfABitmapAndACompressedMatrix", "A(i,j) = B(i,j) + C(i,j)", "A:ds B:bb C:ss"},
                             {"ASumOfThreeOfWhichOneIsABitmap", "A(i,j) = B(i,j) + C(i,j) - D(i,j)",
                              "A:ss B:ss C:bs D:sb"},
                             {"AProductOfBitmaps", "A(i,j) = B(i,j) * C(i,j)", "A:ds B:db C:db"},
                             {"AProductOfABitmapAndACompressedMatrix", "A(i,j) = B(i,j) * C(i,j)", "A:db B:ds C:bb"},
                             {"AProductAndASumOfBitmaps", "A(i,j) = B(i,j) * C(i,j) + D(i,j)", "A:ds B:db C:ds D:bb"},
                             {"TwiceABitmap", "A(i,j) = 2 * B(i,j)", "A:bb B:bb"},
                             {"AProductOfMatricesIntoABitmap", "A(i,j) = B(i,k) * C(k,j)", "A:bb B:bs C:db"},
                             {"ASampledProductOfABitmap", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:db B:db"},
                             {"MTTKRPOfBitmaps", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:bbb"},
                             {"MTTKRPOfABitmapInTheMiddle", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:sbs"},
                             {"RowsOfABitmapAreSummed", "a(i) = B(i,j) + C(i,j)", "a:b B:db C:ds"},
                             {"TheDiagonalOfABitmap", "a(i) = B(i,i)", "a:s B:bb", Sizes::Same},
                             {"ABitmapAndItsTranspose", "A(i,j) = B(i,j) + B(j,i)", "A:ds B:db", Sizes::Same}}),
                         sentence_of);

// ---- coordinates one after the other -------------------------------------------------------------------------------------

INSTANTIATE_TEST_SUITE_P(
    OfBands, Statements,
    ::testing::ValuesIn(std::vector<Named>{
        {"ABandedMatrixTimesAVector", "y(i) = A(i,j) * x(j)", "A:dr"},
        {"BandsOfBandsTimesAVector", "y(i) = A(i,j) * x(j)", "A:rr"},
        {"ABandOfCompressedRowsTimesAVector", "y(i) = A(i,j) * x(j)", "A:rs"},
        {"CompressedRowsOfBandsTimesAVectorIntoABand", "y(i) = A(i,j) * x(j)", "A:sr y:r"},
        {"ABandOfDenseRowsTimesABand", "y(i) = A(i,j) * x(j)", "A:rd x:r"},
        {"ABandedMatrixByColumnsTimesAVector", "y(i) = A(i,j) * x(j)", "A:dr:1,0"},
        {"ASumOfBandedMatrices", "A(i,j) = B(i,j) + C(i,j)", "A:dr B:dr C:dr"},
        {"ASumOfABandedAndACompressedMatrix", "A(i,j) = B(i,j) + C(i,j)", "A:ds B:rr C:ss"},
        {"ASumOfThreeOfWhichOneIsBanded", "A(i,j) = B(i,j) + C(i,j) - D(i,j)", "A:ss B:ss C:rs D:sr"},
        {"AProductOfBandedMatrices", "A(i,j) = B(i,j) * C(i,j)", "A:ds B:dr C:dr"},
        {"AProductOfABandedMatrixABitmapAndAHashedOne", "A(i,j) = B(i,j) * C(i,j) * D(i,j)", "A:ds B:rr C:bb D:hh"},
        {"TwiceABandedMatrix", "A(i,j) = 2 * B(i,j)", "A:rr B:rr"},
        {"AProductOfMatricesIntoABandedOne", "A(i,j) = B(i,k) * C(k,j)", "A:dr B:rs C:dr"},
        {"ASampledProductOfABandedMatrix", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:dr B:dr"},
        {"MTTKRPOfBands", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:rrr"},
        {"MTTKRPOfABandInTheMiddle", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:srs"},
        {"TheDiagonalOfABandedMatrix", "a(i) = B(i,i)", "a:s B:rr", Sizes::Same},
        {"ABandedMatrixAndItsTranspose", "A(i,j) = B(i,j) + B(j,i)", "A:ds B:dr", Sizes::Same}}),
    sentence_of);

}  // namespace
}  // namespace spdistal
