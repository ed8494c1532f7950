#include "runtime/device/host_context.hpp"

#include <utility>

#include "base/require.hpp"
#include "memory/copy.hpp"

namespace spdistal::runtime {

void* ResultArray::reserve(size_t bytes) {
  memory_.reserve(bytes);
  return memory_.data();
}

void* ResultArray::adopt(memory::Buffer on_device) {
  memory_ = memory::Buffer::uninitialized(on_device.size());
  memory_.mirror().adopt(std::move(on_device));
  return const_cast<std::byte*>(memory_.address());
}

memory::Buffer ResultArray::take(int64_t count, size_t element) {
  size_t bytes = size_t(count) * element;
  if (memory_.size() == 0 && bytes == 0) reserve(0);
  require(memory_.size() >= bytes, "a kernel asks for as much memory as it fills");
  memory_.shrink(bytes);
  return std::move(memory_);
}

HostContext::HostContext(int64_t thread_count, int64_t smallest) : spd_context{}, smallest_shared(smallest) {
  use(thread_count);
  caches = int64_t{32} << 20;  // of a process: what systems say of caches that many share is far more
  resize = [](spd_context*, spd_array* array, int64_t count, int64_t bytes) {
    require(array->owner != nullptr, "an array that a kernel resizes has an owner");
    array->data = static_cast<ResultArray*>(array->owner)->reserve(size_t(bytes));
    array->count = count;
    return array->data;
  };
  take = [](spd_context* self, int64_t bytes, int zeroed) {
    return static_cast<HostContext*>(self)->take_memory(size_t(bytes), zeroed != 0);
  };
  give = [](spd_context* self, void* memory) { static_cast<HostContext*>(self)->scratch_.give(memory); };
  append = [](spd_context* self, spd_array* array, int64_t share_count, int64_t share, void** part, int64_t count,
              int64_t bytes) {
    static_cast<HostContext*>(self)->append_part(*array, share_count, share, *part, count, size_t(bytes));
  };
  fail = [](spd_context* self) { static_cast<HostContext*>(self)->remember_failure(); };
  failed = [](spd_context* self) { return int(static_cast<HostContext*>(self)->has_failed_); };
  rethrow = [](spd_context* self) { static_cast<HostContext*>(self)->rethrow_failure(); };
}

void HostContext::use(int64_t thread_count) {
  constexpr int64_t shares_of_a_thread = 32;
  threads = thread_count;
  shares = threads == 1 ? 1 : threads * shares_of_a_thread;
}

void* HostContext::take_memory(size_t bytes, bool zeroed) {
  auto purpose = [] { return "scratch memory of a kernel"; };
  void* taken = memory::naming(purpose, [&] { return scratch_.take(bytes, threads); });
  if (zeroed) std::memset(taken, 0, bytes);  // by whoever uses it: the first to touch pages has them near
  return taken;
}

// Threads put their own parts to their places, from their own caches, when these are known; what is left is put there with
// the last one. Copying is done outside of the lock.
void HostContext::append_part(spd_array& array, int64_t share_count, int64_t share, void*& part, int64_t count,
                              size_t bytes) {
  struct Copy {
    void *from, *to;
    size_t size;
  };
  std::vector<Copy> copies;
  {
    std::lock_guard lock(mutex_);
    Appended& all = appended_[&array];
    if (all.counts.empty()) {
      all.counts.assign(size_t(share_count), -1);
      all.begins.reserve(size_t(share_count) + 1);
      all.begins.push_back(0);
    }
    // What can fail comes before anything is changed.
    all.waiting.reserve(all.waiting.size() + 1);
    copies.reserve(all.waiting.size() + 1);
    require(int64_t(all.counts.size()) == share_count && all.counts[size_t(share)] < 0,
            "each of the shares appends to a result once");
    all.counts[size_t(share)] = count;
    all.waiting.push_back({share, part, std::this_thread::get_id()});
    part = nullptr;
    while (all.begins.size() <= all.counts.size() && all.counts[all.begins.size() - 1] >= 0)
      all.begins.push_back(all.begins.back() + all.counts[all.begins.size() - 1]);
    bool complete = all.begins.size() > all.counts.size();
    std::erase_if(all.waiting, [&](const Appended::Part& p) {
      bool ready = size_t(p.share) + 1 < all.begins.size() && (complete || p.maker == std::this_thread::get_id());
      if (ready)
        copies.push_back({p.memory, static_cast<std::byte*>(array.data) + size_t(all.begins[size_t(p.share)]) * bytes,
                          size_t(all.counts[size_t(p.share)]) * bytes});
      return ready;
    });
    if (complete) appended_.erase(&array);
  }
  for (const Copy& c : copies) {
    memory::copy_part(c.to, c.from, c.size, size_t(array.count) * bytes, size_t(caches));
    scratch_.give(c.from);
  }
}

void HostContext::remember_failure() {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  has_failed_ = true;
}

// Shares that failed have not appended, so that others wait for a place in vain.
void HostContext::rethrow_failure() {
  if (!failure_) return;
  for (auto& [array, all] : appended_)
    for (const Appended::Part& part : all.waiting) scratch_.give(part.memory);
  appended_.clear();
  has_failed_ = false;
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace spdistal::runtime
