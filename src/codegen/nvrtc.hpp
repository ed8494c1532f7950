// NVIDIA's run-time compiler, loaded where it is there: one build runs with and without it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spdistal::codegen {

struct NvrtcOptions {
  /// Tried in order: names as the loader finds them, or paths.
  std::vector<std::string> libraries = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
  std::string architecture = "compute_80";  // virtual: PTX; real (sm_90): machine code
  std::vector<std::string> flags = {"--std=c++17", "--restrict"};
};

class Nvrtc {
 public:
  /// The compiler, or nothing where none of the libraries is there.
  static std::optional<Nvrtc> find(NvrtcOptions options = {});

  /// PTX or machine code of a CUDA text that may include abi.h. SystemError with the log where it does not compile.
  std::string compile(const std::string& text, const std::string& name) const;
  /// Tells compilers, options and architectures apart.
  std::string identity() const;

 private:
  struct Functions;
  NvrtcOptions options_;
  std::shared_ptr<const Functions> functions_;
};

}  // namespace spdistal::codegen
