#include "codegen/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/cpp.hpp"
#include "spdistal/error.hpp"

namespace spdistal::codegen {

// The part of nvrtc.h that is used: handles are pointers, results are 0 for success.
struct Nvrtc::Functions {
  using Program = void*;
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names);
  int (*compile)(Program, int count, const char* const* options);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*ptx_size)(Program, size_t*);
  int (*ptx)(Program, char*);
  int (*cubin_size)(Program, size_t*);
  int (*cubin)(Program, char*);
  int (*version)(int* major, int* minor);
  int (*destroy)(Program*);

  bool load(void* library) {
    auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return get(create, "nvrtcCreateProgram") && get(compile, "nvrtcCompileProgram") &&
           get(log_size, "nvrtcGetProgramLogSize") && get(log, "nvrtcGetProgramLog") &&
           get(ptx_size, "nvrtcGetPTXSize") && get(ptx, "nvrtcGetPTX") && get(cubin_size, "nvrtcGetCUBINSize") &&
           get(cubin, "nvrtcGetCUBIN") && get(version, "nvrtcVersion") && get(destroy, "nvrtcDestroyProgram");
  }
};

std::optional<Nvrtc> Nvrtc::find(NvrtcOptions options) {
  for (const std::string& name : options.libraries) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto functions = std::make_shared<Functions>();
    if (!library || !functions->load(library)) continue;
    Nvrtc out;
    out.options_ = std::move(options);
    out.functions_ = functions;
    return out;
  }
  return {};
}

std::string Nvrtc::compile(const std::string& text, const std::string& name) const {
  const Functions& f = *functions_;
  std::string abi(abi_text()), file = name + ".cu";
  const char *headers[] = {abi.c_str()}, *header_names[] = {"abi.h"};
  Functions::Program program = nullptr;
  if (f.create(&program, text.c_str(), file.c_str(), 1, headers, header_names) != 0)
    throw SystemError(fmt::format("NVRTC takes no program for kernel '{}'", name));
  std::vector<std::string> flags = options_.flags;
  flags.push_back("--gpu-architecture=" + options_.architecture);
  std::vector<const char*> arguments;
  for (const std::string& flag : flags) arguments.push_back(flag.c_str());
  int status = f.compile(program, int(arguments.size()), arguments.data());
  auto fetch = [&](auto size_of, auto get) {
    size_t size = 0;
    size_of(program, &size);
    std::string out(size, '\0');
    if (size > 0) get(program, out.data());
    return out;
  };
  auto text_of = [](std::string bytes) {
    while (!bytes.empty() && bytes.back() == '\0') bytes.pop_back();
    return bytes;
  };
  bool machine_code = options_.architecture.starts_with("sm_");
  std::string log = text_of(fetch(f.log_size, f.log)), out;
  if (status == 0) out = machine_code ? fetch(f.cubin_size, f.cubin) : text_of(fetch(f.ptx_size, f.ptx));
  f.destroy(&program);
  if (status != 0)
    throw SystemError(fmt::format("NVRTC failed on kernel '{}' (code {})", name, status), "nvrtc " + join(flags, " "),
                      log);
  return out;
}

std::string Nvrtc::identity() const {
  int major = 0, minor = 0;
  functions_->version(&major, &minor);
  return fmt::format("nvrtc {}.{}\nflags {}\narchitecture {}\n", major, minor, join(options_.flags, " "),
                     options_.architecture);
}

}  // namespace spdistal::codegen
