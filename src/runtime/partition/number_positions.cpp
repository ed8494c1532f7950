#include "runtime/partition/number_positions.hpp"

#include <algorithm>
#include <utility>

#include "base/require.hpp"
#include "runtime/partition/packed.hpp"
#include "runtime/transport/deal.hpp"

namespace spdistal::runtime {
namespace {

/// A part of a piece within one block of parents, on the rank of the block.
struct Part {
  int64_t colour;
  size_t sender, piece;  // whose, and which of the sender's
  Space parents;
  std::vector<int64_t> counts;  // become the first positions
};

Range block_of_rank(int64_t parents, const Transport& transport, int rank) {
  return block(parents, transport.size(), rank);
}

std::vector<Bytes> cut_at_blocks(const Transport& transport, int64_t parents, const std::vector<ChildCounts>& pieces) {
  std::vector<Writer> to(static_cast<size_t>(transport.size()));
  for (size_t piece = 0; piece < pieces.size(); piece++) {
    require(int64_t(pieces[piece].counts.size()) == pieces[piece].parents.size(), "each parent has a count");
    size_t at = 0;
    for (int r = 0; r < transport.size(); r++) {
      Range here = block_of_rank(parents, transport, r);
      Space part = pieces[piece].parents & Space::interval(here.lo, here.hi);
      if (part.empty()) continue;
      Writer& out = to[size_t(r)];
      out.put(pieces[piece].colour);
      out.put(piece);
      put(out, part);
      out.put_all(std::span<const int64_t>(pieces[piece].counts).subspan(at, size_t(part.size())));
      at += size_t(part.size());
    }
    require(at == pieces[piece].counts.size(), "all parents are in the range given");
  }
  return messages_of(std::move(to));
}

std::vector<Part> read_parts(const std::vector<Bytes>& messages) {
  std::vector<Part> parts;
  for (size_t sender = 0; sender < messages.size(); sender++)
    for (Reader in(messages[sender]); !in.at_end();) {
      int64_t colour = in.take<int64_t>();
      size_t piece = in.take<size_t>();
      Space set = take_space(in, 1);
      auto counts = in.take_all<int64_t>(size_t(set.size()));
      parts.push_back({colour, sender, piece, std::move(set), std::move(counts)});
    }
  std::ranges::stable_sort(parts, {}, &Part::colour);
  return parts;
}

}  // namespace

Numbering number_positions(Transport& transport, int64_t parents, const std::vector<ChildCounts>& pieces) {
  std::vector<Part> parts = read_parts(deal(transport, cut_at_blocks(transport, parents, pieces)));
  Range here = block_of_rank(parents, transport, transport.rank());
  // next[p]: first the children of each parent, then where those of the next colour begin.
  std::vector<int64_t> next(static_cast<size_t>(here.size()));
  auto for_each_count = [&](Part& part, auto&& f) {
    size_t k = 0;
    for (const Range& interval : part.parents.sides())
      for (int64_t p = interval.lo; p < interval.hi; p++) f(next[size_t(p - here.lo)], part.counts[k++]);
  };
  for (Part& part : parts) for_each_count(part, [](int64_t& sum, int64_t count) { sum += count; });
  int64_t children = 0;
  for (int64_t count : next) children += count;
  int64_t position = transport.exclusive_scan(children);
  for (int64_t& count : next) position += std::exchange(count, position);
  for (Part& part : parts)
    for_each_count(part, [](int64_t& first, int64_t& count) { first += std::exchange(count, first); });

  std::vector<Writer> back(static_cast<size_t>(transport.size()));
  for (const Part& part : parts) {
    back[part.sender].put(part.piece);
    back[part.sender].put(part.counts.size());
    back[part.sender].put_all(std::span<const int64_t>(part.counts));
  }
  Numbering out{std::vector<std::vector<int64_t>>(pieces.size()), transport.allreduce(children, ReduceOp::Sum)};
  // Blocks in the order of ranks are parents in order.
  for (const Bytes& message : deal(transport, messages_of(std::move(back))))
    for (Reader in(message); !in.at_end();) {
      size_t piece = in.take<size_t>();
      auto first = in.take_all<int64_t>(in.take<size_t>());
      out.first[piece].insert(out.first[piece].end(), first.begin(), first.end());
    }
  return out;
}

}  // namespace spdistal::runtime
