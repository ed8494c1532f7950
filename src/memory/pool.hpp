// Where buffers get their memory and give it back: one pool for each place. The host's is always there; devices bring
// theirs.
#pragma once
#include <cstddef>
#include <memory>

#include "memory/place.hpp"

namespace spdistal::memory {

/// Blocks begin at multiples of it: a line of the caches.
inline constexpr size_t alignment = 64;

struct PoolBlock {
  std::byte* data = nullptr;
  size_t bytes = 0;
  enum class Contents : uint8_t { Unknown, Zero } contents = Contents::Unknown;
  bool is_joined = false;  // of several that the system moves one by one, if at all
};

/// The memory of one place. Called from any thread.
class Pool {
 public:
  virtual ~Pool() = default;

  /// At least so many bytes, aligned (`alignment`); none (data == nullptr) where there are no more.
  virtual PoolBlock take(size_t bytes) = 0;
  virtual void give(PoolBlock block) noexcept = 0;
  /// A block of this place, larger: at least `front` bytes, then at least so many more, of which the first are those that the block
  /// had, here or elsewhere. None where that takes copying; the block is as it was then.
  struct Grown {
    PoolBlock block = {};
    size_t front = 0;
  };
  virtual Grown grow(PoolBlock, size_t /*front*/, size_t /*bytes*/) noexcept { return {}; }
  /// Within the place; done when they return.
  virtual void fill(std::byte* to, std::byte value, size_t bytes) = 0;
  virtual void copy(std::byte* to, const std::byte* from, size_t bytes) = 0;
  /// From memory of the host, and to it; likewise.
  virtual void copy_in(std::byte* to, const std::byte* from, size_t bytes) { copy(to, from, bytes); }
  virtual void copy_out(std::byte* to, const std::byte* from, size_t bytes) { copy(to, from, bytes); }
  /// To this place from another: what is asked of either place afterwards finds it done. Through the host where they know no shorter
  /// way.
  virtual void copy_across(std::byte* to, Pool& other, const std::byte* from, size_t bytes);
  /// Of a block: what lies behind the first bytes is not needed any more.
  virtual void drop_behind(PoolBlock block, size_t bytes) noexcept = 0;
};

Pool& host_pool();
/// What the host's pool and the C library keep for whoever asks next goes back to the system: behind a step that took so many
/// bytes, in front of another that takes other sizes. Nothing for few bytes, which are sooner taken again.
void give_back_idle(size_t bytes);
/// Pinned memory is the host's as long as no device brings its own. Throws InternalError for a device that is not there.
Pool& pool_of(Place place);
/// From now on and for good: buffers of the place may be given back at any time.
void add_pool(Place place, std::unique_ptr<Pool> pool);

}  // namespace spdistal::memory
