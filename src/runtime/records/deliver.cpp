#include "runtime/records/deliver.hpp"

#include <algorithm>
#include <exception>

#include "memory/pool.hpp"
#include "runtime/records/compact.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"

namespace spdistal::runtime {
namespace {

/// What has arrived for one colour, by the rank that sent it, so that rounds do not show in the order, and as it came: lists that
/// grow would take up to three times the room.
using Arrived = std::vector<std::vector<CompactRecords>>;

void take(const Bytes& message, size_t sender, Range mine, const Records& none, std::vector<Arrived>& arrived) {
  for (Reader in(message); !in.at_end();) {
    int64_t colour = in.take<int64_t>();
    arrived[size_t(colour - mine.lo)][sender].emplace_back(in, none.order(), none.type());
  }
}

/// Writes the records of each colour and forgets them.
std::vector<Bytes> write(std::vector<Records>& outgoing, const Mapping& mapping) {
  std::vector<Writer> to(static_cast<size_t>(mapping.ranks()));
  for (int64_t colour = 0; colour < mapping.colours(); colour++) {
    Records& records = outgoing[size_t(colour)];
    if (records.empty()) continue;
    Writer& out = to[size_t(mapping.rank_of(colour))];
    out.put(colour);
    CompactRecords::put(out, records);
    records.truncate(0);
  }
  return messages_of(std::move(to));
}

/// All of them in one list.
Records joined(Arrived parts, const Records& none) {
  int64_t all = 0;
  for (const auto& sender : parts)
    for (const CompactRecords& part : sender) all += part.size();
  Records out(none);
  out.reserve(all);
  for (auto& sender : parts) {
    for (const CompactRecords& part : sender) part.append_to(out);
    sender = {};
  }
  return out;
}

}  // namespace

std::vector<Records> deliver(Transport& transport, Records mine, int64_t colours, const Destinations& place,
                             DeliverOptions options) {
  Mapping mapping(colours, transport.size());
  Range here = mapping.colours_of(transport.rank());
  size_t ranks = size_t(transport.size()), me = size_t(transport.rank());
  Records none(mine.order(), mine.type());
  std::vector<Arrived> arrived(size_t(here.size()), Arrived(ranks));
  size_t record_bytes = size_t(mine.order()) * sizeof(int64_t) + size_of(mine.type());
  // What goes wrong here, if only that memory is short, must not leave the others waiting: this rank takes part in the
  // round with nothing to send, and before anything is received all are told.
  Attempts attempt;
  std::vector<int64_t> named;
  std::vector<Records> outgoing;  // by colour
  for (int64_t next = 0, more = 1; more;) {
    std::vector<Bytes> to(ranks), from(ranks);
    attempt([&] {
      outgoing.resize(size_t(colours), none);
      for (size_t bytes = 0; next < mine.size() && bytes < options.round_bytes; next++) {
        named.clear();
        place(mine.at(next), next, named);
        for (int64_t colour : named) {
          require(colour >= 0 && colour < colours, "a record is placed at a colour that exists");
          outgoing[size_t(colour)].add_bytes(mine.at(next), mine.value(next));
          bytes += record_bytes;
        }
      }
      to = write(outgoing, mapping);
    });
    std::vector<int64_t> sizes = announce_sizes(transport, to);
    attempt([&] {
      for (size_t r = 0; r < ranks; r++)
        if (r != me) from[r].resize(size_t(sizes[r]));
    });
    int64_t state[2] = {next < mine.size(), attempt.error() != nullptr};
    transport.allreduce(state, 2, ScalarType::Int64, ReduceOp::Max);
    if (state[1]) agree(transport, attempt.error());
    deal_into(transport, to, from);
    to.clear();
    more = state[0];
    attempt([&] {
      for (size_t r = 0; r < ranks; r++) {
        take(from[r], r, here, none, arrived);
        from[r] = Bytes();
      }
    });
  }
  size_t sent = mine.values().size() + mine.coordinates().size_bytes();
  mine = Records(none);  // a copy would keep the memory
  outgoing.clear();
  memory::give_back_idle(sent);
  std::vector<Records> out;
  together(transport, [&] {
    if (attempt.error()) std::rethrow_exception(attempt.error());
    for (Arrived& parts : arrived) {
      out.push_back(joined(std::move(parts), none));
      memory::give_back_idle(out.back().values().size() + out.back().coordinates().size_bytes());
    }
  });
  return out;
}

}  // namespace spdistal::runtime
