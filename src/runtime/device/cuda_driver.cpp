#include "runtime/device/cuda_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "spdistal/error.hpp"

namespace spdistal::runtime {

std::string CudaDriver::load(const std::string& file) {
  std::vector<std::string> usual = {"libcuda.so.1", "libcuda.so"};
  void* library = nullptr;
  for (const std::string& name : file.empty() ? usual : std::vector{file})
    if (!library) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && !file.empty()) return fmt::format("{} is no NVIDIA driver (SPDISTAL_CUDA says that it is)", file);
  if (!library) return "there is no NVIDIA driver (libcuda.so.1) on this machine";
  std::string missing;
  auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (!function && missing.empty()) missing = fmt::format("NVIDIA's driver lacks {}: it is too old", name);
  };
  get(cuInit, "cuInit");
  get(cuDriverGetVersion, "cuDriverGetVersion");
  get(cuDeviceGetCount, "cuDeviceGetCount");
  get(cuDeviceGet, "cuDeviceGet");
  get(cuDeviceGetName, "cuDeviceGetName");
  get(cuDeviceGetUuid, "cuDeviceGetUuid");
  get(cuDeviceGetAttribute, "cuDeviceGetAttribute");
  get(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer");
  get(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  get(cuCtxSetCurrent, "cuCtxSetCurrent");
  get(cuCtxSetLimit, "cuCtxSetLimit");
  get(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess");
  get(cuMemGetInfo, "cuMemGetInfo_v2");
  get(cuMemAlloc, "cuMemAlloc_v2");
  get(cuMemFree, "cuMemFree_v2");
  get(cuMemHostAlloc, "cuMemHostAlloc");
  get(cuMemFreeHost, "cuMemFreeHost");
  get(cuMemcpyAsync, "cuMemcpyAsync");
  get(cuMemcpyPeerAsync, "cuMemcpyPeerAsync");
  get(cuMemsetD8Async, "cuMemsetD8Async");
  get(cuModuleLoadData, "cuModuleLoadData");
  get(cuModuleGetFunction, "cuModuleGetFunction");
  get(cuLaunchKernel, "cuLaunchKernel");
  get(cuStreamCreate, "cuStreamCreate");
  get(cuStreamSynchronize, "cuStreamSynchronize");
  get(cuStreamWaitEvent, "cuStreamWaitEvent");
  get(cuEventCreate, "cuEventCreate");
  get(cuEventRecord, "cuEventRecord");
  get(cuEventSynchronize, "cuEventSynchronize");
  get(cuEventDestroy, "cuEventDestroy_v2");
  get(cuGetErrorName, "cuGetErrorName");
  get(cuGetErrorString, "cuGetErrorString");
  return missing;
}

std::string CudaDriver::describe(int error) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(error, &name);
  cuGetErrorString(error, &text);
  return fmt::format("{}: {}", name ? name : "unknown error", text ? text : "");
}

void CudaDriver::check(int error, const char* what) const {
  if (error != 0) throw SystemError(fmt::format("the GPU failed to {}: {}", what, describe(error)));
}

}  // namespace spdistal::runtime
