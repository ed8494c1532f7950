// Workspaces of dimensions far larger than what can be touched of them are hashed. What counts as large is taken small
// here; products of sparse matrices against the dense evaluator, interpreted and compiled.
#include <gtest/gtest.h>

#include <random>

#include "codegen/jit.hpp"
#include "execute/call.hpp"
#include "ir/interpret.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "reference/evaluate.hpp"
#include "runtime/device/host_context.hpp"
#include "support/program_case.hpp"
#include "support/random_tensor.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;

constexpr int64_t rows = 5, inner = 4, columns = 300;

// So many entries of small whole numbers; columns lie so far apart that a table with `places` has one place for all.
reference::DenseArray draw(std::mt19937_64& random, int64_t n, int64_t m, int64_t entries, int64_t places) {
  reference::DenseArray out(ScalarType::Float64, {n, m});
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int64_t e = 0; e < entries; e++) {
    int64_t row = number(0, n - 1), column = number(0, (m - 1) / places) * places;
    out.values[size_t(row * m + column)] = Scalar(double(number(1, 3)));
  }
  return out;
}

struct Product {
  std::string statement, a, c, schedule;
};

const std::vector<Product> products = {
    {"A(i,j) = B(i,k) * C(k,j)", "ds", "ds", "reorder(i,k,j); parallelize(i,CPUThread)"},
    {"A(i,j) = B(i,k) * C(k,j)", "ss", "ss", "reorder(i,k,j); parallelize(i,CPUThread)"},
    {"A(i,j) = B(i,k) * C(k,j)", "ss", "uq", "reorder(i,k,j)"},
    {"A(i,j) = B(i,k) * (C(k,j) + D(k,j))", "ss", "ss", "reorder(i,k,j)"},
    {"A(i,j) = B(i,k) * C(k,j) * D(k,j)", "ds", "ds", "reorder(i,k,j)"},
    // Every coordinate may be touched.
    {"A(i,j) = B(i,k) * (C(k,j) + 1)", "ds", "ds", "reorder(i,k,j)"},
    {"A(i,j) = B(i,k) * C(k,j)", "ds", "dd", "reorder(i,k,j)"},
};

using Caller = std::function<void(const Leaf& leaf, spd_call& call)>;

void expect_right(const Product& product, std::mt19937_64& random, int64_t entries, int64_t places,
                  const Caller& caller) {
  test::ProgramCase described{product.statement, {}, {product.schedule}};
  auto add = [&](const char* name, const std::string& format, const reference::DenseArray& array) {
    described.tensors.emplace(name, test::TensorCase{Format::parse(format), array, {true, true}});
  };
  add("A", product.a, reference::DenseArray(ScalarType::Float64, {rows, columns}));
  add("B", "ds", draw(random, rows, inner, 12, 1));
  add("C", product.c, draw(random, inner, columns, entries, places));
  if (product.statement.find("D(") != std::string::npos)
    add("D", product.c, draw(random, inner, columns, entries, places));
  SCOPED_TRACE(test::describe(described));
  test::BuiltProgram program = test::build(described);
  test::StoredProgram stored(program);
  const Storages& storages = stored.storages;
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  Leaf leaf(program.statement, storages, LeafOptions{.largest_dense_workspace = columns - 1});
  runtime::HostContext context(3);
  Storage result = compute(leaf, storages, context, [&](spd_call& call) { caller(leaf, call); });
  EXPECT_TRUE(test::to_array(result) == wanted.at(program.assignment.lhs.tensor));
}

TEST(HashedWorkspaces, GiveWhatDenseOnesGive) {
  std::mt19937_64 random{3};
  for (const Product& product : products)
    for (int64_t entries : {0, 1, 4, 12, 30, 200})
      for (int64_t places : {int64_t(1), int64_t(8), 2 * entries + 1})
        expect_right(product, random, entries, places,
                     [](const Leaf& leaf, spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); });
}

TEST(HashedWorkspaces, GiveTheSameWhenCompiled) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  std::mt19937_64 random{4};
  for (const Product& product : products)
    for (int64_t entries : {12, 200})
      expect_right(product, random, entries, 2 * entries + 1,
                   [&](const Leaf& leaf, spd_call& call) { jit.load(leaf.function())(call); });
}

// The dense evaluator cannot hold it: one row and one column of a product are known by hand.
TEST(HashedWorkspaces, TakeNoRoomForWhatADimensionHas) {
  constexpr int64_t n = 1'000'000'000'000;
  Coordinates b({n, n}, ScalarType::Float64), c({n, n}, ScalarType::Float64);
  auto insert = [](Coordinates& to, int64_t i, int64_t j, double v) {
    int64_t at = to.size();
    to.resize(at + 1);
    to.column(0)[size_t(at)] = i, to.column(1)[size_t(at)] = j;
    to.values<double>()[size_t(at)] = v;
  };
  insert(b, 7, 5, 2), insert(b, 7, n - 1, 3);
  insert(c, 5, 1, 10), insert(c, 5, n - 2, 20), insert(c, n - 1, n - 2, 30);
  Storage stored_b = pack(std::move(b), Format::parse("ss")), stored_c = pack(std::move(c), Format::parse("ss"));
  ParseScope scope;
  auto declare = [&](const char* name) {
    return scope.tensors
        .emplace(name, TensorVar({Symbol(name), ScalarType::Float64, {Extent(n), Extent(n)}, Format::parse("ss")}))
        .first->second;
  };
  declare("A");
  Storages storages{{declare("B"), &stored_b}, {declare("C"), &stored_c}};
  Assignment assignment = parse_assignment("A(i,j) = B(i,k) * C(k,j)", scope);
  Leaf leaf(concretize(assignment).value(), storages);
  runtime::HostContext context(2);
  Storage result = compute(leaf, storages, context, [&](spd_call& call) { ir::interpret(leaf.function(), call); });
  Coordinates found = unpack(result);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found.column(1)[0], 1);
  EXPECT_EQ(found.column(1)[1], n - 2);
  EXPECT_EQ(found.values<double>()[0], 20);
  EXPECT_EQ(found.values<double>()[1], 130);
}

}  // namespace
}  // namespace spdistal
