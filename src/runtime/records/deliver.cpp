#include "runtime/records/deliver.hpp"

#include <algorithm>
#include <exception>
#include <map>

#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"

namespace spdistal::runtime {
namespace {

/// What has arrived for one colour, by the rank that sent it, so that rounds do not show in the order.
using Arrived = std::vector<Records>;

void take(const Bytes& message, size_t sender, Range mine, std::vector<Arrived>& arrived) {
  for (Reader in(message); !in.at_end();) {
    int64_t colour = in.take<int64_t>();
    size_t count = in.take<size_t>();
    Records& into = arrived[size_t(colour - mine.lo)][sender];
    auto coordinates = in.take_all<int64_t>(count * size_t(into.order()));
    into.add_all(coordinates, in.take_all<std::byte>(count * size_of(into.type())));
  }
}

std::vector<Bytes> write(const std::map<int64_t, Records>& outgoing, const Mapping& mapping) {
  std::vector<Writer> to(static_cast<size_t>(mapping.ranks()));
  for (const auto& [colour, records] : outgoing) {
    Writer& out = to[size_t(mapping.rank_of(colour))];
    out.put(colour);
    out.put(size_t(records.size()));
    out.put_all(records.coordinates());
    out.put_all(records.values());
  }
  std::vector<Bytes> messages;
  for (Writer& writer : to) messages.push_back(writer.take());
  return messages;
}

}  // namespace

std::vector<Records> deliver(Transport& transport, Records mine, int64_t colours, const Place& place,
                             DeliverOptions options) {
  Mapping mapping(colours, transport.size());
  Range here = mapping.colours_of(transport.rank());
  Records none(mine.order(), mine.type());
  std::vector<Arrived> arrived(size_t(here.size()), Arrived(size_t(transport.size()), none));
  size_t record_bytes = size_t(mine.order()) * sizeof(int64_t) + size_of(mine.type());
  std::exception_ptr error;
  std::vector<int64_t> named;
  for (int64_t next = 0, more = 1; more;) {
    std::map<int64_t, Records> outgoing;
    try {
      for (size_t bytes = 0; next < mine.size() && bytes < options.round_bytes; next++) {
        named.clear();
        place(mine.at(next), next, named);
        for (int64_t colour : named) {
          require(colour >= 0 && colour < colours, "a record is placed at a colour that exists");
          outgoing.try_emplace(colour, none).first->second.add_bytes(mine.at(next), mine.value(next));
          bytes += record_bytes;
        }
      }
    } catch (...) {
      // The others are in the middle of a round: this rank goes on with nothing, until all can be told.
      error = std::current_exception();
      outgoing.clear();
      next = mine.size();
    }
    std::vector<Bytes> messages = deal(transport, write(outgoing, mapping));
    for (size_t r = 0; r < messages.size(); r++) take(messages[r], r, here, arrived);
    more = transport.allreduce(int64_t(next < mine.size()), ReduceOp::Max);
  }
  agree(transport, error);
  mine = none;
  std::vector<Records> out;
  for (Arrived& parts : arrived) {
    Records all = std::move(parts[0]);
    for (size_t r = 1; r < parts.size(); r++) {
      all.add_all(parts[r].coordinates(), parts[r].values());
      parts[r] = none;
    }
    out.push_back(std::move(all));
  }
  return out;
}

}  // namespace spdistal::runtime
