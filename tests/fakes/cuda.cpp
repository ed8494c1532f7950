// The part of NVIDIA's driver that is used, over memory of the host: a library to be loaded in its place, with as many GPUs as
// FAKE_CUDA_DEVICES says (two without). It is stricter than the driver: who touches what is not of the current context is refused.
//
// What is put into a stream happens as late as may be: when somebody waits for it. So what is ordered by luck alone goes wrong.
#include "fakes/cuda.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace {

using Address = unsigned long long;

constexpr int ok = 0, invalid_value = 1, out_of_memory = 2, invalid_context = 201, already_enabled = 704,
              invalid_handle = 400, illegal_address = 700;
constexpr size_t memory_of_a_device = size_t(1) << 30;
constexpr int most_devices = 16;

std::recursive_mutex everything;
std::string fault;
int refuse(int code, const std::string& why) { return fault = why, code; }

// ---- streams ----

struct Context;
struct Stream;
struct Event {
  Context* context;
  Stream* stream = nullptr;  // that it was recorded in; and behind how many
  size_t behind = 0;
};
struct Stream {
  Context* context;
  size_t done = 0;
  std::deque<std::function<int()>> waiting = {};
  int failed = ok;  // for good

  size_t put(std::function<int()> what) { return waiting.push_back(std::move(what)), done + waiting.size(); }
  int run_to(size_t end) {
    while (done < end && !waiting.empty()) {
      std::function<int()> next = std::move(waiting.front());
      waiting.pop_front();
      done++;
      if (int error = next(); error != ok) failed = error;
    }
    return failed;
  }
  int run_all() { return run_to(done + waiting.size()); }
};

struct Context {
  int device;
  Stream first{this};
  std::set<Context*> peers = {};
  fake_cuda::Counts counts = {};
};
std::array<Context*, most_devices> contexts = {};
thread_local Context* current = nullptr;

int device_count() {
  const char* said = std::getenv("FAKE_CUDA_DEVICES");
  return said ? std::atoi(said) : 2;
}

// ---- memory ----

struct Block {
  size_t bytes;
  Context* context;
};
std::map<Address, Block> blocks;
std::map<Address, size_t> pinned;

template <class Blocks>
auto block_around(Blocks& all, Address at) {
  auto behind = all.upper_bound(at);
  return behind == all.begin() ? all.end() : std::prev(behind);
}
// Whose memory it is; none: the host's.
const Block* block_at(Address at) {
  auto found = block_around(blocks, at);
  return found != blocks.end() && at < found->first + found->second.bytes ? &found->second : nullptr;
}
bool is_pinned(Address at) {
  auto found = block_around(pinned, at);
  return found != pinned.end() && at < found->first + found->second;
}
int check_range(Address at, size_t bytes, const Context* of, const char* what) {
  const Block* block = block_at(at);
  if (!block) return refuse(illegal_address, std::string(what) + " is no memory of a device");
  if (block->context != of)
    return refuse(invalid_value, std::string(what) + " is memory of device " + std::to_string(block->context->device) +
                                     ", and used in the context of device " + std::to_string(of->device));
  if (at + bytes > block_around(blocks, at)->first + block->bytes)
    return refuse(illegal_address, std::string(what) + " goes beyond its block");
  return ok;
}
void* pointer(Address at) { return reinterpret_cast<void*>(at); }

int stream_of(void* handle, Stream*& out) {
  if (!current) return refuse(invalid_context, "no context is current");
  out = handle ? static_cast<Stream*>(handle) : &current->first;
  return out->context == current ? ok : refuse(invalid_handle, "a stream is used in the context of another device");
}

// ---- code ----

struct Module {
  Context* context;
  const fake_cuda::Kernels* kernels;  // null: machine code
};
struct Function {
  Module* module;
  std::string name;
};

}  // namespace

