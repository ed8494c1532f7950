// The libraries that leaf routines are of.
#pragma once
#include <cstdint>
#include <string>

namespace spdistal::routine {

/// Where routines are from: files of libraries; empty: as the loader finds them.
struct Libraries {
  std::string blas = {}, cusparse = {}, cublas = {};
  /// Are GPUs what they seem? Libraries know nothing of interpreted ones.
  enum class Gpu : uint8_t { Cuda, Interpreted } gpu = Gpu::Cuda;
};

}  // namespace spdistal::routine
