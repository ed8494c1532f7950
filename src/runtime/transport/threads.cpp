#include "runtime/transport/threads.hpp"

#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

#include "base/require.hpp"
#include "memory/copy.hpp"

namespace spdistal::runtime {
namespace {

struct Letter {
  int from, tag;
  std::vector<std::byte> bytes;
};
struct Receive {
  std::span<std::byte> into;
  int from, tag;
  bool done = false;
  /// What another rank brought: this one alone writes to its memory, which it may have given back when it stopped for an error.
  std::vector<std::byte> brought = {};
};
struct Mailbox {
  std::list<Letter> arrived;     // with nobody waiting yet, in order of arrival
  std::list<Receive*> awaiting;  // in order of posting
  std::condition_variable changed;
};

/// What ranks of one process share. One lock for all: this transport is for being right.
struct Hub {
  explicit Hub(int ranks) : boxes(size_t(ranks)) {}
  std::mutex lock;
  std::vector<Mailbox> boxes;
  bool stopped = false;
};

class ThreadRanks final : public Transport {
 public:
  ThreadRanks(std::shared_ptr<Hub> hub, int rank, ThreadsOptions options)
      : hub_(std::move(hub)), rank_(rank), options_(options) {}

  int rank() const override { return rank_; }
  int size() const override { return int(hub_->boxes.size()); }

 protected:
  Request post_send(std::span<const std::byte> data, int to, int tag) override {
    std::lock_guard guard(hub_->lock);
    Mailbox& box = hub_->boxes[size_t(to)];
    for (auto it = box.awaiting.begin(); it != box.awaiting.end(); ++it)
      if ((*it)->from == rank_ && (*it)->tag == tag) {
        if (to == rank_) deliver(**it, data);
        else bring(**it, data);
        box.awaiting.erase(it);
        box.changed.notify_all();
        return 0;
      }
    box.arrived.push_back({rank_, tag, {data.begin(), data.end()}});
    return 0;
  }

  Request post_receive(std::span<std::byte> data, int from, int tag) override {
    std::lock_guard guard(hub_->lock);
    Mailbox& box = hub_->boxes[size_t(rank_)];
    for (auto it = box.arrived.begin(); it != box.arrived.end(); ++it)
      if (it->from == from && it->tag == tag) {
        Receive now{data, from, tag};
        deliver(now, it->bytes);
        box.arrived.erase(it);
        return 0;
      }
    auto* receive = new Receive{data, from, tag};
    box.awaiting.push_back(receive);
    return reinterpret_cast<Request>(receive);
  }

  void complete(std::span<Request> requests) override {
    std::unique_lock guard(hub_->lock);
    hub_->boxes[size_t(rank_)].changed.wait(guard, [&] { return hub_->stopped || all_done(requests); });
    if (!all_done(requests)) throw SystemError("another rank has stopped");
    release(requests);
  }

  bool try_complete(std::span<Request> requests) override {
    std::lock_guard guard(hub_->lock);
    if (!all_done(requests)) return false;
    release(requests);
    return true;
  }

  int64_t largest_message() const override { return options_.largest_message; }

 private:
  static void deliver(Receive& receive, std::span<const std::byte> data) {
    require(data.size() == receive.into.size(), "a message has the size its receiver expects");
    memory::copy_bytes(receive.into.data(), data.data(), data.size());
    receive.done = true;
  }
  static void bring(Receive& receive, std::span<const std::byte> data) {
    receive.brought.assign(data.begin(), data.end());
    receive.done = true;
  }
  static bool all_done(std::span<Request> requests) {
    for (Request request : requests)
      if (!reinterpret_cast<Receive*>(request)->done) return false;
    return true;
  }
  static void release(std::span<Request> requests) {
    for (Request request : requests) {
      std::unique_ptr<Receive> receive(reinterpret_cast<Receive*>(request));
      if (!receive->brought.empty()) deliver(*receive, receive->brought);
    }
  }

  std::shared_ptr<Hub> hub_;
  int rank_;
  ThreadsOptions options_;
};

}  // namespace

std::unique_ptr<Transport> loopback(ThreadsOptions options) {
  return std::make_unique<ThreadRanks>(std::make_shared<Hub>(1), 0, options);
}

void run_ranks(int ranks, const std::function<void(Transport&)>& body, ThreadsOptions options) {
  auto hub = std::make_shared<Hub>(ranks);
  std::exception_ptr first;
  std::vector<std::thread> threads;
  auto run = [&](int rank) {
    try {
      ThreadRanks transport(hub, rank, options);
      body(transport);
    } catch (...) {
      std::lock_guard guard(hub->lock);
      // The first to throw is the cause; those stopped by it come later.
      if (!hub->stopped) first = std::current_exception();
      hub->stopped = true;
      for (Mailbox& box : hub->boxes) box.changed.notify_all();
    }
  };
  for (int r = 0; r < ranks; r++) threads.emplace_back(run, r);
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace spdistal::runtime
