// What a process has once to compile and run with: the options from its environment, the compiler of kernels, memory that
// kernels reuse, and the connection to the other ranks.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/gpu.hpp"
#include "codegen/jit.hpp"
#include "routine/libraries.hpp"
#include "runtime/device/host_context.hpp"
#include "runtime/region/device_moves.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal {

/// What runs loops over GPU units.
struct GpuOptions {
  enum class Kind : uint8_t { Cuda, Interpreted } kind = Kind::Cuda;
  int interpreted = 1;                  // of that kind: how many a node has
  std::optional<int64_t> most = {};     // that a process uses
  std::string driver = {}, nvrtc = {};  // files; empty: as the loader finds them
  /// What compiles for an architecture, where that is not NVRTC.
  std::function<std::shared_ptr<codegen::GridCompiler>(const std::string& architecture)> compiler = {};
};

/// Read once, here and nowhere else: SPDISTAL_BLAS (the file of the BLAS that `gemm` is from, where the loader's first is not
/// the one), SPDISTAL_CUSPARSE and SPDISTAL_CUBLAS (likewise NVIDIA's), SPDISTAL_CACHE_DIR (compiled kernels; default the user's cache folder),
/// SPDISTAL_CACHE_BYTES (that they take there at most: those used least recently go; default 256 MiB, 0 keeps none),
/// SPDISTAL_CHECK_COLLECTIVES (1: ranks that make different collective calls are told which; default in debug builds),
/// SPDISTAL_COMPILER (default the one of the library; empty: interpret), SPDISTAL_CUDA (the file of NVIDIA's driver, where the loader's
/// first is not the one), SPDISTAL_GPU (cuda; interpreted: on the host, slow and checked; interpreted:3: as if a node had three of them),
/// SPDISTAL_GPUS (how many of them a process uses at most; default its part of those of its node), SPDISTAL_NVRTC (the file of NVIDIA's
/// compiler, where the loader does not find it), SPDISTAL_THREADS (default what OpenMP was told, else this rank's part of the processors of
/// its node).
struct ProcessOptions {
  codegen::JitOptions jit;
  GpuOptions gpu = {};
  routine::Libraries libraries = {};
  std::optional<int64_t> threads = {};
  int64_t smallest_shared = 0;      // stored elements below which a kernel runs on one thread
  int64_t overlap_bytes = 1 << 16;  // from other ranks: computing meanwhile pays from so many on
#ifdef SPDISTAL_DEBUG
  bool check_collectives = true;
#else
  bool check_collectives = false;
#endif

  /// Throws UserError for a variable SPDISTAL_* that does not exist, and for values that make no sense.
  static ProcessOptions from_environment();
};

class Process {
 public:
  /// `ranks` are those that it is connected to already, if it is.
  explicit Process(ProcessOptions options, std::shared_ptr<runtime::Transport> ranks = nullptr);

  /// MPI where a launcher started the process or the program runs MPI already, else this process alone. Started when it
  /// is first asked for.
  runtime::Transport& transport();
  /// Collective over the ranks of the transport. Another one from now on; tensors that were made before are not to be used
  /// any more.
  void connect(std::shared_ptr<runtime::Transport> transport);

  bool is_connected() const { return transport_ != nullptr; }

  /// Where the GPUs of this process are: its part of those of its node, one at least. Found when they are first asked for, which is
  /// collective. Throws UserError where there are none.
  const std::vector<memory::Place>& gpus();
  /// What makes kernels for one of them.
  codegen::GpuJit& gpu(memory::Place place);
  /// Until what they were asked for has happened; at once where nobody asked for them.
  void wait_for_gpus();

  codegen::Jit jit;
  std::unique_ptr<runtime::DeviceMoves> moves;  // of elements on GPUs: made by who first moves some
  runtime::HostContext context;
  int64_t overlap_bytes;
  routine::Libraries libraries;    // that leaf routines are of
  std::vector<std::string> notes;  // what a user should know, such as that there is no compiler

 private:
  /// How to find a GPU, and where what is compiled for it is kept.
  struct GpuSettings {
    GpuOptions options;
    std::string cache_folder;
    int64_t cache_bytes;
  } gpu_settings_;
  codegen::GpuJit& add_gpu(int number);
  std::shared_ptr<codegen::GridCompiler> compiler_for(const std::string& architecture);
  std::vector<memory::Place> gpus_;
  std::map<memory::Place, std::unique_ptr<codegen::GpuJit>> gpu_jits_;            // for good: kernels refer to them
  std::map<std::string, std::shared_ptr<codegen::GridCompiler>> grid_compilers_;  // by architecture
  bool checks_collectives_;
  bool shares_processors_;  // nobody said how many threads to use
  std::shared_ptr<runtime::Transport> ranks_, transport_;
};

/// The ranks that a launcher started with this process, or this process alone.
std::shared_ptr<runtime::Transport> start_ranks();

}  // namespace spdistal