extern "C" {

fake_cuda::Counts fake_cuda_counts(int device) {
  std::lock_guard lock(everything);
  return contexts[size_t(device)] ? contexts[size_t(device)]->counts : fake_cuda::Counts{};
}
int64_t fake_cuda_bytes_from(const void* data) {
  std::lock_guard lock(everything);
  auto at = reinterpret_cast<Address>(data);
  const Block* block = block_at(at);
  return block ? int64_t(block_around(blocks, at)->first + block->bytes - at) : 0;
}
const char* fake_cuda_fault() { return fault.c_str(); }

int cuInit(unsigned) { return ok; }
int cuDriverGetVersion(int* version) { return *version = 12040, ok; }
int cuDeviceGetCount(int* count) { return *count = device_count(), ok; }
int cuDeviceGet(int* device, int number) {
  return number < device_count() ? (*device = number, ok) : refuse(101, "there is no such device");
}
int cuDeviceGetName(char* name, int length, int device) {
  return std::snprintf(name, size_t(length), "fake GPU %d", device), ok;
}
int cuDeviceGetUuid(char* uuid, int device) { return std::memset(uuid, device + 1, 16), ok; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  return *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 4, ok;
}
int cuDeviceCanAccessPeer(int* can, int device, int peer) { return *can = device != peer, ok; }

int cuDevicePrimaryCtxRetain(void** context, int device) {
  std::lock_guard lock(everything);
  if (!contexts[size_t(device)]) contexts[size_t(device)] = new Context{device};
  return *context = contexts[size_t(device)], ok;
}
int cuCtxSetCurrent(void* context) { return current = static_cast<Context*>(context), ok; }
int cuCtxSetLimit(int, size_t) { return current ? ok : refuse(invalid_context, "no context is current"); }
int cuCtxEnablePeerAccess(void* peer, unsigned flags) {
  std::lock_guard lock(everything);
  if (!current || flags != 0 || peer == current) return refuse(invalid_context, "a context is no peer of itself");
  return current->peers.insert(static_cast<Context*>(peer)).second ? ok : already_enabled;
}

int cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = *total = memory_of_a_device, ok; }
int cuMemAlloc_v2(Address* address, size_t bytes) {
  std::lock_guard lock(everything);
  if (!current) return refuse(invalid_context, "no context is current");
  if (current->counts.bytes + int64_t(bytes) > int64_t(memory_of_a_device)) return out_of_memory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xff, bytes);
  *address = reinterpret_cast<Address>(memory);
  blocks[*address] = {bytes, current};
  current->counts.blocks++, current->counts.bytes += int64_t(bytes);
  return ok;
}
int cuMemFree_v2(Address address) {
  std::lock_guard lock(everything);
  auto found = blocks.find(address);
  if (found == blocks.end()) return refuse(invalid_value, "what is freed was not allocated");
  if (found->second.context != current)
    return refuse(invalid_context, "memory is freed in the context of another device");
  current->first.run_all();
  current->counts.blocks--, current->counts.bytes -= int64_t(found->second.bytes);
  std::free(pointer(address));
  blocks.erase(found);
  return ok;
}
int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  std::lock_guard lock(everything);
  if (!current) return refuse(invalid_context, "no context is current");
  *address = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  pinned[reinterpret_cast<Address>(*address)] = bytes;
  return ok;
}
int cuMemFreeHost(void* address) {
  std::lock_guard lock(everything);
  if (pinned.erase(reinterpret_cast<Address>(address)) == 0)
    return refuse(invalid_value, "what is freed was not allocated");
  return std::free(address), ok;
}

// Memory of the host that is not pinned is done with when this returns, as the driver has it.
int cuMemcpyAsync(Address to, Address from, size_t bytes, void* handle) {
  std::lock_guard lock(everything);
  Stream* stream = nullptr;
  if (int error = stream_of(handle, stream)) return error;
  bool into = block_at(to) != nullptr, out_of = block_at(from) != nullptr;
  if (!into && !out_of) return refuse(invalid_value, "neither end of a copy is on a device");
  if (into)
    if (int error = check_range(to, bytes, current, "what is written")) return error;
  if (out_of)
    if (int error = check_range(from, bytes, current, "what is read")) return error;
  current->counts.copies++;
  if (!out_of && !is_pinned(from)) {
    auto copy = std::make_shared<std::string>(static_cast<const char*>(pointer(from)), bytes);
    stream->put([=] { return std::memcpy(pointer(to), copy->data(), bytes), ok; });
    return ok;
  }
  stream->put([=] { return std::memmove(pointer(to), pointer(from), bytes), ok; });
  return !into && !is_pinned(to) ? stream->run_all() : ok;
}
int cuMemcpyPeerAsync(Address to, void* to_context, Address from, void* from_context, size_t bytes, void* handle) {
  std::lock_guard lock(everything);
  Stream* stream = nullptr;
  if (int error = stream_of(handle, stream)) return error;
  if (int error = check_range(to, bytes, static_cast<Context*>(to_context), "what is written")) return error;
  if (int error = check_range(from, bytes, static_cast<Context*>(from_context), "what is read")) return error;
  current->counts.peer_copies++;
  stream->put([=] { return std::memcpy(pointer(to), pointer(from), bytes), ok; });
  return ok;
}
int cuMemsetD8Async(Address to, unsigned char value, size_t bytes, void* handle) {
  std::lock_guard lock(everything);
  Stream* stream = nullptr;
  if (int error = stream_of(handle, stream)) return error;
  if (int error = check_range(to, bytes, current, "what is cleared")) return error;
  stream->put([=] { return std::memset(pointer(to), value, bytes), ok; });
  return ok;
}

