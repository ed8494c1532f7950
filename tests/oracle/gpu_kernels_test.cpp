// The kernels of the paper and products of sparse matrices on a GPU: by rows and by non-zeros, in single and double precision,
// with index arrays of 32 and 64 bits, against the dense evaluator. Dense dimensions are such that lanes take several columns at
// once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "codegen/cuda.hpp"
#include "codegen/gpu_kernel.hpp"
#include "codegen/nvrtc.hpp"
#include "compile/choose.hpp"
#include "oracle/small_statement.hpp"
#include "support/gpu.hpp"

namespace spdistal {
namespace {

struct GpuKernel {
  std::string name, statement, formats;
  std::vector<int64_t> sizes;  // of i, j, k, l
  std::string non_zeros;       // the schedule
};

const std::vector<GpuKernel> kernels = {
    {"SpMV", "A(i) = B(i,j) * C(j)", "B:ds", {40, 30}, "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"SpMVOfLongRows", "A(i) = B(i,j) * C(j)", "B:ds", {12, 400}, "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"SpMM", "A(i,j) = B(i,k) * C(k,j)", "B:ds", {40, 32, 30}, "fuse(i,k,f); pos(f,fp,B(i,k))"},
    {"SpAdd3", "A(i,j) = B(i,j) + C(i,j) + D(i,j)", "A:ds B:ds C:ds D:ds", {40, 50}, ""},
    {"SDDMM", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", "A:ds B:ds D:dd:1,0", {40, 30, 32}, "fuse(i,j,f); pos(f,fp,B(i,j))"},
    {"SpTTV", "A(i,j) = B(i,j,k) * C(k)", "A:ds B:dss", {12, 11, 10}, "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"SpMTTKRP",
     "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
     "B:dss",
     {12, 11, 10, 32},
     "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))"},
    {"SumOverFourLevels",
     "A(i,m) = B(i,j,k,l) * C(j,m) * D(k,m) * E(l,m)",
     "B:dsss",
     {9, 6, 5, 7, 16},
     "fuse(i,j,f); fuse(f,k,g); fuse(g,l,h); pos(h,fp,B(i,j,k,l))"},
    {"SpGEMM", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds", {40, 30, 35}, ""},
    // Rows that tables have no room for, beside others.
    {"SpGEMMOfLongRows", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds", {20, 300, 12}, ""},
    {"SumOfProducts", "A(i,j) = B(i,k) * C(k,j) + D(i,k) * C(k,j)", "A:ds B:ds C:ds D:ds", {20, 90, 15}, ""},
    {"ProductOfThree", "A(i,j) = B(i,k) * C(k,l) * D(l,j)", "A:ds B:ds C:ds D:ds", {20, 90, 15, 12}, ""},
};

/// The same tensor with index arrays of 64 bits.
Storage widened(const Storage& from) {
  std::vector<LevelArrays> levels;
  auto wide = [](const IndexArray& array) {
    if (array.empty()) return array;
    return IndexArray::make(array.size(), IndexWidth::Int64, [&](auto* to) {
      for (int64_t k = 0; k < array.size(); k++) to[k] = static_cast<std::remove_pointer_t<decltype(to)>>(array[k]);
    });
  };
  for (LevelArrays level : from.pattern().levels()) {
    for (auto& [name, array] : level.arrays)
      if (array.width() != IndexWidth::Flag) array = wide(array);
    levels.push_back(std::move(level));
  }
  Storage copy = from.clone();
  auto pattern = std::make_shared<const Pattern>(from.format(), from.dims(), std::move(levels));
  Buffer values = Buffer::uninitialized(size_t(from.nnz()) * size_of(from.type()));
  std::copy_n(std::as_const(copy).value_bytes(), values.size(), values.data());
  return Storage(pattern, from.type(), std::move(values));
}

enum class Sizes : uint8_t { Known, WithTheData };

void expect_right(const GpuKernel& kernel, const std::string& schedule, ScalarType type, IndexWidth width,
                  Sizes sizes) {
  std::mt19937_64 random{7};
  test::ProgramCase described = test::as_case({kernel.statement, kernel.formats, kernel.sizes, type, schedule}, random);
  for (auto& [name, tensor] : described.tensors) tensor.literals.assign(tensor.literals.size(), sizes == Sizes::Known);
  test::BuiltProgram program = test::build(described);
  test::StoredProgram stored(program);
  if (width == IndexWidth::Int64)
    for (auto& [tensor, storage] : stored.stored) {
      storage = widened(storage);
      stored.storages[tensor] = &storage;
    }
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  if (schedule.empty()) program.statement = over_gpu(make_statement(program.assignment).scheduled);
  codegen::GpuJit& gpu = test::gpu();
  // Rows are longer than the last of them says: there is too little room for what items walk along.
  const passes::GridMapping mappings[] = {
      {}, {.lanes = 1}, {.lanes = 4}, {.lanes = 16}, {.average_row = 1}, {.products = 64}};
  for (const passes::GridMapping& mapping : mappings) {
    Leaf leaf(program.statement, stored.storages, LeafOptions{.processor = GPU, .mapping = mapping});
    codegen::Kernel code = gpu.load(leaf.launches());
    SCOPED_TRACE(code.text());
    runtime::HostContext context;
    Storage result = compute(
        leaf, stored.storages, context, [&](spd_call& call) { code(call); }, gpu.device().place());
    EXPECT_TRUE(verify(result));
    EXPECT_TRUE(test::to_array(result) == wanted.at(program.assignment.lhs.tensor));
  }
}

// Sums over the positions of a matrix or a tensor, into rows of the result, by factors of rows, of levels between and of
// positions, which runs of positions keep or ask for.
GpuKernel draw_sum_over_positions(std::mt19937_64& random) {
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  bool matrix = number(0, 2) == 0;
  std::string walked = matrix ? "B(i,j)" : "B(i,j,k)", statement = "A(i,l) = " + walked;
  std::vector<std::string> factors{"C(j,l)", "E(i)", "F(j)", "G(i,l)", "H(l)", "C(j,l)"};
  if (!matrix) factors.insert(factors.end(), {"D(k,l)", "D(k,l)", "K(k)"});
  std::shuffle(factors.begin(), factors.end(), random);
  bool columns = false;
  for (size_t k = 0; k < factors.size() && (k < 3 || !columns); k++)
    if (statement.find(factors[k]) == std::string::npos) {
      statement += " * " + factors[k];
      columns |= factors[k].find('l') != std::string::npos;
    }
  GpuKernel out{
      "", statement, matrix ? "B:ds" : "B:dss", {number(1, 30), number(1, 12), number(1, 9), 8 * number(1, 5)}, ""};
  out.non_zeros = matrix ? "fuse(i,j,f); pos(f,fp,B(i,j))" : "fuse(i,j,f); fuse(f,k,g); pos(g,fp,B(i,j,k))";
  return out;
}

class GpuKernels : public ::testing::TestWithParam<GpuKernel> {};

TEST_P(GpuKernels, AgreeByRowsAndByNonZerosInBothPrecisionsAndIndexWidths) {
  std::vector<std::string> schedules{""};
  if (!GetParam().non_zeros.empty()) schedules.push_back(GetParam().non_zeros + "; parallelize(fp,GPUThread)");
  for (const std::string& schedule : schedules)
    for (ScalarType type : {ScalarType::Float32, ScalarType::Float64})
      for (IndexWidth width : {IndexWidth::Int32, IndexWidth::Int64})
        for (Sizes sizes : {Sizes::Known, Sizes::WithTheData}) {
          SCOPED_TRACE(fmt::format("{}, {} bytes an index, schedule '{}'", name_of(type), int(width), schedule));
          expect_right(GetParam(), schedule, type, width, sizes);
        }
}

TEST(GpuSums, OverPositionsAgreeWhateverTheyAreMultipliedBy) {
  int count = std::getenv("FULL_TESTS") ? 1000 : 60, run = 0;
  for (int seed = 0; seed < count; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    GpuKernel kernel = draw_sum_over_positions(random);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, kernel.statement));
    try {
      expect_right(kernel, kernel.non_zeros + "; parallelize(fp,GPUThread)", ScalarType::Float64, IndexWidth::Int32,
                   Sizes::Known);
      run++;
    } catch (const UserError&) {}  // loops whose positions cannot be dealt out
    if (HasFailure()) return;
  }
  EXPECT_GT(run, count / 2);
}

// The interpreter has no way to see what a compiler refuses.
TEST_P(GpuKernels, TextsOverPositionsCompile) {
  auto nvrtc = codegen::Nvrtc::find();
  if (!nvrtc) GTEST_SKIP() << "no NVRTC on this machine";
  std::mt19937_64 random{7};
  const GpuKernel& kernel = GetParam();
  std::string schedule = kernel.non_zeros.empty() ? "" : kernel.non_zeros + "; parallelize(fp,GPUThread)";
  test::ProgramCase described =
      test::as_case({kernel.statement, kernel.formats, kernel.sizes, ScalarType::Float64, schedule}, random);
  for (auto& [name, tensor] : described.tensors) tensor.literals.assign(tensor.literals.size(), true);
  test::BuiltProgram program = test::build(described);
  test::StoredProgram stored(program);
  if (schedule.empty()) program.statement = over_gpu(make_statement(program.assignment).scheduled);
  Leaf leaf(program.statement, stored.storages, LeafOptions{.processor = GPU});
  std::vector<ir::Function> functions;
  ir::Launches launches = leaf.launches();
  for (const ir::Grid* grid : codegen::grids_of(launches.steps)) functions.push_back(grid->function);
  EXPECT_NO_THROW(nvrtc->compile(codegen::cuda_text(functions), "kernel"));
}

INSTANTIATE_TEST_SUITE_P(OfThePaper, GpuKernels, ::testing::ValuesIn(kernels),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace spdistal
