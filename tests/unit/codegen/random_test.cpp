// Compiled and interpreted kernels agree on random programs, to the last bit.
#include <gtest/gtest.h>

#include "codegen/cpp.hpp"
#include "codegen/jit.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "passes/pipeline.hpp"
#include "unit/ir/random_program.hpp"

namespace spdistal::testing {
namespace {

TEST(CompiledKernels, AgreeWithTheInterpreterOnRandomPrograms) {
  codegen::JitOptions options;
  // Contracted products and sums are more exact than what the IR says; here they must be the same.
  options.flags = {"-std=gnu++17", "-O1", "-march=native", "-fopenmp", "-fPIC", "-shared", "-ffp-contract=off"};
  codegen::Jit jit(options);
  for (unsigned seed = 0; seed < 40; seed++) {
    Function f = RandomProgram(seed).make();
    if (seed % 2) f = passes::optimize(f);
    RandomData interpreted(seed), compiled(seed);
    interpret(f, interpreted.call().get());
    jit.load(f)(compiled.call().get());
    ASSERT_TRUE(interpreted == compiled) << "seed " << seed << "\n" << print(f) << codegen::cpp_text(f);
  }
}

}  // namespace
}  // namespace spdistal::testing
