#include "runtime/transport/transport.hpp"

#include <algorithm>
#include <numeric>

#include "base/require.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/combine_values.hpp"

namespace spdistal::runtime {
namespace {

// Collectives made of messages use tags of their own, so that they never meet those of the callers.
enum CollectiveTag : int { barrier_tag = Transport::tag_count, broadcast_tag, gather_tag, exchange_tag };

}  // namespace

void Transport::add(Pending& pending, Request request) {
  if (request != 0) pending.requests_.push_back(request);
}

void Transport::send(std::span<const std::byte> data, int to, int tag, Pending& pending) {
  require(to >= 0 && to < size(), "a message goes to a rank that exists");
  size_t most = size_t(largest_message());
  for (size_t at = 0; at < data.size();) {
    size_t part = std::min(data.size() - at, most);
    add(pending, post_send(data.subspan(at, part), to, tag));
    sent().count(int64_t(part), 1);
    at += part;
  }
}

void Transport::receive(std::span<std::byte> data, int from, int tag, Pending& pending) {
  require(from >= 0 && from < size(), "a message comes from a rank that exists");
  size_t most = size_t(largest_message());
  for (size_t at = 0; at < data.size();) {
    size_t part = std::min(data.size() - at, most);
    add(pending, post_receive(data.subspan(at, part), from, tag));
    at += part;
  }
}

void Transport::wait(Pending& pending) {
  if (!pending.empty()) complete(pending.requests_);
  pending.requests_.clear();
}

bool Transport::test(Pending& pending) {
  if (!pending.empty() && !try_complete(pending.requests_)) return false;
  pending.requests_.clear();
  return true;
}

void Transport::barrier() {
  // Dissemination: after round k every rank has heard, by way of others, of the 2^k ranks before it.
  std::byte mine{}, theirs{};
  for (int step = 1; step < size(); step *= 2) {
    Pending pending;
    receive(std::span(&theirs, 1), (rank() - step + size()) % size(), barrier_tag, pending);
    send(std::span(&mine, 1), (rank() + step) % size(), barrier_tag, pending);
    wait(pending);
  }
}

void Transport::broadcast(std::span<std::byte> data, int root) {
  // A binomial tree, with ranks counted from the root.
  int from_root = (rank() - root + size()) % size();
  auto actual = [&](int r) { return (r + root) % size(); };
  Pending pending;
  int step = 1;
  while (step <= from_root) step *= 2;
  if (from_root > 0) {
    receive(data, actual(from_root - step / 2), broadcast_tag, pending);
    wait(pending);
  }
  for (; from_root + step < size(); step *= 2) send(data, actual(from_root + step), broadcast_tag, pending);
  wait(pending);
}

void Transport::allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts,
                           Pending& pending) {
  require(counts.size() == size_t(size()) && int64_t(mine.size()) == counts[size_t(rank())],
          "allgatherv knows what each rank gives");
  size_t at = 0;
  for (int r = 0; r < size(); at += size_t(counts[size_t(r)]), r++) {
    std::span<std::byte> theirs = all.subspan(at, size_t(counts[size_t(r)]));
    if (r != rank()) receive(theirs, r, gather_tag, pending);
    else if (!mine.empty()) memory::copy_bytes(theirs.data(), mine.data(), mine.size());
  }
  for (int step = 1; step < size(); step++) send(mine, (rank() + step) % size(), gather_tag, pending);
}

void Transport::allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts) {
  Pending pending;
  allgatherv(mine, all, counts, pending);
  wait(pending);
}

void Transport::alltoallv(std::span<const std::byte> out, std::span<const int64_t> out_counts, std::span<std::byte> in,
                          std::span<const int64_t> in_counts) {
  require(out_counts.size() == size_t(size()) && in_counts.size() == size_t(size()),
          "alltoallv has a count for each rank");
  require(out_counts[size_t(rank())] == in_counts[size_t(rank())], "what a rank gives itself is what it takes");
  Pending pending;
  size_t at = 0, mine_in = 0;
  for (int r = 0; r < size(); at += size_t(in_counts[size_t(r)]), r++) {
    if (r != rank()) receive(in.subspan(at, size_t(in_counts[size_t(r)])), r, exchange_tag, pending);
    else mine_in = at;
  }
  at = 0;
  for (int r = 0; r < size(); at += size_t(out_counts[size_t(r)]), r++) {
    std::span<const std::byte> part = out.subspan(at, size_t(out_counts[size_t(r)]));
    if (r != rank()) send(part, r, exchange_tag, pending);
    else if (!part.empty()) memory::copy_bytes(in.data() + mine_in, part.data(), part.size());
  }
  wait(pending);
}

void Transport::allreduce(void* values, size_t count, ScalarType type, ReduceOp op) {
  if (size() == 1 || count == 0) return;
  auto agreement = Sending::agreement(sent());
  size_t bytes = count * size_of(type);
  std::vector<std::byte> all(bytes * size_t(size()));
  std::vector<int64_t> counts(static_cast<size_t>(size()), int64_t(bytes));
  allgatherv({static_cast<const std::byte*>(values), bytes}, all, counts);
  memory::copy_bytes(values, all.data(), bytes);
  for (size_t r = 1; r < size_t(size()); r++) combine_values(values, all.data() + r * bytes, count, type, op);
}

void Transport::exclusive_scan(std::span<int64_t> values) {
  std::vector<int64_t> all(values.size() * size_t(size()));
  std::vector<int64_t> counts(static_cast<size_t>(size()), int64_t(values.size_bytes()));
  allgatherv(std::as_bytes(values), std::as_writable_bytes(std::span(all)), counts);
  std::fill(values.begin(), values.end(), 0);
  for (size_t r = 0; r < size_t(rank()); r++)
    for (size_t k = 0; k < values.size(); k++) values[k] += all[r * values.size() + k];
}

}  // namespace spdistal::runtime
