// What this machine's processor can do: asked of it directly, for reading /proc/cpuinfo takes long on large machines.
#include "codegen/processor.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace spdistal::codegen {

std::string processor_identity() {
  utsname name{};
  uname(&name);
  std::string out = name.machine;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  for (unsigned leaf : {0u, 1u, 7u, 0x80000001u}) {
    if (!__get_cpuid_count(leaf, 0, &a, &b, &c, &d)) continue;
    if (leaf == 1) b = 0;  // holds the number of the core that runs this
    out += fmt::format(" {:x}.{:x}.{:x}.{:x}", a, b, c, d);
  }
#else
  out += fmt::format(" {:x}.{:x}", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
#endif
  return out;
}

int vector_bytes() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx")) return 32;
#endif
  return 16;
}

}  // namespace spdistal::codegen
