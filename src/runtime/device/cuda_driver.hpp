// The part of NVIDIA's driver that is used, loaded when a GPU is asked for: one build runs with and without it, and needs
// nothing of CUDA to be built.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace spdistal::runtime {

/// The functions of cuda.h, by the names they have there. Handles are pointers, addresses of the device numbers, results 0
/// for success.
struct CudaDriver {
  using Address = unsigned long long;
  using Handle = void*;

  int (*cuInit)(unsigned flags);
  int (*cuDriverGetVersion)(int* version);
  int (*cuDeviceGetCount)(int* count);
  int (*cuDeviceGet)(int* device, int number);
  int (*cuDeviceGetName)(char* name, int length, int device);
  int (*cuDeviceGetUuid)(char* uuid, int device);
  int (*cuDeviceGetAttribute)(int* value, int attribute, int device);
  int (*cuDeviceCanAccessPeer)(int* can, int device, int peer);
  int (*cuDevicePrimaryCtxRetain)(Handle* context, int device);
  int (*cuCtxSetCurrent)(Handle context);
  int (*cuCtxSetLimit)(int limit, size_t value);
  int (*cuCtxEnablePeerAccess)(Handle peer, unsigned flags);
  int (*cuMemGetInfo)(size_t* free, size_t* total);
  int (*cuMemAlloc)(Address* address, size_t bytes);
  int (*cuMemFree)(Address address);
  int (*cuMemHostAlloc)(void** address, size_t bytes, unsigned flags);
  int (*cuMemFreeHost)(void* address);
  int (*cuMemcpyAsync)(Address to, Address from, size_t bytes, Handle stream);
  int (*cuMemcpyPeerAsync)(Address to, Handle to_context, Address from, Handle from_context, size_t bytes,
                           Handle stream);
  int (*cuMemsetD8Async)(Address to, unsigned char value, size_t bytes, Handle stream);
  int (*cuModuleLoadData)(Handle* module, const void* image);
  int (*cuModuleGetFunction)(Handle* function, Handle module, const char* name);
  int (*cuLaunchKernel)(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, Handle stream, void** parameters, void** extra);
  int (*cuStreamCreate)(Handle* stream, unsigned flags);
  int (*cuStreamSynchronize)(Handle stream);
  int (*cuStreamWaitEvent)(Handle stream, Handle event, unsigned flags);
  int (*cuEventCreate)(Handle* event, unsigned flags);
  int (*cuEventRecord)(Handle event, Handle stream);
  int (*cuEventSynchronize)(Handle event);
  int (*cuEventDestroy)(Handle event);
  int (*cuGetErrorName)(int error, const char** name);
  int (*cuGetErrorString)(int error, const char** text);

  enum Attribute : int { Multiprocessors = 16, Major = 75, Minor = 76 };
  enum Limit : int { HeapBytes = 2 };
  static constexpr int out_of_memory = 2;
  static constexpr size_t uuid_bytes = 16;
  static constexpr unsigned disable_timing = 2;  // of events

  /// From a file; an empty name: the loader's first. What is missing, or nothing.
  std::string load(const std::string& file);
  /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  std::string describe(int error) const;
  /// Throws SystemError where something failed.
  void check(int error, const char* what) const;
};

}  // namespace spdistal::runtime
