// What the runtime asks of whatever connects its ranks: bytes from one rank to another without blocking, and a few
// collectives. A new transport gives four primitives; every collective has a form made of those, which a transport
// replaces where its library has a better one.
//
// Always holds: messages between two ranks with the same tag arrive in the order they were sent; an empty message is
// never sent; collectives are called by all ranks in the same order. Sizes are 64-bit: larger messages than the
// transport can take at once are cut here, in `send` and `receive`, and nowhere else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/transport/said.hpp"
#include "runtime/transport/sent.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal::runtime {

/// For bool: Max is "any", Min is "all", Sum is "any".
enum class ReduceOp { Sum, Product, Min, Max };

/// What a transport knows a message under way by; 0 is one that is complete.
using Request = std::uintptr_t;

/// Messages under way. Their bytes must stay where they are until `wait` returns. Keeps its storage when emptied.
class Pending {
 public:
  bool empty() const { return requests_.empty(); }

 private:
  friend class Transport;
  std::vector<Request> requests_;
};

class Transport {
 public:
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Tags are in [0, tag_count).
  static constexpr int tag_count = 1 << 14;
  /// A tag for a stream of messages, the same on every rank that asks in the same order.
  virtual int fresh_tag() { return next_tag_++ % tag_count; }
  /// A number that this transport has not given before, the same on every rank that asks in the same order.
  virtual uint64_t fresh_number() { return next_number_++; }

  /// What this rank has said so far; the same on every rank.
  Said& said() { return said_; }
  /// What leaves this rank.
  virtual Sent& sent() { return sent_; }

  /// This rank cannot take part in what the others wait for, and cannot tell them. From here on whatever it asks of this
  /// transport, and the end of its process, ends them all where the transport can do that.
  virtual void give_up() { gave_up_ = true; }
  bool gave_up() const { return gave_up_; }

  void send(std::span<const std::byte> data, int to, int tag, Pending& pending);
  void receive(std::span<std::byte> data, int from, int tag, Pending& pending);
  void wait(Pending& pending);
  /// Whether all are complete; makes progress.
  bool test(Pending& pending);

  // Collective, all of them.
  virtual void barrier();
  virtual void broadcast(std::span<std::byte> data, int root);
  /// all = the bytes of rank 0, 1, …; counts[r] is how many rank r gives. Complete after `wait`.
  /// `mine` lies outside `all`.
  virtual void allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts,
                          Pending& pending);
  /// The same, complete when it returns.
  virtual void allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts);
  /// Consecutive parts of `out` go to rank 0, 1, …; `in` is filled likewise.
  virtual void alltoallv(std::span<const std::byte> out, std::span<const int64_t> out_counts, std::span<std::byte> in,
                         std::span<const int64_t> in_counts);
  /// Each value is combined over the ranks, in rank order: the same bits every time.
  virtual void allreduce(void* values, size_t count, ScalarType type, ReduceOp op);
  /// Each value becomes the sum of those of the lower ranks.
  void exclusive_scan(std::span<int64_t> values);

  template <class T>
  T allreduce(T value, ReduceOp op) {
    allreduce(&value, 1, scalar_type_of<T>(), op);
    return value;
  }
  template <class T>
  std::vector<T> allgather(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<size_t>(size()));
    std::vector<int64_t> counts(all.size(), sizeof(T));
    allgatherv(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all)), counts);
    return all;
  }
  int64_t exclusive_scan(int64_t value) {
    exclusive_scan(std::span(&value, 1));
    return value;
  }

 protected:
  virtual Request post_send(std::span<const std::byte> data, int to, int tag) = 0;
  virtual Request post_receive(std::span<std::byte> data, int from, int tag) = 0;
  virtual void complete(std::span<Request> requests) = 0;
  virtual bool try_complete(std::span<Request> requests) = 0;
  /// The most bytes one message may have.
  virtual int64_t largest_message() const = 0;
  static void add(Pending& pending, Request request);
  /// Counts so many bytes for every other rank.
  void count_to_others(size_t bytes) { sent().count(int64_t(bytes) * (size() - 1), size() - 1); }

 private:
  friend class Comparing;  // hands the primitives on to the transport it wraps
  int next_tag_ = 0;
  uint64_t next_number_ = 1;
  bool gave_up_ = false;
  Said said_;
  Sent sent_;
};

}  // namespace spdistal::runtime
