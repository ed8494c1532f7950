#include "runtime/partition/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>

#include "base/require.hpp"
#include "runtime/partition/packed.hpp"
#include "runtime/space/box_index.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"

namespace spdistal::runtime {
namespace {

std::vector<Range> box_of(const Space& set) {
  Rect box = set.bounding();
  return {box.sides().begin(), box.sides().end()};
}

BoxIndex index_of(const std::vector<ColouredSpace>& sets) {
  std::vector<std::vector<Range>> boxes;
  for (const ColouredSpace& item : sets) boxes.push_back(box_of(item.set));
  return BoxIndex(std::move(boxes));
}

/// Calls f(holder, part) for each holder of a part of the set; returns whether all of it is held.
template <class F>
bool split_among_all(const std::vector<ColouredSpace>& held, const BoxIndex& index, const Space& set, F&& f) {
  Space rest = set;
  for (int64_t k : index.meeting(box_of(set)))
    if (Space part = set & held[size_t(k)].set; !part.empty()) {
      rest = rest - part;
      f(held[size_t(k)].colour, std::move(part));
    }
  return rest.empty();
}

/// The owners within one block: disjoint sets. In one dimension one list of intervals in order, each with its owner.
class Owners {
 public:
  Owners(int dims, const std::vector<ColouredSpace>& held) : dims_(dims) {
    if (dims == 1) sweep(held);
    else take_in_order(held);
  }

  /// Calls f(owner, part) for each owner of a part of the set; returns whether all of it is owned.
  template <class F>
  bool split(const Space& set, F&& f) const {
    return dims_ == 1 ? split_line(set, f) : split_any(set, f);
  }

 private:
  struct Interval {
    Range range;
    int64_t owner;
  };

  void sweep(const std::vector<ColouredSpace>& held) {
    std::vector<Interval> all;
    for (const auto& [colour, set] : held)
      for (const Range& range : set.sides()) all.push_back({range, colour});
    std::ranges::sort(all, {}, [](const Interval& i) { return i.range.lo; });
    // The intervals that cover x, the lowest colour on top; those that ended are dropped when they come up.
    auto lower = [](const Interval& a, const Interval& b) { return a.owner > b.owner; };
    std::priority_queue<Interval, std::vector<Interval>, decltype(lower)> open(lower);
    int64_t x = INT64_MIN;
    for (size_t next = 0; next < all.size() || !open.empty();) {
      if (open.empty()) x = std::max(x, all[next].range.lo);
      for (; next < all.size() && all[next].range.lo <= x; next++) open.push(all[next]);
      while (!open.empty() && open.top().range.hi <= x) open.pop();
      if (open.empty()) continue;
      int64_t end = open.top().range.hi;
      if (next < all.size()) end = std::min(end, all[next].range.lo);
      if (!line_.empty() && line_.back().range.hi == x && line_.back().owner == open.top().owner)
        line_.back().range.hi = end;
      else line_.push_back({{x, end}, open.top().owner});
      x = end;
    }
  }

  void take_in_order(const std::vector<ColouredSpace>& held) {
    BoxIndex index = index_of(held);
    for (size_t k = 0; k < held.size(); k++) {
      Space own = held[k].set;
      for (int64_t before : index.meeting(box_of(own)))
        if (size_t(before) < k) own = own - held[size_t(before)].set;
      if (!own.empty()) sets_.push_back({held[k].colour, std::move(own)});
    }
    index_.emplace(index_of(sets_));
  }

  template <class F>
  bool split_line(const Space& set, F&& f) const {
    std::map<int64_t, std::vector<Range>> parts;
    auto at = line_.begin();
    bool all = true;
    for (const Range& wanted : set.sides()) {
      if (at != line_.end() && at->range.hi <= wanted.lo)
        at = std::upper_bound(at, line_.end(), wanted.lo,
                              [](int64_t x, const Interval& interval) { return x < interval.range.hi; });
      int64_t covered = wanted.lo;
      for (auto i = at; i != line_.end() && i->range.lo < wanted.hi; ++i) {
        Range part = common(i->range, wanted);
        all = all && part.lo == covered;
        covered = part.hi;
        parts[i->owner].push_back(part);
      }
      all = all && covered == wanted.hi;
    }
    for (auto& [owner, ranges] : parts) f(owner, Space::from_intervals(std::move(ranges)));
    return all;
  }

