// Several GPUs through NVIDIA's driver, or what stands in for it here: memory, copies, streams, contexts and kernels of each device.
#include "runtime/device/cuda.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>

#include "fakes/cuda.hpp"
#include "memory/buffer.hpp"
#include "memory/copy.hpp"
#include "memory/pool.hpp"
#include "runtime/device/device.hpp"
#include "spdistal/error.hpp"

namespace spdistal::runtime {
namespace {

using memory::Buffer;

constexpr int devices = 3;

fake_cuda::Counts counts(int device) {
  return fake_cuda::function_of<fake_cuda::Counts(int)>(FAKE_CUDA, "fake_cuda_counts")(device);
}
std::string fault() { return fake_cuda::function_of<const char*()>(FAKE_CUDA, "fake_cuda_fault")(); }

class Cuda : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    setenv("FAKE_CUDA_DEVICES", std::to_string(devices).c_str(), 1);
    Result<CudaGpus> found = cuda_gpus(FAKE_CUDA);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->count, devices);
    for (int k = 0; k < devices; k++) ASSERT_TRUE(find_cuda(k));
  }
  static Device& device(int number) { return device_at(memory::device(number)); }
  static std::vector<int> numbers(int first, size_t count = 100) {
    std::vector<int> out(count);
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  static Buffer on(int number, const std::vector<int>& values) {
    Buffer out = Buffer::uninitialized(values.size() * sizeof(int), memory::device(number));
    memory::pool_of(out.place()).copy_in(out.data(), reinterpret_cast<const std::byte*>(values.data()), out.size());
    return out;
  }
  static std::vector<int> from(const Buffer& there) {
    std::vector<int> out(there.size() / sizeof(int));
    memory::pool_of(there.place()).copy_out(reinterpret_cast<std::byte*>(out.data()), there.data(), there.size());
    return out;
  }
};

TEST_F(Cuda, TellsGpusApartThatProcessesSee) {
  Result<CudaGpus> seen = cuda_gpus(FAKE_CUDA);
  EXPECT_EQ(seen->identities.size(), devices * 16u);
  EXPECT_NE(seen->identities.substr(0, 16), seen->identities.substr(16, 16));
  EXPECT_EQ(find_cuda(1)->name, "fake GPU 1");
  EXPECT_EQ(find_cuda(1)->architecture, "sm_90");
  EXPECT_EQ(find_cuda(1)->place, memory::device(1));
  EXPECT_FALSE(find_cuda(devices));
}

TEST_F(Cuda, EachDeviceHasMemoryOfItsOwn) {
  int64_t before[devices];
  for (int k = 0; k < devices; k++) before[k] = counts(k).bytes;
  Buffer first = on(0, numbers(1, 5000)), second = on(2, numbers(7, 9000));
  EXPECT_GE(counts(0).bytes - before[0], 20000);
  EXPECT_EQ(counts(1).bytes, before[1]);
  EXPECT_GE(counts(2).bytes - before[2], 36000);
  EXPECT_EQ(from(first), numbers(1, 5000));
  EXPECT_EQ(from(second), numbers(7, 9000));
}

TEST_F(Cuda, WhatADeviceDoesNotOwnIsRefused) {
  Buffer theirs = on(1, numbers(0));
  EXPECT_THROW(device(0).fill(theirs.data(), std::byte(0), 8), SystemError);
  EXPECT_NE(fault().find("memory of device 1, and used in the context of device 0"), std::string::npos) << fault();
  std::byte here[8];
  EXPECT_THROW(device(2).copy(here, theirs.data(), 8), SystemError);
  device(1).copy(here, theirs.data(), 8);
}

TEST_F(Cuda, CopiesGoFromDeviceToDeviceInTheOrderOfBoth) {
  Buffer from_there = on(0, numbers(5)), here = on(1, numbers(0)), onwards = on(2, numbers(0));
  int64_t before = counts(1).peer_copies;
  // Nobody waits in between: what is written first is read, and what is written later is not.
  device(0).fill(from_there.data(), std::byte(1), from_there.size());
  memory::pool_of(here.place())
      .copy_across(here.data(), memory::pool_of(from_there.place()), from_there.data(), here.size());
  device(0).fill(from_there.data(), std::byte(2), from_there.size());
  memory::pool_of(onwards.place()).copy_across(onwards.data(), memory::pool_of(here.place()), here.data(), here.size());
  device(1).fill(here.data(), std::byte(3), here.size());
  EXPECT_EQ(from(onwards)[0], 0x01010101);
  EXPECT_EQ(from(onwards)[99], 0x01010101);
  EXPECT_EQ(from(here)[99], 0x03030303);
  EXPECT_EQ(from(from_there)[99], 0x02020202);
  EXPECT_EQ(counts(1).peer_copies - before, 1);
}

