#include "base/threads.hpp"

#include <omp.h>

#include <atomic>

#include "base/require.hpp"

namespace spdistal {
namespace {

std::atomic<int> said = 0;

}  // namespace

void use_loop_threads(int count) {
  require(count > 0, "loops run on a thread at least");
  said = count;
}

int loop_threads() {
  int count = said;
  return count > 0 ? count : omp_get_max_threads();
}

}  // namespace spdistal
