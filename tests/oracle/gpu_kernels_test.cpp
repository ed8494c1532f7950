// The kernels of the paper and products of sparse matrices on a GPU: by rows and by non-zeros, in single and double precision,
// with index arrays of 32 and 64 bits, against the dense evaluator. Dense dimensions are such that lanes take several columns at
// once.
#include <fmt/format.h>
#include <gtest/gtest.h>

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
    Leaf leaf(program.statement, stored.storages, LeafOptions{.device = gpu.device().place(), .mapping = mapping});
    codegen::Kernel code = gpu.load(leaf.launches());
    SCOPED_TRACE(code.text());
    runtime::HostContext context;
    Storage result = compute(leaf, stored.storages, context, [&](spd_call& call) { code(call); });
    EXPECT_TRUE(verify(result));
    EXPECT_TRUE(test::to_array(result) == wanted.at(program.assignment.lhs.tensor));
  }
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

INSTANTIATE_TEST_SUITE_P(OfThePaper, GpuKernels, ::testing::ValuesIn(kernels),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace spdistal
