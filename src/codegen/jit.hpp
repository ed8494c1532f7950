// From kernel IR to something that runs: text, compiler, cache, loading. A kernel is compiled once per user and
// machine, loaded once per process.
#pragma once
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cache.hpp"
#include "codegen/kernel.hpp"

namespace spdistal::codegen {

struct JitOptions {
  std::string compiler = default_compiler();  // a path, or a name to look for in search_path; empty: always interpret
  std::string search_path = "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::string> flags = default_flags();
  std::vector<std::string> gnu_flags = default_gnu_flags(), clang_flags = default_clang_flags();  // that only one knows
  std::vector<std::string> integer_flags = {"-fwrapv"};  // of kernels that compute with whole numbers: these wrap
  std::string cache_folder;                              // empty: kernels are not kept
  int64_t cache_bytes = 256 << 20;                       // that kept kernels take at most; 0: they are not kept
  std::string temporary = "/tmp";                        // where compilation happens
  /// Hears, at most once each, what a user should know: no compiler (kernels are interpreted), no usable cache.
  std::function<void(const std::string&)> note;

  /// The compiler that the library was built by, where this machine has it, else c++. Kernels of another one bring an OpenMP of
  /// their own, whose threads wait beside the library's.
  static std::string default_compiler();
  static std::vector<std::string> default_flags(), default_gnu_flags(), default_clang_flags();
};

/// The path of the compiler that the library was built by; empty where kernels are not for it.
std::string_view compiler_of_library();

class Jit {
 public:
  explicit Jit(JitOptions options);

  /// The kernel of a function: from memory, from the cache, or compiled now. SystemError with the command and its log
  /// where the compiler fails. Safe to call from several threads.
  /// What is run instead of it is loaded when it is needed; the Jit lives until then.
  Kernel load(const ir::Function& f);

  /// What a text is kept under: text, flags, compiler, ABI and processor.
  std::string key(std::string_view text) const;
  const Cache& cache() const { return cache_; }
  /// How often a kernel was asked for: not at all by a program that only repeats itself.
  int64_t loads() const { return loads_; }
  /// Is there a compiler? If not, kernels are interpreted.
  bool compiles() const { return compiler_.has_value(); }

 private:
  Kernel load_alone(const ir::Function& f);
  Kernel make(const ir::Function& f, const std::string& text, const std::string& key);
  Kernel compile(const ir::Function& f, const std::string& text, const std::string& key);
  /// All flags that go to the compiler whatever the kernel is; asks it who it is, once.
  const std::vector<std::string>& flags_of_compiler();

  JitOptions options_;
  std::optional<std::string> compiler_;
  std::string identity_;  // of flags, compiler, ABI, processor
  Cache cache_;
  std::atomic<int64_t> loads_ = 0;
  std::once_flag said_, asked_;
  std::vector<std::string> flags_;  // once it was asked
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Kernel>> loaded_;
};

}  // namespace spdistal::codegen