TEST_F(Cuda, MirrorsMoveBetweenDevicesWithoutTheHost) {
  Buffer buffer = Buffer::uninitialized(400);
  std::vector<int> some = numbers(3);
  std::memcpy(buffer.data(), some.data(), 400);
  buffer.mirror().to_change(memory::device(0));
  device(0).fill(buffer.mirror().to_change(memory::device(0)), std::byte(0), 40);
  memory::Travelled before = memory::travelled();
  for (int k : {1, 2}) buffer.mirror().to_read(memory::device(k));
  EXPECT_EQ(memory::travelled().between_devices - before.between_devices, 800);
  EXPECT_EQ(memory::travelled().to_host, before.to_host);
  const auto* seen = reinterpret_cast<const int*>(std::as_const(buffer).data());
  EXPECT_EQ(seen[9], 0);
  EXPECT_EQ(seen[10], 13);
}

TEST_F(Cuda, StreamsAndEventsAreOfOneDevice) {
  Device& one = device(1);
  Stream other = one.stream();
  Buffer buffer = on(1, numbers(0));
  one.fill(buffer.data(), std::byte(1), 400, other);
  one.after(one.record(other), {});
  one.copy(buffer.data() + 40, buffer.data(), 40);
  EXPECT_EQ(from(buffer)[15], 0x01010101);
  Event event = one.record(other);
  one.wait(event);
  one.wait(event);
  one.wait(other);
}

/// Adds up numbers, and says where it ran.
fake_cuda::Kernels adding() {
  return {{"add", [](void** arguments) {
             int* data = *static_cast<int**>(arguments[0]);
             int count = *static_cast<int*>(arguments[1]);
             return fake_cuda::Prepared{{data}, [=] {
                                          for (int k = 1; k < count; k++) data[0] += data[k];
                                          return 0;
                                        }};
           }}};
}

TEST_F(Cuda, KernelsRunOnTheDeviceThatLoadedThem) {
  static const fake_cuda::Kernels kernels = adding();
  DeviceImage image{std::make_shared<const std::string>(fake_cuda::image_of(&kernels)), "add"};
  std::shared_ptr<const LoadedKernel> loaded[devices];
  for (int k = 0; k < devices; k++) loaded[k] = device(k).load(image);
  int64_t loads = counts(1).loads;
  loaded[1] = device(1).load(image);
  EXPECT_EQ(counts(1).loads, loads) << "an image is loaded once";
  auto launch = [&](int kernel, int on_device, Buffer& data) {
    void* address = data.data();
    int count = int(data.size() / sizeof(int));
    const void* arguments[] = {&address, &count};
    device(on_device).launch(*loaded[kernel], {.arguments = arguments, .blocks = 4, .threads = 32});
  };
  // All are launched before anybody waits.
  std::vector<Buffer> data;
  for (int k = 0; k < devices; k++) data.push_back(on(k, numbers(k)));
  for (int k = 0; k < devices; k++) launch(k, k, data[size_t(k)]);
  for (int k = 0; k < devices; k++) EXPECT_EQ(from(data[size_t(k)])[0], 4950 + 100 * k);
  EXPECT_THROW(launch(0, 1, data[1]), SystemError);
  EXPECT_NE(fault().find("a kernel is launched that another device has loaded"), std::string::npos) << fault();
  EXPECT_THROW(launch(1, 1, data[0]), SystemError);
  EXPECT_NE(fault().find("memory of device 0, and used in the context of device 1"), std::string::npos) << fault();
}

TEST_F(Cuda, MemoryThatIsGivenBackIsTakenAgainOnItsDevice) {
  const std::byte* address = nullptr;
  {
    Buffer buffer = on(2, numbers(0, 77777));
    address = buffer.address();
  }
  Buffer other = Buffer::uninitialized(77777 * sizeof(int), memory::device(1));
  EXPECT_NE(other.address(), address);
  Buffer again = Buffer::uninitialized(77777 * sizeof(int), memory::device(2));
  EXPECT_EQ(again.address(), address);
  EXPECT_THROW(Buffer::uninitialized(size_t(2) << 30, memory::device(2)), memory::OutOfMemory);
}

}  // namespace
}  // namespace spdistal::runtime
