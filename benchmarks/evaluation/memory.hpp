// How much memory a process has, and had at most.
#pragma once
#include <malloc.h>
#include <mpi.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace evaluation {

inline double memory_bytes(const char* what) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind(what, 0) == 0) return std::strtod(line.c_str() + std::strlen(what), nullptr) * 1024;
  return 0;
}
inline double peak_memory() { return memory_bytes("VmHWM:"); }
/// What the process has once it gave back what it does not use.
inline double settled_memory() {
  malloc_trim(0);
  return memory_bytes("VmRSS:");
}
inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Collective. Takes so many bytes, while the other ranks do, and gives them back to the system: pages that a virtual machine gets from
/// its host for the first time are slow, and would be most of what is measured.
inline void touch_memory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; memory != MAP_FAILED && at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (memory != MAP_FAILED) munmap(memory, bytes);
}

}  // namespace evaluation
