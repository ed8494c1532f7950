// Non-zeros divided among threads: rows that a share cuts are shared, all others are one thread's alone. Every size of
// share and number of threads against the dense evaluator, through the interpreter, which finds races.
#include <gtest/gtest.h>

#include <random>

#include "codegen/jit.hpp"
#include "execute/call.hpp"
#include "ir/interpret.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "runtime/device/host_context.hpp"
#include "support/program_case.hpp"
#include "support/random_tensor.hpp"

namespace spdistal {
namespace {

using namespace notation;

// Small whole numbers, so that sums are exact in any order; some rows and some slices empty, some long.
reference::DenseArray draw(std::mt19937_64& random, const std::vector<int64_t>& dims, bool sparse) {
  reference::DenseArray out(ScalarType::Float64, dims);
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  size_t row = dims.empty() ? 1 : size_t(dims.back());
  size_t slice = dims.empty() ? 1 : out.values.size() / size_t(dims.front());
  int density = 0, most = 3;
  for (size_t k = 0; k < out.values.size(); k++) {
    if (k % slice == 0) most = number(0, 3) == 0 ? 0 : 3;
    if (k % row == 0) density = number(0, most);
    if (!sparse || number(0, 2) < density) out.values[k] = Scalar(double(number(1, 3)));
  }
  return out;
}

struct Split {
  std::string statement, tensors;  // "B ds 5 7, c d 7"
  std::string schedule;            // before the split; fp are the positions
};

const std::string by_tubes = "reorder(i,j,k,l); fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))";
const std::string by_fibres = "fuse(i,j,f); fuse(f,k,g); fuse(g,l,h); pos(h,fp,B(i,j,k,l))";

const std::vector<Split> splits = {
    {"a(i) = B(i,j) * c(j)", "a d 6, B ds 6 7, c d 7", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"a(i) = B(i,j) * c(j)", "a d 6, B ss 6 7, c d 7", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"a(i) = B(i,j) * c(j)", "a d 6, B uq 6 7, c d 7", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"a(i) = B(i,j) * c(j)", "a d 6, B us 6 7, c d 7", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"a(i) += B(i,j) * c(j)", "a d 6, B ds 6 7, c d 7", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"a(j) = B(i,j) * c(i)", "a d 7, B ds 6 7, c d 6", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"a(i) = B(i,j) * C(i,j)", "a d 6, B ds 6 7, C ds 6 7", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"s = B(i,j) * C(i,j)", "s - , B ds 6 7, C dd 6 7", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"A(i,k) = B(i,j) * C(j,k)", "A dd 6 4, B ds 6 7, C dd 7 4", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"A(i,k) = B(i,j) * C(j,k)", "A dd 6 4, B ds 6 7, C dd 7 4",
     "fuse(i,j,f); pos(f,fp,B(i,j)); parallelize(k,CPUVector)"},
    {"A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A ds 6 7, B ds 6 7, C dd 6 3, D dd 3 7",
     "reorder(i,j,k); fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"A(i,j) = B(i,j,k) * c(k)", "A ds 4 3, B dss 4 3 5, c d 5", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 4 2, B sss 4 3 5, C dd 3 2, D dd 5 2",
     "reorder(i,j,k,l); fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"a(i) = B(i,j,k) * c(k)", "a d 4, B dss 4 3 5, c d 5", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"A(i,j) = B(i,j,k) * c(k)", "A dd 4 3, B dds 4 3 5, c d 5", "fuse(j,k,g); pos(g,fp,B(i,j,k))"},
    // One row over many shares.
    {"a(i) = B(i,j) * c(j)", "a d 1, B ds 1 40, c d 40", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"a(i) = B(i,j) * c(j)", "a d 2, B uq 2 30, c d 30", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 1 2, B dss 1 6 7, C dd 6 2, D dd 7 2", by_tubes},
    // Rows above more than one level.
    {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 6 2, B dss 6 3 5, C dd 3 2, D dd 5 2", by_tubes},
    {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 6 2, B dds 6 3 5, C dd 3 2, D dd 5 2", by_tubes},
    {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 6 2, B sds 6 3 5, C dd 3 2, D dd 5 2", by_tubes},
    {"A(i,l) += B(i,j,k) * C(j,l) * D(k,l)", "A dd 6 2, B dss 6 3 5, C dd 3 2, D dd 5 2", by_tubes},
    {"A(l,i) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 2 6, B sss 6 3 5, C dd 3 2, D dd 5 2", by_tubes},
    {"A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", "A ddd 6 2 3, B dss 6 3 5, C dd 3 2, D dd 5 3",
     "reorder(i,j,k,l,m); fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"a(i) = B(i,j,k) * c(j) * d(k)", "a d 6, B sss 6 3 5, c d 3, d d 5",
     "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"a(i) = B(i,j,k) * c(j) * d(k)", "a d 6, B dds 6 3 5, c d 3, d d 5",
     "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"a(i) = B(i,j,k,l) * c(l)", "a d 4, B dsss 4 3 3 4, c d 4", by_fibres},
    {"a(i) = B(i,j,k,l) * c(l)", "a d 4, B ssds 4 3 3 4, c d 4", by_fibres},
    {"A(i,j) = B(i,j,k,l) * c(l)", "A dd 4 3, B dsss 4 3 3 4, c d 4", by_fibres},
    {"A(i,k) = B(i,j,k,l) * c(l)", "A dd 4 3, B ssss 4 3 3 4, c d 4", by_fibres},
    {"A(i,k) = B(i,j,k) * c(j)", "A dd 6 5, B dss 6 3 5, c d 3", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    // Lists of coordinates: all of it, and below rows.
    {"A(i,k) = B(i,j) * C(j,k)", "A dd 6 4, B uq 6 7, C dd 7 4", "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A uq 6 7, B uq 6 7, C dd 6 3, D dd 3 7",
     "reorder(i,j,k); fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 6 2, B uqq 6 3 5, C dd 3 2, D dd 5 2", by_tubes},
    {"a(i) += B(i,j,k) * c(k)", "a d 6, B uqq 6 3 5, c d 5", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"A(i,j) = B(i,j,k) * c(k)", "A dd 6 3, B uqq 6 3 5, c d 5", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"A(i,k) = B(i,j,k) * c(j)", "A dd 6 5, B uqq 6 3 5, c d 3", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"A(j,k) = B(i,j,k) * c(i)", "A dd 3 5, B uqq 6 3 5, c d 6", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A dd 6 2, B duq 6 3 5, C dd 3 2, D dd 5 2", by_tubes},
    {"A(i,j) = B(i,j,k) * c(k)", "A dd 6 3, B duq 6 3 5, c d 5", "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"A(i,j) = B(i,j,k) * c(k)", "A dd 6 3, B duq 6 3 5, c d 5", "fuse(j,k,g); pos(g,fp,B(i,j,k))"},
    {"a(j) = B(i,j,k) * c(k)", "a d 3, B duq 6 3 5, c d 5", "fuse(j,k,g); pos(g,fp,B(i,j,k))"},
};

test::ProgramCase as_case(const Split& split, std::mt19937_64& random) {
  test::ProgramCase out{split.statement, {}, {}};
  std::istringstream tensors(split.tensors);
  for (std::string one; std::getline(tensors, one, ',');) {
    std::istringstream words(one);
    std::string name, format;
    words >> name >> format;
    std::vector<int64_t> dims;
    for (int64_t n; words >> n;) dims.push_back(n);
    Format storage = Format::parse(dims.empty() ? "" : format);
    out.tensors.emplace(
        name, test::TensorCase{storage, draw(random, dims, !storage.is_dense()), std::vector<bool>(dims.size(), true)});
  }
  out.commands = {split.schedule};
  return out;
}

using Caller = std::function<void(const Leaf& leaf, spd_call& call)>;

void expect_right(const test::ProgramCase& described, int64_t threads, const Caller& caller) {
  test::BuiltProgram program = test::build(described);
  test::StoredProgram data(program);
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  Leaf leaf(program.statement, data.storages);
  runtime::HostContext context(threads);
  Storage result = compute(leaf, data.storages, context, [&](spd_call& call) { caller(leaf, call); });
  EXPECT_TRUE(test::to_array(result) == wanted.at(program.assignment.lhs.tensor));
}

void interpreted(const Leaf& leaf, spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); }

TEST(Splits, OfNonZerosAmongThreadsGiveTheSameForEverySizeAndNumber) {
  std::mt19937_64 random{7};
  for (const Split& split : splits)
    for (int repeat = 0; repeat < 3; repeat++)
      for (int64_t threads : {1, 2, 3, 7}) {
        test::ProgramCase program = as_case(split, random);
        for (const char* how :
             {"parallelize(fp,CPUThread)", "split(fp,fo,fi,1); parallelize(fo,CPUThread)",
              "split(fp,fo,fi,3); parallelize(fo,CPUThread)", "divide(fp,fo,fi,5); parallelize(fo,CPUThread)",
              "divide(fp,fo,fi,2); parallelize(fi,CPUThread)"}) {
          program.commands.resize(1);
          program.commands.push_back(how);
          SCOPED_TRACE(std::to_string(threads) + " threads: " + test::describe(program));
          try {
            expect_right(program, threads, interpreted);
          } catch (const std::exception& error) { FAIL() << error.what(); }
        }
      }
}

TEST(Splits, OfNonZerosAmongThreadsAreRightWhenCompiled) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  std::mt19937_64 random{8};
  for (const Split& split : splits) {
    test::ProgramCase program = as_case(split, random);
    program.commands.push_back("split(fp,fo,fi,3); parallelize(fo,CPUThread)");
    SCOPED_TRACE(test::describe(program));
    try {
      expect_right(program, 3, [&](const Leaf& leaf, spd_call& call) { jit.load(leaf.function())(call); });
    } catch (const std::exception& error) { FAIL() << error.what(); }
  }
}

}  // namespace
}  // namespace spdistal
