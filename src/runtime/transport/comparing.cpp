#include "runtime/transport/comparing.hpp"

#include <fmt/format.h>

#include "base/require.hpp"

namespace spdistal::runtime {

class Comparing final : public Transport {
 public:
  explicit Comparing(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }

  // Numbers are the inner one's: it may be asked itself, and gives none twice.
  int fresh_tag() override { return inner_->fresh_tag(); }
  uint64_t fresh_number() override { return inner_->fresh_number(); }
  Sent& sent() override { return inner_->sent(); }

  void give_up() override {
    Transport::give_up();
    inner_->give_up();
  }

  void barrier() override {
    compare({Kind::Barrier, 0, 0});
    inner_->barrier();
  }
  void broadcast(std::span<std::byte> data, int root) override {
    compare({Kind::Broadcast, int64_t(data.size()), root});
    inner_->broadcast(data, root);
  }
  void allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts,
                  Pending& pending) override {
    compare({Kind::Allgather, int64_t(all.size()), 0});
    inner_->allgatherv(mine, all, counts, pending);
  }
  void allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts) override {
    compare({Kind::Allgather, int64_t(all.size()), 0});
    inner_->allgatherv(mine, all, counts);
  }
  void alltoallv(std::span<const std::byte> out, std::span<const int64_t> out_counts, std::span<std::byte> in,
                 std::span<const int64_t> in_counts) override {
    // What ranks give each other differs by nature.
    compare({Kind::Alltoall, 0, 0});
    inner_->alltoallv(out, out_counts, in, in_counts);
  }
  void allreduce(void* values, size_t count, ScalarType type, ReduceOp op) override {
    compare({Kind::Allreduce, int64_t(count * size_of(type)), int64_t(op)});
    inner_->allreduce(values, count, type, op);
  }

 protected:
  Request post_send(std::span<const std::byte> data, int to, int tag) override {
    return inner_->post_send(data, to, tag);
  }
  Request post_receive(std::span<std::byte> data, int from, int tag) override {
    return inner_->post_receive(data, from, tag);
  }
  void complete(std::span<Request> requests) override { inner_->complete(requests); }
  bool try_complete(std::span<Request> requests) override { return inner_->try_complete(requests); }
  int64_t largest_message() const override { return inner_->largest_message(); }

 private:
  enum class Kind : int64_t { Barrier, Broadcast, Allgather, Alltoall, Allreduce };
  struct Call {
    Kind kind;
    int64_t bytes, detail;  // the root of a broadcast, the operation of a reduction
    bool operator==(const Call&) const = default;
  };

  static std::string describe(const Call& call) {
    switch (call.kind) {
      case Kind::Barrier: return "barrier";
      case Kind::Broadcast: return fmt::format("broadcast of {} bytes from rank {}", call.bytes, call.detail);
      case Kind::Allgather: return fmt::format("allgather of {} bytes", call.bytes);
      case Kind::Alltoall: return "alltoall";
      default: return fmt::format("allreduce of {} bytes", call.bytes);
    }
  }

  void compare(const Call& mine) {
    number_++;
    auto agreement = Sending::agreement(sent());
    std::vector<Call> all = inner_->allgather(mine);
    for (size_t r = 1; r < all.size(); r++)
      if (all[r] != all[0])
        throw InternalError(fmt::format("collective {}: rank 0 calls {}, rank {} calls {}", number_, describe(all[0]),
                                        r, describe(all[r])));
  }

  std::shared_ptr<Transport> inner_;
  int64_t number_ = 0;
};

std::unique_ptr<Transport> comparing(std::shared_ptr<Transport> transport) {
  return std::make_unique<Comparing>(std::move(transport));
}

}  // namespace spdistal::runtime
