#include "mpi/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "mpi/ranks.hpp"

namespace {

std::atomic<int64_t> count{0};
thread_local int64_t until_failure = -1;  // requests for at least `large` bytes before one fails
thread_local size_t large = 0;

}  // namespace

// The address sanitizer has its own.
#ifndef __SANITIZE_ADDRESS__
void* operator new(size_t bytes) {
  count++;
  if (until_failure >= 0 && bytes >= large && until_failure-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace spdistal::runtime::testkit {

int64_t allocations() { return count; }
void fail_large_allocation(int64_t which, size_t bytes) { until_failure = which, large = bytes; }
#ifndef __SANITIZE_ADDRESS__
bool injects_failures() { return true; }
#else
bool injects_failures() { return false; }
#endif
bool counts_allocations(const Transport& transport) { return transport.size() == 1 || cases(0, 1) == 1; }

}  // namespace spdistal::runtime::testkit
