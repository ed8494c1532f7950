#include "runtime/region/staging.hpp"

#include <atomic>

namespace spdistal::runtime {
namespace {

std::atomic<int64_t> whole = int64_t(8) << 20, part = int64_t(1) << 20;

}  // namespace

Staging staging() { return {whole, part}; }
void set_staging(Staging staging) { whole = staging.whole, part = staging.part; }

}  // namespace spdistal::runtime