int cuModuleLoadData(void** module, const void* image) {
  std::lock_guard lock(everything);
  if (!current) return refuse(invalid_context, "no context is current");
  const fake_cuda::Kernels* kernels = nullptr;
  auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, fake_cuda::magic, sizeof fake_cuda::magic) == 0)
    std::memcpy(&kernels, bytes + sizeof fake_cuda::magic, sizeof kernels);
  current->counts.loads++;
  return *module = new Module{current, kernels}, ok;
}
int cuModuleGetFunction(void** function, void* handle, const char* name) {
  auto* module = static_cast<Module*>(handle);
  if (module->kernels && !module->kernels->contains(name))
    return refuse(500, std::string("there is no kernel ") + name);
  return *function = new Function{module, name}, ok;
}
int cuLaunchKernel(void* handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned,
                   void* stream_handle, void** arguments, void** extra) {
  std::lock_guard lock(everything);
  auto* function = static_cast<Function*>(handle);
  Stream* stream = nullptr;
  if (int error = stream_of(stream_handle, stream)) return error;
  if (function->module->context != current)
    return refuse(invalid_handle, "a kernel is launched that another device has loaded");
  if (gx == 0 || gy != 1 || gz != 1 || bx == 0 || bx > 1024 || by != 1 || bz != 1 || extra)
    return refuse(invalid_value, "no such grid is launched");
  current->counts.launches++;
  if (!function->module->kernels) return ok;
  fake_cuda::Prepared kernel = function->module->kernels->at(function->name)(arguments);
  for (const void* array : kernel.arrays)
    if (array)
      if (int error = check_range(reinterpret_cast<Address>(array), 0, current, "an array of a kernel")) return error;
  stream->put(std::move(kernel.run));
  return ok;
}

int cuStreamCreate(void** stream, unsigned) {
  std::lock_guard lock(everything);
  if (!current) return refuse(invalid_context, "no context is current");
  return *stream = new Stream{current}, ok;
}
int cuStreamSynchronize(void* handle) {
  std::lock_guard lock(everything);
  Stream* stream = nullptr;
  if (int error = stream_of(handle, stream)) return error;
  return stream->run_all();
}
// Of any device.
int cuStreamWaitEvent(void* handle, void* event_handle, unsigned) {
  std::lock_guard lock(everything);
  Stream* stream = nullptr;
  if (int error = stream_of(handle, stream)) return error;
  Event event = *static_cast<Event*>(event_handle);
  if (event.stream) stream->put([event] { return event.stream->run_to(event.behind); });
  return ok;
}
int cuEventCreate(void** event, unsigned) {
  std::lock_guard lock(everything);
  if (!current) return refuse(invalid_context, "no context is current");
  return *event = new Event{current}, ok;
}
int cuEventRecord(void* handle, void* stream_handle) {
  std::lock_guard lock(everything);
  auto* event = static_cast<Event*>(handle);
  Stream* stream = nullptr;
  if (int error = stream_of(stream_handle, stream)) return error;
  if (event->context != current) return refuse(invalid_handle, "an event is recorded in a stream of another device");
  event->stream = stream;
  event->behind = stream->put([] { return ok; });
  return ok;
}
int cuEventSynchronize(void* handle) {
  std::lock_guard lock(everything);
  auto* event = static_cast<Event*>(handle);
  return event->stream ? event->stream->run_to(event->behind) : ok;
}
int cuEventDestroy_v2(void* handle) { return delete static_cast<Event*>(handle), ok; }

int cuGetErrorName(int error, const char** name) {
  switch (error) {
    case invalid_value: return *name = "CUDA_ERROR_INVALID_VALUE", ok;
    case out_of_memory: return *name = "CUDA_ERROR_OUT_OF_MEMORY", ok;
    case invalid_context: return *name = "CUDA_ERROR_INVALID_CONTEXT", ok;
    case invalid_handle: return *name = "CUDA_ERROR_INVALID_HANDLE", ok;
    case illegal_address: return *name = "CUDA_ERROR_ILLEGAL_ADDRESS", ok;
    default: return *name = "CUDA_ERROR_UNKNOWN", ok;
  }
}
int cuGetErrorString(int, const char** text) { return *text = fault.c_str(), ok; }
}
