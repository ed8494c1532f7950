// Random programs on several GPUs through all that talks to NVIDIA's driver, with a stand-in for that: memory, contexts and order are
// checked as it would, and kernels interpreted.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/nvrtc.hpp"
#include "execute/move/device_moves.hpp"
#include "fakes/cuda.hpp"
#include "ir/interpret.hpp"
#include "support/leaves.hpp"
#include "support/random_case.hpp"
#include "support/run_case.hpp"
#include "support/sweep.hpp"

namespace spdistal {
namespace {

/// Kernels of the host for the stand-in: what the interpreter makes of each grid.
class GridsOfTheHost final : public codegen::GridCompiler {
 public:
  std::vector<runtime::Code> compile(const std::vector<const ir::Grid*>& grids, const std::string&) override {
    // For good, as images are.
    auto* kernels = new fake_cuda::Kernels;
    for (const ir::Grid* grid : grids) kernels->emplace(grid->function.name, prepared_by(grid->function));
    auto bytes = std::make_shared<const std::string>(fake_cuda::image_of(kernels));
    std::vector<runtime::Code> out;
    for (const ir::Grid* grid : grids) out.push_back(runtime::DeviceImage{bytes, grid->function.name});
    return out;
  }

 private:
  // What a launch is given, until it runs.
  struct Given {
    std::vector<spd_array> arrays;
    std::vector<ir::Scalar> numbers;
    std::vector<const void*> addresses = {};
  };

  static std::function<fake_cuda::Prepared(void**)> prepared_by(const ir::Function& function) {
    auto* bytes_from = fake_cuda::function_of<int64_t(const void*)>(FAKE_CUDA, "fake_cuda_bytes_from");
    return [=, interpreter = ir::Interpreter(function, ir::Races::Found), params = function.params](void** arguments) {
      auto given = std::make_shared<Given>();
      fake_cuda::Prepared out;
      for (size_t k = 0; k < params.size(); k++) {
        if (params[k].var.type.is_array()) {
          void* data = *static_cast<void**>(arguments[k]);
          given->arrays.push_back({data, bytes_from(data) / int64_t(size_of(params[k].var.type.scalar)), nullptr});
          out.arrays.push_back(data);
        } else {
          given->numbers.push_back(with_type(params[k].var.type.scalar, [&](auto zero) {
            return ir::Scalar::of(*static_cast<const decltype(zero)*>(arguments[k]));
          }));
        }
      }
      out.run = [interpreter, given] {
        for (const ir::Scalar& number : given->numbers)
          given->addresses.push_back(
              std::visit([](const auto& value) -> const void* { return &value; }, number.value()));
        spd_call call{nullptr, nullptr, given->arrays.data(), nullptr, given->addresses.data()};
        return interpreter(call);
      };
      return out;
    };
  }
};

int programs() {
  if (const char* count = std::getenv("PROGRAMS")) return std::atoi(count);
  return std::getenv("FULL_TESTS") ? 5000 : 300;
}

TEST(Cuda, RandomProgramsOnSeveralGpusAreRight) {
  setenv("FAKE_CUDA_DEVICES", "4", 1);
  test::gpus_of_tests() = {.kind = GpuOptions::Kind::Cuda, .driver = FAKE_CUDA, .compiler = [](const std::string&) {
                             return std::make_shared<GridsOfTheHost>();
                           }};
  uint64_t first = std::getenv("SEED") ? uint64_t(std::atoll(std::getenv("SEED"))) : 1;
  int count = std::getenv("SEED") ? 1 : programs();
  int run = 0;
  for (uint64_t seed = first; run < count; seed++) {
    test::ProgramCase program = test::case_of(seed, {});
    if (program.setting.gpus == 0 && count > 1) continue;
    run++;
    program.setting.ranks = 1;  // a device is called by one thread at a time
    try {
      if (std::optional<std::string> fault = test::find_fault(test::build(program)))
        FAIL() << "seed " << seed << "\n" << test::describe(program) << *fault;
    } catch (const UserError&) {}  // refused
  }
}

// By NVIDIA's compiler; the stand-in counts their launches.
TEST(Cuda, KernelsThatMoveElementsCompile) {
  setenv("FAKE_CUDA_DEVICES", "4", 1);
  if (!codegen::Nvrtc::find({})) GTEST_SKIP() << "no NVRTC on this machine";
  ProcessOptions options = ProcessOptions::from_environment();
  options.gpu = {.kind = GpuOptions::Kind::Cuda, .driver = FAKE_CUDA};
  options.jit.cache_bytes = 0;
  Process process(options);
  memory::Place device = process.gpus().back();
  runtime::DeviceMoves& moves = moves_of(process);
  auto launches = [&] {
    auto* counts = fake_cuda::function_of<fake_cuda::Counts(int)>(FAKE_CUDA, "fake_cuda_counts");
    return counts(device.device).launches;
  };
  int64_t before = launches(), asked = 0;
  for (ScalarType type : {ScalarType::Bool, ScalarType::Int32, ScalarType::Int64, ScalarType::Float32,
                          ScalarType::Float64, ScalarType::Complex64, ScalarType::Complex128})
    for (bool narrow : {true, false}) {
      Buffer array = Buffer::zeroed(100 * size_of(type)), places = Buffer::zeroed(10 * (narrow ? 4 : 8)),
             packed = Buffer::zeroed(10 * size_of(type));
      runtime::PlacesOn on{device, type, array.mirror(), places, narrow, 10};
      moves.gather(on, packed), moves.scatter(packed, on), asked += 2;
      for (runtime::ReduceOp op :
           {runtime::ReduceOp::Sum, runtime::ReduceOp::Product, runtime::ReduceOp::Min, runtime::ReduceOp::Max}) {
        bool ordered = op == runtime::ReduceOp::Min || op == runtime::ReduceOp::Max;
        if (ordered && is_complex(type)) continue;
        moves.combine(packed, on, op), asked++;
      }
    }
  EXPECT_EQ(launches() - before, asked);
}

}  // namespace
}  // namespace spdistal
