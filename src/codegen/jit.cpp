#include "codegen/jit.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "codegen/cpp.hpp"
#include "codegen/files.hpp"
#include "codegen/process.hpp"
#include "codegen/processor.hpp"
#include "spdistal/error.hpp"

namespace spdistal::codegen {

std::string JitOptions::default_compiler() {
  std::string built_by(compiler_of_library());
  return find_program(built_by, "") ? built_by : "c++";
}
std::vector<std::string> JitOptions::default_flags() {
  return {"-std=gnu++17", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared"};
}
// Loops of unknown, mostly short length (the rows of a sparse matrix) are left scalar: with gathers they are slower. Loops that
// the kernel marks as vectors are vectorised regardless.
std::vector<std::string> JitOptions::default_gnu_flags() {
  return {"-fvect-cost-model=very-cheap", "-fsimd-cost-model=unlimited"};
}
std::vector<std::string> JitOptions::default_clang_flags() { return {"-fno-vectorize"}; }

namespace {

/// Tells compilers apart without running them, which would take longer than loading a kernel.
std::string compiler_identity(const std::string& path) {
  std::error_code error;
  std::string real = std::filesystem::canonical(path, error).string();
  struct stat info {};
  stat(path.c_str(), &info);
  return fmt::format("{} {} {}.{}", real, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Positions and coordinates do not overflow, and compilers may rely on that.
bool has_whole_numbers(const ir::Function& f) {
  return std::ranges::any_of(f.params, [](const ir::Param& param) {
    using Field = ir::Source::Field;
    bool value = param.source.field == Field::Vals || param.source.field == Field::Argument;
    return value && is_integral(param.var.type.scalar);
  });
}

}  // namespace

Jit::Jit(JitOptions options)
    : options_(std::move(options)),
      compiler_(find_program(options_.compiler, options_.search_path)),
      cache_(compiler_ ? options_.cache_folder : "", options_.cache_bytes, options_.note) {
  identity_ = fmt::format("abi {}\nflags {} {} {} {}\nprocessor {}\ncompiler {}\n", long_hash(abi_text()),
                          join(options_.flags, " "), join(options_.gnu_flags, " "), join(options_.clang_flags, " "),
                          join(options_.integer_flags, " "), processor_identity(),
                          compiler_ ? compiler_identity(*compiler_) : "none");
}

std::string Jit::key(std::string_view text) const { return long_hash(identity_ + std::string(text)); }

Kernel Jit::load(const ir::Function& f) {
  Kernel kernel = load_alone(f);
  return f.instead ? kernel.with_instead([this, make = f.instead] { return load(make()); }) : kernel;
}

Kernel Jit::load_alone(const ir::Function& f) {
  loads_++;
  std::string text = cpp_text(f), key = this->key(text);
  std::promise<Kernel> promise;
  std::shared_future<Kernel> waiting;
  {
    std::lock_guard lock(mutex_);
    auto [it, fresh] = loaded_.try_emplace(key);
    if (fresh) it->second = promise.get_future().share();
    else waiting = it->second;
  }
  if (waiting.valid()) return waiting.get();
  try {
    Kernel kernel = make(f, text, key);
    promise.set_value(kernel);
    return kernel;
  } catch (...) {
    // Those who wait hear of it; who comes later tries again.
    promise.set_exception(std::current_exception());
    std::lock_guard lock(mutex_);
    loaded_.erase(key);
    throw;
  }
}

Kernel Jit::make(const ir::Function& f, const std::string& text, const std::string& key) {
  if (!compiler_) {
    std::call_once(said_, [&] {
      if (options_.note)
        options_.note(
            fmt::format("there is no C++ compiler '{}': kernels are interpreted, right but slow", options_.compiler));
    });
    return Kernel::interpreted(f, text);
  }
  if (auto file = cache_.find(key)) {
    try {
      return Kernel::from_library(*file, f.name, text);
    } catch (const SystemError&) {
      // Whole, but not to be loaded (a library it needs has gone): compile it anew.
    }
  }
  return compile(f, text, key);
}

const std::vector<std::string>& Jit::flags_of_compiler() {
  std::call_once(asked_, [&] {
    flags_ = options_.flags;
    bool clang = run(*compiler_, {"--version"}).output.find("clang") != std::string::npos;
    const auto& more = clang ? options_.clang_flags : options_.gnu_flags;
    flags_.insert(flags_.end(), more.begin(), more.end());
  });
  return flags_;
}

Kernel Jit::compile(const ir::Function& f, const std::string& text, const std::string& key) {
  PrivateFolder folder(options_.temporary);
  std::string source = folder.file("kernel.cpp"), library = folder.file("kernel.so");
  if (!write_file(source, text) || !write_file(folder.file("abi.h"), abi_text()))
    throw SystemError(fmt::format("cannot write a kernel to compile into {}", options_.temporary));
  std::vector<std::string> arguments = flags_of_compiler();
  if (has_whole_numbers(f))
    arguments.insert(arguments.end(), options_.integer_flags.begin(), options_.integer_flags.end());
  arguments.insert(arguments.end(), {"-o", library, source});
  Finished done = run(*compiler_, arguments);
  auto bytes = read_file(library);
  if (done.status != 0 || !bytes)
    throw SystemError(fmt::format("the compiler failed on kernel '{}' (exit code {})", f.name, done.status),
                      command_text(*compiler_, arguments), done.output);
  if (auto kept = cache_.publish(key, *bytes)) {
    try {
      return Kernel::from_library(*kept, f.name, text);
    } catch (const SystemError&) {
      // Another process has removed it already, to make room.
    }
  }
  return Kernel::from_library(library, f.name, text);
}

}  // namespace spdistal::codegen
