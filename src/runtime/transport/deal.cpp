#include "runtime/transport/deal.hpp"

#include <numeric>

namespace spdistal::runtime {

std::vector<int64_t> announce_sizes(Transport& transport, const std::vector<Bytes>& to) {
  auto agreement = Sending::agreement(transport.sent());
  size_t ranks = size_t(transport.size());
  require(to.size() == ranks, "there is something to say, if only nothing, for every rank");
  std::vector<int64_t> out(ranks), in(ranks), one(ranks, sizeof(int64_t));
  for (size_t r = 0; r < ranks; r++) out[r] = int64_t(to[r].size());
  transport.alltoallv(std::as_bytes(std::span(out)), one, std::as_writable_bytes(std::span(in)), one);
  return in;
}

void deal_into(Transport& transport, std::vector<Bytes>& to, std::vector<Bytes>& from) {
  size_t ranks = size_t(transport.size()), me = size_t(transport.rank());
  int tag = transport.fresh_tag();
  Pending pending;
  for (size_t r = 0; r < ranks; r++)
    if (r != me) transport.receive(from[r], int(r), tag, pending);
  for (size_t step = 1; step < ranks; step++) {
    size_t r = (me + step) % ranks;
    transport.send(to[r], int(r), tag, pending);
  }
  from[me] = std::move(to[me]);
  transport.wait(pending);
}

std::vector<Bytes> deal(Transport& transport, std::vector<Bytes> to) {
  std::vector<int64_t> sizes = announce_sizes(transport, to);
  std::vector<Bytes> from(to.size());
  for (size_t r = 0; r < from.size(); r++)
    if (r != size_t(transport.rank())) from[r].resize(size_t(sizes[r]));
  deal_into(transport, to, from);
  return from;
}

std::vector<Bytes> share(Transport& transport, const Bytes& mine) {
  std::vector<int64_t> counts = transport.allgather(int64_t(mine.size()));
  Bytes all(size_t(std::accumulate(counts.begin(), counts.end(), int64_t(0))));
  transport.allgatherv(mine, all, counts);
  std::vector<Bytes> out;
  size_t at = 0;
  for (int64_t count : counts) {
    out.emplace_back(all.begin() + std::ptrdiff_t(at), all.begin() + std::ptrdiff_t(at + size_t(count)));
    at += size_t(count);
  }
  return out;
}

}  // namespace spdistal::runtime
