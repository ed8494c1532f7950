#include "mpi/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "mpi/ranks.hpp"

namespace {

std::atomic<int64_t> count{0};

}  // namespace

// The address sanitizer has its own.
#ifndef __SANITIZE_ADDRESS__
void* operator new(size_t bytes) {
  count++;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace spdistal::runtime::testkit {

int64_t allocations() { return count; }
bool counts_allocations(const Transport& transport) { return transport.size() == 1 || cases(0, 1) == 1; }

}  // namespace spdistal::runtime::testkit