  template <class F>
  bool split_any(const Space& set, F&& f) const {
    Space rest = set;
    for (int64_t k : index_->meeting(box_of(set))) {
      const auto& [colour, own] = sets_[size_t(k)];
      Space part = rest & own;
      if (part.empty()) continue;
      rest = rest - part;
      f(colour, std::move(part));
      if (rest.empty()) break;
    }
    return rest.empty();
  }

  int dims_;
  std::vector<Interval> line_;
  std::vector<ColouredSpace> sets_;
  std::optional<BoxIndex> index_;  // of the sets
};

/// What the rank has a copy of itself; takes it out of what is needed.
std::vector<Match> match_here(const std::vector<ColouredSpace>& held, std::vector<ColouredSpace>& needed) {
  std::vector<Match> out;
  BoxIndex index = index_of(held);
  for (auto& [user, rest] : needed)
    for (int64_t k : index.meeting(box_of(rest))) {
      const auto& [source, set] = held[size_t(k)];
      if (rest.empty()) break;
      Space part = rest & set;
      if (part.empty()) continue;
      rest = rest - part;
      out.push_back({source, user, std::move(part)});
    }
  return out;
}

/// Parts of one match come from several blocks; together they are one set.
std::vector<Match> merge(std::vector<Match> parts, int dims) {
  std::ranges::stable_sort(parts, {}, [](const Match& m) { return std::pair(m.source, m.user); });
  std::vector<Match> out;
  for (size_t i = 0; i < parts.size();) {
    std::vector<Space> sets;
    size_t j = i;
    for (; j < parts.size() && parts[j].source == parts[i].source && parts[j].user == parts[i].user; j++)
      sets.push_back(std::move(parts[j].elements));
    out.push_back({parts[i].source, parts[i].user, unite(dims, sets)});
    i = j;
  }
  return out;
}

}  // namespace

std::vector<Match> match(Transport& transport, const Partition& held, const Partition& needed, Sources sources,
                         Unheld unheld) {
  require(held.dims() == needed.dims(), "what is held and what is needed are sets of the same space");
  int dims = held.dims();
  std::vector<ColouredSpace> holding = pieces_here(transport, held), wanting = pieces_here(transport, needed);
  std::vector<Match> matches;
  if (sources == Sources::AnyLocal) matches = match_here(holding, wanting);

  Directory directory(transport, held);
  bool all_held = std::ranges::all_of(wanting, [&](const ColouredSpace& wanted) {
    return wanted.set.empty() || common(directory.box(), wanted.set.bounding()) == wanted.set.bounding();
  });
  std::vector<ColouredSpace> held_here = directory.send_to_blocks(holding);
  std::vector<ColouredSpace> needed_here = directory.send_to_blocks(wanting);

  Mapping source_ranks(held.colours(), transport.size()), user_ranks(needed.colours(), transport.size());
  std::vector<Writer> to(static_cast<size_t>(transport.size()));
  BoxIndex index = index_of(sources == Sources::Everyone ? held_here : std::vector<ColouredSpace>());
  Owners owners(dims, sources == Sources::Everyone ? std::vector<ColouredSpace>() : held_here);
  for (const auto& [wanting_colour, set] : needed_here) {
    int64_t user = wanting_colour;
    auto tell = [&](int64_t source, const Space& part) {
      int giver = source_ranks.rank_of(source), taker = user_ranks.rank_of(user);
      for (int r : {giver, taker}) {
        to[size_t(r)].put(source);
        to[size_t(r)].put(user);
        put(to[size_t(r)], part);
        if (giver == taker) break;
      }
    };
    all_held &= sources == Sources::Everyone ? split_among_all(held_here, index, set, tell) : owners.split(set, tell);
  }
  if (unheld == Unheld::Refuse)
    together(transport, [&] { require(all_held, "everything that is needed is held somewhere"); });

  for (const Bytes& message : deal(transport, messages_of(std::move(to))))
    for (Reader in(message); !in.at_end();) {
      int64_t source = in.take<int64_t>(), user = in.take<int64_t>();
      matches.push_back({source, user, take_space(in, dims)});
    }
  return merge(std::move(matches), dims);
}

}  // namespace spdistal::runtime
