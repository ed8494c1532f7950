// Races between threads of a GPU: accesses to one element, at least one of them a store, not both atomic, without a
// barrier between them.
#include <fmt/format.h>

#include <algorithm>

#include "ir/lockstep.hpp"

namespace spdistal::ir {
namespace {

/// Do the two need an order?
bool conflict(Use a, Use b) { return !(a == b && a != Use::Store); }

[[noreturn]] void race(const std::string& name, int64_t index, const std::string& who) {
  throw InternalError(fmt::format(
      "internal error: {} of a kernel race for element {} of array '{}'. Please report this.", who, index, name));
}

void compare_with_blocks(GpuTouch& t, int64_t block, int64_t index, Use use, const std::string& name) {
  for (Use other : {Use::Load, Use::Store, Use::Atomic})
    if (int64_t by = t.by_blocks[size_t(other)]; by != Touch::nobody && by != block && conflict(use, other))
      race(name, index, "blocks");
  int64_t& by = t.by_blocks[size_t(use)];
  by = by == Touch::nobody || by == block ? block : Touch::several;
}

}  // namespace

void touch_on_gpu(Frame& f, const Frame::Array& array, int64_t index, Use use, const std::string& name) {
  GpuLaunch& launch = *f.launch;
  std::vector<GpuTouch>& all = launch.touches[size_t(&array - f.arrays.data())];
  all.resize(size_t(array.count));
  GpuTouch& t = all[size_t(index)];
  int64_t block = launch.block(), warp = f.thread / warp_size, waited = launch.warp_waited[size_t(warp)];
  compare_with_blocks(t, block, index, use, name);
  if (t.block != block || t.waited != launch.waited) {
    t.past.clear();
    t.block = block;
    t.waited = launch.waited;
  }
  GpuTouch::Past* mine = nullptr;
  for (GpuTouch::Past& p : t.past) {
    bool ordered = p.warp == warp && (p.waited != waited || p.thread == f.thread);
    if (!ordered && conflict(use, p.use)) race(name, index, "threads");
    if (p.warp == warp && p.use == use) mine = &p;
  }
  if (!mine) t.past.push_back({warp, use, waited, f.thread});
  else if (mine->waited != waited) *mine = {warp, use, waited, f.thread};
  else if (mine->thread != f.thread) mine->thread = Touch::several;
}

}  // namespace spdistal::ir
