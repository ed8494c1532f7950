// Memory of the host with copies on devices: who looks sees what was written last, and nothing travels without need.
#include "memory/mirror.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>

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

/// Devices of this test.
Place apart(int which = 0) {
  constexpr int several = 4, first = 11;
  static const bool added = [] {
    for (int k = 0; k < several; k++) add_pool(device(first + k), std::make_unique<ApartPool>());
    return true;
  }();
  EXPECT_TRUE(added && which < several);
  return device(first + which);
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

// ---- several devices ----

Travelled operator-(const Travelled& a, const Travelled& b) {
  return {a.to_devices - b.to_devices, a.to_host - b.to_host, a.between_devices - b.between_devices};
}
void expect_moved(const Travelled& before, Travelled bytes, const std::string& about = "") {
  Travelled moved = travelled() - before;
  EXPECT_EQ(moved.to_devices, bytes.to_devices) << about;
  EXPECT_EQ(moved.to_host, bytes.to_host) << about;
  EXPECT_EQ(moved.between_devices, bytes.between_devices) << about;
}

TEST(Mirror, GivesEachDeviceThatReadsACopyOfItsOwn) {
  Buffer buffer = numbers(10);
  Travelled before = travelled();
  std::set<const std::byte*> copies{buffer.address()};
  for (int turn = 0; turn < 3; turn++)
    for (int k = 0; k < 3; k++) {
      std::byte* here = buffer.mirror().to_read(apart(k));
      copies.insert(here);
      EXPECT_EQ(ints(here)[2], 12);
    }
  EXPECT_EQ(copies.size(), 4u);
  expect_moved(before, {.to_devices = 3 * 16}, "once to each");
}

TEST(Mirror, BringsWhatADeviceHasWrittenToAnotherWithoutTheHost) {
  Buffer buffer = numbers(10);
  buffer.mirror().to_read(apart(1));
  ints(buffer.mirror().to_change(apart(0)))[1] = 50;
  Travelled before = travelled();
  EXPECT_EQ(ints(buffer.mirror().to_read(apart(1)))[1], 50);
  EXPECT_EQ(ints(buffer.mirror().to_read(apart(2)))[1], 50);
  EXPECT_EQ(ints(buffer.mirror().to_read(apart(0)))[1], 50);
  expect_moved(before, {.between_devices = 2 * 16});
  EXPECT_EQ(first_of(buffer), 10);
  EXPECT_EQ(reinterpret_cast<const int*>(std::as_const(buffer).data())[1], 50);
  expect_moved(before, {.to_host = 16, .between_devices = 2 * 16});
}

TEST(Mirror, TakesFromTheHostWhatThatHasToo) {
  Buffer buffer = numbers(10);
  ints(buffer.mirror().to_change(apart(0)))[0] = 3;
  EXPECT_EQ(first_of(buffer), 3);
  Travelled before = travelled();
  EXPECT_EQ(ints(buffer.mirror().to_read(apart(1)))[0], 3);
  expect_moved(before, {.to_devices = 16});
}

TEST(Mirror, ForgetsCopiesThatAreOldWhoeverChanges) {
  Buffer buffer = numbers(10);
  for (int k = 0; k < 3; k++) buffer.mirror().to_read(apart(k));
  ints(buffer.data())[0] = 1;
  EXPECT_EQ(ints(buffer.mirror().to_change(apart(0)))[0], 1);
  EXPECT_EQ(ints(buffer.mirror().to_read(apart(0)))[0], 1);
  ints(buffer.mirror().to_change(apart(2)))[0] = 2;
  EXPECT_EQ(ints(buffer.mirror().to_read(apart(0)))[0], 2);
  EXPECT_EQ(ints(buffer.mirror().to_read(apart(1)))[0], 2);
  EXPECT_EQ(first_of(buffer), 2);
}

/// What a mirror is to do: every place has some contents, and some are known to be what was written last.
class Model {
 public:
  static constexpr int host = -1, elements = 4, devices = 4;

  bool knows(int place) const { return up_to_date_.contains(place); }
  void look(int place) {
    if (knows(place)) return;
    int64_t bytes = elements * int64_t(sizeof(int));
    if (place == host) moved.to_host += bytes;
    else if (knows(host)) moved.to_devices += bytes;
    else moved.between_devices += bytes;
    up_to_date_.insert(place);
  }
  void write(int place, int element, int value) {
    contents[size_t(element)] = value;
    up_to_date_ = {place};
  }
  bool device_alone() const { return !knows(host); }

  std::array<int, elements> contents = {};
  Travelled moved = {};

 private:
  std::set<int> up_to_date_{host};
};

TEST(Mirror, RandomLooksAndChangesSeeWhatWasWrittenLast) {
  for (uint64_t seed = 0; seed < 2000; seed++) {
    std::mt19937_64 random{seed};
    auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    Buffer buffer = numbers(0);
    Model model;
    for (int k = 0; k < Model::elements; k++) model.contents[size_t(k)] = k;
    auto expect_there = [&](const std::byte* bytes, const std::string& about) {
      for (int k = 0; k < Model::elements; k++)
        ASSERT_EQ(reinterpret_cast<const int*>(bytes)[k], model.contents[size_t(k)]) << about;
    };
    Travelled before = travelled();
    for (int step = 0; step < 30; step++) {
      int at = number(0, Model::devices - 1), element = number(0, Model::elements - 1), value = number(0, 1 << 20);
      std::string about = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
      switch (number(0, 8)) {
        case 0:
          model.look(Model::host);
          expect_there(std::as_const(buffer).data(), about);
          break;
        case 1:
          model.look(Model::host);
          ints(buffer.data())[element] = value;
          model.write(Model::host, element, value);
          break;
        case 2:
        case 3:
        case 4:
          model.look(at);
          expect_there(buffer.mirror().to_read(apart(at)), about);
          break;
        case 5: {
          model.look(at);
          std::byte* there = buffer.mirror().to_change(apart(at));
          expect_there(there, about);
          ints(there)[element] = value;
          model.write(at, element, value);
          break;
        }
        case 6: {
          int* there = ints(buffer.mirror().to_overwrite(apart(at)));
          for (int k = 0; k < Model::elements; k++) model.write(at, k, there[k] = value + k);
          break;
        }
        case 7: {
          Buffer made = Buffer::uninitialized(Model::elements * sizeof(int), apart(at));
          for (int k = 0; k < Model::elements; k++) model.write(at, k, ints(made.data())[k] = value - k);
          buffer.mirror().adopt(std::move(made));
          break;
        }
        default: {
          std::optional<Buffer> newer = buffer.mirror().newer();
          ASSERT_EQ(newer.has_value(), model.device_alone()) << about;
          if (newer) expect_there(newer->data(), about);
          Buffer copy = buffer.clone();  // which moves nothing where devices alone have it
          expect_moved(before, model.moved, about);
          Travelled looking = travelled();
          expect_there(std::as_const(copy).data(), about);
          before.to_host += (travelled() - looking).to_host;  // of the copy
        }
      }
      expect_moved(before, model.moved, about);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace spdistal::memory
