#include "runtime/region/exchange_plan.hpp"

#include <algorithm>
#include <map>

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

/// A match as a movement.
struct Move {
  int64_t from, to;
  const Space* elements;
};

std::vector<Message> messages(const std::map<int, std::vector<Move>>& by_peer, auto&& instance_of, auto&& colour_of) {
  std::vector<Message> out;
  for (const auto& [peer, moves] : by_peer) {
    Message message{peer, {}, 0};
    for (const Move& move : moves) {
      const Instance& instance = instance_of(colour_of(move));
      message.parts.push_back({move.from, move.to, Selection(instance.layout(), *move.elements, instance.type()),
                               message.bytes, *move.elements});
      message.bytes += message.parts.back().selection.bytes();
    }
    out.push_back(std::move(message));
  }
  return out;
}

}  // namespace

ExchangePlan plan_exchange(const Transport& transport, const std::vector<Match>& matches, const Mapping& source_ranks,
                           const Mapping& user_ranks, const Instances& sources, const Instances& users,
                           const ExchangeOptions& options) {
  bool to_users = options.direction == Direction::ToUsers;
  const Mapping &from_ranks = to_users ? source_ranks : user_ranks, &to_ranks = to_users ? user_ranks : source_ranks;
  const Instances &from_instances = to_users ? sources : users, &to_instances = to_users ? users : sources;
  std::vector<Move> moves;
  for (const Match& m : matches)
    moves.push_back(to_users ? Move{m.source, m.user, &m.elements} : Move{m.user, m.source, &m.elements});
  // The same order on both ends of a message, and the order in which contributions are added.
  std::ranges::sort(moves, {}, [](const Move& move) { return std::pair(move.from, move.to); });

  ExchangePlan plan;
  std::map<int, std::vector<Move>> out, in;
  for (const Move& move : moves) {
    int from = from_ranks.rank_of(move.from), to = to_ranks.rank_of(move.to);
    require(from == transport.rank() || to == transport.rank(), "a match is known where it matters");
    if (from != to) {
      (from == transport.rank() ? out[to] : in[from]).push_back(move);
      continue;
    }
    const Instance &source = from_instances[move.from], &target = to_instances[move.to];
    LocalCopy copy(source.layout(), target.layout(), *move.elements, source.type());
    if (source.shares_memory_with(target) && copy.in_place()) continue;
    // Only devices need to know the two ends apart.
    bool apart = source.mirror() || target.mirror();
    const Space& elements = apart ? *move.elements : Space(move.elements->dims());
    plan.copies.push_back({move.from, move.to, std::move(copy), Selection(source.layout(), elements, source.type()),
                           Selection(target.layout(), elements, target.type())});
  }
  plan.out = messages(
      out, [&](int64_t c) -> auto& { return from_instances[c]; }, [](const Move& m) { return m.from; });
  plan.in = messages(
      in, [&](int64_t c) -> auto& { return to_instances[c]; }, [](const Move& m) { return m.to; });
  return plan;
}

bool says_the_same_to_all(const ExchangePlan& plan, int ranks) {
  // Between two ranks a message each way is all there is to gain.
  if (ranks <= 2) return false;
  if (plan.out.empty()) return true;
  if (int(plan.out.size()) != ranks - 1) return false;
  auto same = [](const MessagePart& a, const MessagePart& b) { return a.from == b.from && a.elements == b.elements; };
  return std::ranges::all_of(
      plan.out, [&](const Message& message) { return std::ranges::equal(message.parts, plan.out[0].parts, same); });
}

}  // namespace spdistal::runtime
