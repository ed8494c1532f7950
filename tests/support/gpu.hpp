// The GPU that tests run on: a real one where TEST_GPU=cuda says so, else one whose grids are interpreted in lockstep, with
// races found.
#pragma once
#include "codegen/gpu.hpp"
#include "process/process.hpp"

namespace spdistal::test {

/// The first of this process.
inline codegen::GpuJit& gpu() {
  static Process& process = *[] {
    ProcessOptions options = ProcessOptions::from_environment();
    const char* wanted = std::getenv("TEST_GPU");
    bool real = wanted && std::string_view(wanted) == "cuda";
    options.gpu.kind = real ? GpuOptions::Kind::Cuda : GpuOptions::Kind::Interpreted;
    return new Process(options);
  }();
  return process.gpu(process.gpus().front());
}

}  // namespace spdistal::test
