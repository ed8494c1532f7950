// Memory of the host with a copy on a device: who looks sees what was written last, and nothing travels without need.
#include "memory/mirror.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "memory/buffer.hpp"
#include "memory/copy.hpp"
#include "memory/pool.hpp"

namespace spdistal::memory {
namespace {

/// Memory that is taken for a device's.
struct ApartPool final : Pool {
  PoolBlock take(size_t bytes) override { return host_pool().take(bytes); }
  void give(PoolBlock block) noexcept override { host_pool().give(block); }
  void fill(std::byte* to, std::byte value, size_t bytes) override { fill_bytes(to, value, bytes); }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override { copy_bytes(to, from, bytes); }
  void drop_behind(PoolBlock, size_t) noexcept override {}
};

Place apart() {
  static Place place = [] {
    add_pool(device(11), std::make_unique<ApartPool>());
    return device(11);
  }();
  return place;
}

Buffer numbers(int first) {
  Buffer out = Buffer::uninitialized(4 * sizeof(int));
  for (int k = 0; k < 4; k++) reinterpret_cast<int*>(out.data())[k] = first + k;
  return out;
}
int* ints(std::byte* bytes) { return reinterpret_cast<int*>(bytes); }
int first_of(const Buffer& buffer) { return *reinterpret_cast<const int*>(buffer.data()); }

TEST(Mirror, ShowsADeviceWhatTheHostHasWritten) {
  Buffer buffer = numbers(10);
  EXPECT_EQ(ints(buffer.mirror().to_read(apart()))[3], 13);
  ints(buffer.data())[3] = 5;
  EXPECT_EQ(ints(buffer.mirror().to_read(apart()))[3], 5);
}

TEST(Mirror, ShowsTheHostWhatADeviceHasWritten) {
  Buffer buffer = numbers(10);
  ints(buffer.mirror().to_change(apart()))[0] = 77;
  EXPECT_EQ(first_of(buffer), 77);
  ints(buffer.mirror().to_overwrite(apart()))[0] = 78;
  Buffer copy = buffer.clone();
  EXPECT_EQ(first_of(copy), 78);
  Buffer moved = std::move(buffer);
  ints(moved.mirror().to_change(apart()))[0] = 79;
  moved.shrink(2 * sizeof(int));
  EXPECT_EQ(first_of(moved), 79);
}

TEST(Mirror, MovesNothingThatNobodyLooksAt) {
  Buffer buffer = numbers(1);
  Travelled before = travelled();
  for (int turn = 0; turn < 3; turn++) buffer.mirror().to_change(apart());
  Travelled after = travelled();
  EXPECT_EQ(after.to_devices - before.to_devices, 16) << "once, before the first kernel";
  EXPECT_EQ(after.to_host, before.to_host);
  EXPECT_EQ(first_of(buffer), 1);
  EXPECT_EQ(first_of(buffer), 1);
  EXPECT_EQ(travelled().to_host - before.to_host, 16) << "once, for the first look";
}

TEST(Mirror, FillsOnTheDevice) {
  Buffer buffer = numbers(1);
  Travelled before = travelled();
  buffer.mirror().fill(apart(), std::byte(0));
  EXPECT_EQ(travelled().to_devices, before.to_devices);
  EXPECT_EQ(first_of(buffer), 0);
}

TEST(Mirror, TakesWhatADeviceHasMade) {
  Buffer made = Buffer::uninitialized(4 * sizeof(int), apart());
  Buffer from = numbers(40);
  std::memcpy(made.data(), from.data(), from.size());
  Buffer buffer = Buffer::uninitialized(4 * sizeof(int));
  buffer.mirror().adopt(std::move(made));
  EXPECT_EQ(first_of(buffer), 40);
}

}  // namespace
}  // namespace spdistal::memory
