// What an exchange of one rank does, as lists: messages out, messages in, copies within. Made from matches.
#pragma once
#include <vector>

#include "runtime/region/exchange.hpp"

namespace spdistal::runtime {

/// Elements of one pair of colours within a message.
struct MessagePart {
  int64_t from, to;  // colours
  Selection selection;
  int64_t offset;  // in the message, in bytes
  Space elements;
};
/// All that one rank sends to another: the parts by colour sent from, then by colour sent to, on both sides.
struct Message {
  int peer;
  std::vector<MessagePart> parts;
  int64_t bytes = 0;
};
struct Copy {
  int64_t from, to;  // colours
  LocalCopy elements;
  Selection source, target;  // where devices have copies of the memory
};

struct ExchangePlan {
  std::vector<Message> out, in;
  std::vector<Copy> copies;
};

ExchangePlan plan_exchange(const Transport& transport, const std::vector<Match>& matches, const Mapping& source_ranks,
                           const Mapping& user_ranks, const Instances& sources, const Instances& users,
                           const ExchangeOptions& options);

/// Whether this rank says the same to every other rank: then, if all do, one allgather replaces all messages.
bool says_the_same_to_all(const ExchangePlan& plan, int ranks);

}  // namespace spdistal::runtime
