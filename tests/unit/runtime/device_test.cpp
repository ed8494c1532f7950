// The device interface: the host as a device, and places that lead to others.
#include "runtime/device/device.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/require.hpp"
#include "memory/pool.hpp"
#include "runtime/device/host.hpp"
#include "runtime/device/host_context.hpp"

namespace spdistal::runtime {
namespace {

TEST(HostDevice, CopiesAndFillsAtOnce) {
  Device& host = host_device();
  EXPECT_EQ(&device_at(memory::host), &host);
  EXPECT_EQ(&device_at(memory::pinned), &host);
  for (size_t count : {size_t(0), size_t(100), size_t(1) << 19}) {
    std::vector<double> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1.0);
    memory::Buffer a = host.allocate(count * sizeof(double)), b = host.allocate(count * sizeof(double));
    EXPECT_EQ(a.place(), memory::host);
    host.copy(a.data(), numbers.data(), a.size());
    host.copy(b.data(), a.data(), a.size());
    EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), reinterpret_cast<double*>(b.data())));
    host.fill(b.data(), std::byte(0), b.size());
    EXPECT_TRUE(std::all_of(b.data(), b.data() + b.size(), [](std::byte x) { return x == std::byte(0); }));
  }
}

TEST(HostDevice, RunsWhatItLoads) {
  Device& host = host_device();
  auto add = host.load(HostFunction{[](spd_call& call) {
    *static_cast<double*>(call.tensors[0].vals.data) += double(call.scalars[0]);
    return int(call.scalars[0] > 5);
  }});
  HostContext context;
  double value = 1;
  spd_tensor tensor{nullptr, {&value, 1, nullptr}};
  int64_t number = 5;
  spd_call call{&context, &tensor, nullptr, &number, nullptr};
  Stream other = host.stream();
  EXPECT_EQ(host.launch(*add, {.call = &call}, other), 0);
  host.after(host.record(other), {});
  host.wait(host.record(other));
  host.wait(other);
  EXPECT_EQ(value, 6);
  number = 6;
  EXPECT_EQ(host.launch(*add, {.call = &call}), 1) << "the code that a kernel returns comes back";
  EXPECT_EQ(value, 12);
}

TEST(HostDevice, RefusesCodeOfOthersAndFilesThatAreNotThere) {
  EXPECT_THROW(host_device().load(DeviceImage{nullptr, "kernel"}), SystemError);
  EXPECT_THROW(host_device().load(SharedLibrary{"no/such/library.so", "kernel"}), SystemError);
}

/// A device that only says what it was asked for.
struct SilentDevice final : Device {
  memory::Place place() const override { return memory::device(5); }
  void copy(void*, const void*, size_t, Stream) override { asked++; }
  void fill(void*, std::byte, size_t, Stream) override { asked++; }
  std::shared_ptr<const LoadedKernel> load(const Code&) override { return std::make_shared<LoadedKernel>(); }
  int launch(const LoadedKernel&, const Launch&, Stream) override { return 0; }
  Stream stream() override { return {1}; }
  Event record(Stream s) override { return {s, 1}; }
  void after(Event, Stream) override {}
  void wait(Event) override {}
  void wait(Stream) override {}
  int asked = 0;
};

TEST(Devices, AreFoundByTheirPlace) {
  EXPECT_THROW(device_at(memory::device(5)), InternalError) << "it is not there yet";
  auto added = std::make_unique<SilentDevice>();
  SilentDevice* silent = added.get();
  add_device(std::move(added));
  device_at(memory::device(5)).fill(nullptr, std::byte(0), 8);
  EXPECT_EQ(silent->asked, 1);
  EXPECT_THROW(add_device(std::make_unique<SilentDevice>()), InternalError) << "a place is of one device";
}

}  // namespace
}  // namespace spdistal::runtime
