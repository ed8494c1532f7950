#include "program/operations.hpp"

#include <gtest/gtest.h>

#include <map>

#include "notation/parse.hpp"
#include "runtime/transport/threads.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {
namespace {

using namespace notation;

// Tensors by name: capital letters are sparse, 4 x 4 with entries on the diagonal and in the first row.
class Operations : public ::testing::Test {
 protected:
  std::optional<double> count(const std::string& text) {
    auto alone = runtime::loopback();
    std::map<TensorVar, Home> stored;
    ParseScope scope;
    scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
      bool sparse = std::isupper(static_cast<unsigned char>(name.text[0]));
      Format format = sparse ? CSF(indices.size()) : dense_format(indices.size());
      TensorVar tensor({Symbol(std::string(name.text)), ScalarType::Float64,
                        std::vector<Extent>(indices.size(), Extent(4)), format});
      Coordinates entries(std::vector<int64_t>(indices.size(), 4), ScalarType::Float64);
      if (sparse && indices.size() == 2)
        for (int64_t k = 0; k < 4; k++) {
          entries.add({k, k}, 1.0);
          if (k > 0) entries.add({0, k}, 1.0);
        }
      Shares one = undivided(entries.dims());
      stored.emplace(tensor, pack(*alone, std::move(entries), format, one));
      return tensor;
    };
    Assignment assignment = parse_assignment(text, scope);
    return count_operations(*alone, assignment,
                            [&](const TensorVar& tensor) -> const Home& { return stored.at(tensor); });
  }
};

TEST_F(Operations, OfAMatrixTimesAVectorAreTwoForEachEntry) {
  EXPECT_EQ(count("a(i) = B(i,j) * c(j)"), 2 * 7);
  EXPECT_EQ(count("a(i) += B(i,j) * c(j)"), 2 * 7);
  EXPECT_EQ(count("a(i) = b(i,j) * c(j)"), 2 * 16);
}

TEST_F(Operations, CountDenseVariablesByTheirSizes) {
  EXPECT_EQ(count("a(i,k) = B(i,j) * c(j,k)"), 2 * 7 * 4);
  EXPECT_EQ(count("a(i,j) = B(i,j) * c(i,k) * d(k,j)"), 3 * 7 * 4);
}

TEST_F(Operations, OfTwoSparseFactorsAreCountedWhereBothAreStored) {
  EXPECT_EQ(count("a(i,j) = B(i,j) * C(i,j)"), 7);
  // Columns of B have 1, 2, 2, 2 entries, rows of C 4, 1, 1, 1.
  EXPECT_EQ(count("a(i,j) = B(i,k) * C(k,j)"), 2 * (4 + 2 + 2 + 2));
  EXPECT_EQ(count("a(i) = B(i,i)"), 0);
  EXPECT_EQ(count("a(i) = 2 * B(i,i)"), 4);
}

TEST_F(Operations, OfSumsAreAnAdditionForEachFurtherTerm) {
  EXPECT_EQ(count("a(i,j) = B(i,j) + C(i,j) + D(i,j)"), 14);
  EXPECT_EQ(count("a(i,j) = B(i,j)"), 0);
}

TEST_F(Operations, OfOtherStatementsAreNotKnown) {
  EXPECT_EQ(count("a(i) = sqrt(b(i))"), std::nullopt);
  EXPECT_EQ(count("a(i) = B(i,j) / c(j)"), std::nullopt);
  EXPECT_EQ(count("a(i,j) = (B(i,j) + C(i,j)) * d(i,j)"), std::nullopt);
  EXPECT_EQ(count("a(i,j) = B(i,j) * C(i,j) * D(i,j)"), std::nullopt);
}

}  // namespace
}  // namespace spdistal
