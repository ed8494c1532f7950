// What tests and the stand-in for NVIDIA's driver (cuda.cpp) say to each other beyond the driver's own functions.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

/// A kernel with its arguments, ready to run when its turn in the stream comes.
struct Prepared {
  std::vector<const void*> arrays;  // that it reads or writes: all have to be of the device that it runs on
  std::function<int()> run;
};
/// Of an image: its kernels, by name, given where each argument stands.
using Kernels = std::map<std::string, std::function<Prepared(void** arguments)>>;

/// An image that has kernels of this process, as bytes: they live as long as the image is loaded. Others are taken for machine code,
/// and launches of their kernels counted alone.
constexpr char magic[] = "kernels of the host";
inline std::string image_of(const Kernels* kernels) {
  return magic + std::string(1, '\0') + std::string(reinterpret_cast<const char*>(&kernels), sizeof kernels);
}

/// What a device was asked for.
struct Counts {
  int64_t launches = 0, loads = 0, copies = 0, peer_copies = 0, blocks = 0,
          bytes = 0;  // the last two: of memory that is taken now
};

}  // namespace fake_cuda

/// A function of a library.
namespace fake_cuda {
template <class F>
F* function_of(const char* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), name));
}
}  // namespace fake_cuda

extern "C" {
/// Of a device since the process began.
fake_cuda::Counts fake_cuda_counts(int device);
/// How many bytes its block has from there on; none: it is no memory of a device.
int64_t fake_cuda_bytes_from(const void* data);
/// What the last error was about.
const char* fake_cuda_fault();
}
