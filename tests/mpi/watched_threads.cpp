// Threads as ranks, seen through a transport of four primitives that counts what goes through it: all collectives are made
// of messages.
#include <memory>

#include "mpi/watched.hpp"
#include "runtime/transport/threads.hpp"

namespace spdistal::runtime::testkit {
namespace {

class Watched final : public Transport {
 public:
  explicit Watched(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  int64_t handed() const { return handed_; }

 protected:
  Request post_send(std::span<const std::byte> data, int to, int tag) override {
    handed_ += int64_t(data.size());
    return request([&](Pending& pending) { inner_.send(data, to, tag, pending); });
  }
  Request post_receive(std::span<std::byte> data, int from, int tag) override {
    return request([&](Pending& pending) { inner_.receive(data, from, tag, pending); });
  }
  void complete(std::span<Request> requests) override {
    for (Request request : requests) inner_.wait(*std::unique_ptr<Pending>(reinterpret_cast<Pending*>(request)));
  }
  bool try_complete(std::span<Request> requests) override {
    for (Request request : requests)
      if (!inner_.test(*reinterpret_cast<Pending*>(request))) return false;
    complete(requests);
    return true;
  }
  int64_t largest_message() const override { return INT64_MAX; }

 private:
  template <class F>
  static Request request(F&& f) {
    auto pending = std::make_unique<Pending>();
    f(*pending);
    return pending->empty() ? 0 : reinterpret_cast<Request>(pending.release());
  }

  Transport& inner_;
  int64_t handed_ = 0;
};

}  // namespace

void on_watched_ranks(const std::function<void(Transport&, const Handed&)>& check) {
  for (int ranks : {1, 2, 3, 4})
    run_ranks(ranks, [&](Transport& t) {
      Watched watched(t);
      check(watched, [&] { return watched.handed(); });
    });
}

}  // namespace spdistal::runtime::testkit
