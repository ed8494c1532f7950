// Random programs on several GPUs through all that talks to NVIDIA's driver, with a stand-in for that: memory, contexts and order are
// checked as it would, and kernels interpreted.
#include <gtest/gtest.h>

#include <cstdlib>

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

}  // namespace
}  // namespace spdistal
