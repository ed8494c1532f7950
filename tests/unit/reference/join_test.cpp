// The evaluation by joins against the one from the definition.
#include "reference/join.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "notation/arithmetic.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "support/random_program.hpp"

namespace spdistal::reference {
namespace {

using namespace notation;
using Complex = std::complex<double>;

Complex as_complex(const Scalar& value) {
  return std::get<Complex>(static_cast<const ScalarVariant&>(convert(value, ScalarType::Complex128)));
}

// f(coordinates, value) for every element.
void each_element(const DenseArray& array, const std::function<void(const std::vector<int64_t>&, const Scalar&)>& f) {
  std::vector<int64_t> at(array.dims.size());
  for (size_t n = 0; n < array.values.size(); n++) {
    size_t rest = n;
    for (size_t d = at.size(); d-- > 0; rest /= size_t(array.dims[d])) at[d] = int64_t(rest % size_t(array.dims[d]));
    f(at, array.values[n]);
  }
}

EntryList entries_of(const DenseArray& array) {
  EntryList out{array.dims};
  each_element(array, [&](const std::vector<int64_t>& at, const Scalar& value) {
    if (is_zero(value)) return;
    out.coordinates.insert(out.coordinates.end(), at.begin(), at.end());
    out.values.push_back(as_complex(value));
  });
  return out;
}

// All slices together.
std::optional<std::map<std::vector<int64_t>, Judged>> joined(const Assignment& assignment, const Arrays& arrays) {
  EntryTable table;
  for (const auto& [tensor, array] : arrays) table.emplace(tensor, entries_of(array));
  std::map<std::vector<int64_t>, Judged> out;
  int64_t last = -1;
  bool done = evaluate_by_joins(assignment, table, [&](int64_t first, JudgedElements& elements) {
    EXPECT_GT(first, last) << "slices ascend";
    last = first;
    for (size_t n = 0; n < elements.size(); n++) {
      std::vector<int64_t> at(elements.key(n).begin(), elements.key(n).end());
      EXPECT_EQ(at.empty() ? 0 : at[0], first);
      EXPECT_TRUE(out.emplace(at, elements.value(n)).second) << "an element comes once";
    }
  });
  return done ? std::optional(out) : std::nullopt;
}

TEST(Joins, AgreeWithTheDefinitionOnRandomPrograms) {
  int compared = 0;
  for (uint64_t seed = 1; seed <= 4000 && !::testing::Test::HasFailure(); seed++) {
    std::mt19937_64 random{seed};
    test::RandomProgram program = test::draw_finite_program(random);
    Assignment assignment = program.assignment;
    if (assignment.op != AssignOp::Set)
      assignment = {assignment.lhs, AssignOp::Set,
                    combined(assignment.op, assignment.lhs, with_reductions(assignment).rhs)};
    auto found = joined(assignment, program.arrays);
    if (!found) continue;
    compared++;
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, print(assignment)));
    Arrays wanted = program.arrays;
    evaluate(assignment, wanted);
    const DenseArray& result = wanted.at(assignment.lhs.tensor);
    each_element(result, [&](const std::vector<int64_t>& at, const Scalar& value) {
      auto element = found->find(at);
      Complex sum = element == found->end() ? 0 : element->second.value;
      EXPECT_EQ(as_complex(convert(sum, result.type)), as_complex(value));
      if (element != found->end()) { EXPECT_GE(element->second.magnitude * (1 + 1e-12), std::abs(sum)); }
    });
  }
  EXPECT_GT(compared, 2000);
}

TEST(Joins, AreNotForFunctionsAndQuotients) {
  for (const char* text : {"a(i) = exp(b(i))", "a(i) = b(i) / c(i)", "a(i) = b(i) * max(c(i), 2)"}) {
    ParseScope scope;
    Arrays arrays;
    scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
      TensorVar tensor({Symbol(std::string(name.text)), ScalarType::Float64, std::vector<Extent>(indices.size(), 3),
                        dense_format(indices.size())});
      arrays.emplace(tensor, DenseArray(tensor.type(), std::vector<int64_t>(indices.size(), 3)));
      return tensor;
    };
    EXPECT_FALSE(joined(parse_assignment(text, scope), arrays)) << text;
  }
}

TEST(Joins, TakeTimeWithWhatIsStoredAndNotWithSizes) {
  constexpr int64_t large = int64_t(1) << 40;
  ParseScope scope;
  EntryTable table;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    TensorVar tensor({Symbol(std::string(name.text)), ScalarType::Float64, std::vector<Extent>(indices.size(), large),
                      Format::parse("ss")});
    table.emplace(tensor, EntryList{std::vector<int64_t>(indices.size(), large)});
    return tensor;
  };
  Assignment assignment = parse_assignment("A(i,j) = B(i,k) * C(k,j)", scope);
  auto put = [&](const char* name, std::vector<int64_t> at, double value) {
    EntryList& entries = table.at(scope.tensors.find(name)->second);
    entries.coordinates.insert(entries.coordinates.end(), at.begin(), at.end());
    entries.values.push_back(value);
  };
  put("B", {large - 1, 7}, 2), put("B", {large - 1, 3}, 5), put("B", {4, 9}, 1);
  put("C", {7, large - 2}, 10), put("C", {3, large - 2}, 100), put("C", {8, 8}, 1);
  std::map<std::vector<int64_t>, double> found;
  evaluate_by_joins(assignment, table, [&](int64_t, JudgedElements& elements) {
    for (size_t n = 0; n < elements.size(); n++)
      found[{elements.key(n).begin(), elements.key(n).end()}] = elements.value(n).value.real();
  });
  EXPECT_EQ(found, (std::map<std::vector<int64_t>, double>{{{large - 1, large - 2}, 520}}));
}

}  // namespace
}  // namespace spdistal::reference
