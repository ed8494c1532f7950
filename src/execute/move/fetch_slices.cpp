// Fetching pieces of sparse tensors that are slices of home pieces, put together as they lie: arrays travel into the arrays of
// the piece, nothing is listed as entries and nothing is sorted.
#include <algorithm>

#include "base/require.hpp"
#include "execute/move/fetch_state.hpp"
#include "level/level.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/join.hpp"
#include "tensor/tree.hpp"

namespace spdistal {

using runtime::Instance;
using runtime::Instances;
using runtime::Layout;
using runtime::Space;

namespace {

// A slice of a home piece for a colour, as both ends know it.
struct Slice {
  int64_t colour;
  int64_t home;
  int64_t base;                 // where an access is split: the first position of that level, in the whole
  Range coordinates;            // of the first level
  Range positions;              // of the last level, in the home piece
  std::vector<int64_t> counts;  // positions of each level
};

void write(runtime::Writer& w, const Slice& slice) {
  w.put(slice.colour), w.put(slice.home), w.put(slice.base), w.put(slice.coordinates), w.put(slice.positions);
  w.put_all(std::span<const int64_t>(slice.counts));
}

Slice read(runtime::Reader& r, size_t order) {
  Slice out{r.take<int64_t>(), r.take<int64_t>(), r.take<int64_t>(), {}, {}, {}};
  out.coordinates = r.take<Range>();
  out.positions = r.take<Range>();
  out.counts = r.take_all<int64_t>(order);
  return out;
}

bool has_arrays(const Format& format, size_t level) { return !format.levels()[level].arrays().empty(); }

// Of the last level a run, of all that the dense levels at the end have below their parents; of levels above what the plan
// takes of them.
std::optional<SlicePositions> slice_of(const Pattern& pattern, const Tree& tree, const Space& part,
                                       const std::vector<std::optional<Range>>& levels) {
  if (!part.is_rect()) return std::nullopt;
  Range run = part.bounding()[0];
  int64_t below = 1;
  for (size_t k = tree.tail(); k < pattern.order(); k++) {
    if (pattern.level(k).range != Range{0, pattern.level(k).dim}) return std::nullopt;
    below *= pattern.level(k).dim;
  }
  if (run.lo % below != 0 || run.hi % below != 0) return std::nullopt;
  SlicePositions out = slice_around(pattern, tree.tail() - 1, {run.lo / below, run.hi / below});
  for (size_t k = 0; k + 1 < tree.tail(); k++) out[k] = levels[k].value_or(out[k]);
  return out;
}

// What the levels of a piece cover: what is asked for, else what comes at a first level with places, or everything.
std::vector<Range> ranges_of(const Home& home, const Ranges& wanted, const std::vector<Slice>& parts) {
  std::vector<Range> out;
  for (size_t d = 0; d < wanted.size(); d++)
    out.push_back(wanted[d].value_or(parts.empty() ? Range{0, 0} : Range{0, home.dims()[d]}));
  auto first = size_t(home.format().mode_order()[0]);
  if (!wanted[first] && !parts.empty() && !has_arrays(home.format(), 0))
    out[first] = {parts.front().coordinates.lo, parts.back().coordinates.hi};
  return out;
}

// Can slices, in the order of their homes, be put together? They have coordinates of the first level for themselves, in this
// order, and levels with places are as those of the homes.
bool fit(const Home& home, const Tree& tree, const Ranges& wanted, const std::vector<Slice>& parts) {
  std::vector<Range> ranges = ranges_of(home, wanted, parts);
  for (size_t k = tree.tail(); k < home.order(); k++) {
    auto d = size_t(home.format().mode_order()[k]);
    if (!parts.empty() && ranges[d] != Range{0, home.dims()[d]}) return false;
  }
  Range rows = has_arrays(home.format(), 0) ? Range{0, home.dims()[size_t(home.format().mode_order()[0])]}
                                            : ranges[size_t(home.format().mode_order()[0])];
  int64_t next = rows.lo;
  for (const Slice& slice : parts) {
    if (slice.coordinates.lo < next || slice.coordinates.hi > rows.hi) return false;
    next = slice.coordinates.hi;
  }
  return true;
}

}  // namespace

class Fetch::State::Slices {
 public:
  Slices(State& state, const Home& home, const FetchRequest& request)
      : state_(state), transport_(state.transport), home_(home), request_(request), tree_(home.format(), home.dims()) {}

  // Collective. Are all gifts slices that can be put together? The same on all ranks, and found before anything large travels.
  bool find(const std::vector<Gift>& gifts) {
    for (const Gift& gift : gifts)
      if (auto cut = slice_of(home_.piece(gift.home).pattern(), tree_, gift.positions, gift.levels))
        given_.push_back({gift.home, gift.colour, std::move(*cut)});
    if (!on_all_ranks(given_.size() == gifts.size())) return false;
    announce();
    bool all_fit = true;
    for (size_t c = 0; c < come_.size(); c++) all_fit = all_fit && fit(home_, tree_, request_.ranges[c], come_[c]);
    return on_all_ranks(all_fit);
  }

  // Collective. The pieces of this rank without values; none of those that are home pieces.
  std::vector<PatternHandle> join() {
    std::vector<PatternHandle> out(come_.size());
    std::vector<std::optional<JoinedPattern>> pieces(come_.size());
    std::vector<LeavingBytes> leaving;
    runtime::together(transport_, [&] {
      for (size_t c = 0; c < come_.size(); c++)
        if (in_home(c)) out[c] = in_place(c);
        else if (!home_piece(c)) pieces[c].emplace(joined(c));
      // In the order in which they are expected. What stays is not.
      std::ranges::sort(given_, {}, [](const Given& gift) { return std::pair(gift.colour, gift.home); });
      for (const Given& gift : given_) {
        int to = state_.task_ranks.rank_of(gift.colour);
        if (to == transport_.rank() && stays(size_t(gift.colour - state_.colours.lo))) continue;
        leaving.push_back({to, outgoing(home_.piece(gift.home).pattern(), gift.cut)});
      }
    });
    std::vector<ArrivingBytes> arriving;
    for (std::optional<JoinedPattern>& piece : pieces)
      for (size_t p = 0; piece && p < piece->parts().size(); p++)
        arriving.push_back({state_.home_ranks.rank_of(int64_t(piece->parts()[p].source)), piece->incoming(p)});
    spdistal::exchange(transport_, arriving, leaving);
    return runtime::together(transport_, [&] {
      for (size_t c = 0; c < out.size(); c++)
        if (pieces[c]) out[c] = std::move(*pieces[c]).finish();
      return std::move(out);
    });
  }

  // The home colour whose piece it is that a colour of this rank gets, just as it is.
  std::optional<int64_t> home_piece(size_t c) const {
    const std::vector<Slice>& parts = come_[c];
    bool is = !request_.copy && parts.size() == 1 &&
              state_.is_home_piece(home_, request_.ranges[c], parts[0].home, parts[0].positions.size());
    return is ? std::optional(parts[0].home) : std::nullopt;
  }
  // What follows each other in a home piece of this rank, and is all that a colour gets. Devices have copies of whole pieces, and who
  // lends arrays was told that pieces are copies.
  std::optional<FetchedPiece::InHome> in_home(size_t c) const {
    const std::vector<Slice>& parts = come_[c];
    bool is = !request_.copy && !request_.moves && parts.size() == 1 && home_.colours().contains(parts[0].home) &&
              !home_piece(c);
    if (!is || home_.piece(parts[0].home).pattern().is_lent()) return std::nullopt;
    return FetchedPiece::InHome{parts[0].home, parts[0].positions.lo * std::ptrdiff_t(size_of(home_.type())), 0};
  }
  // How many elements come.
  int64_t size(size_t c) const {
    int64_t sum = 0;
    for (const Slice& slice : come_[c]) sum += slice.positions.size();
    return sum;
  }
  // Where in the whole the positions of the split level begin.
  int64_t base(size_t c) const {
    if (!request_.access.split) return 0;
    return come_[c].empty() ? request_.needs[size_t(state_.colours.lo) + c].positions->lo : come_[c][0].base;
  }
  // The numbers of the elements, which they are stored in the order of.
  Space numbers(size_t c, const std::vector<int64_t>& first) const {
    std::vector<Range> out;
    for (const Slice& slice : come_[c]) {
      int64_t of_home = first[size_t(slice.home)];
      out.push_back({of_home + slice.positions.lo, of_home + slice.positions.hi});
    }
    return Space::from_intervals(std::move(out));
  }

 private:
  struct Given {
    int64_t home, colour;
    SlicePositions cut;
  };

  bool on_all_ranks(bool here) const { return transport_.allreduce(int64_t(here), runtime::ReduceOp::Min) == 1; }

  // What the taker is told.
  Slice told(const Given& gift) const {
    const Pattern& pattern = home_.piece(gift.home).pattern();
    const LevelArrays& outermost = pattern.level(0);
    auto coordinate = functions_of(pattern.format().levels()[0]).coordinate;
    Slice out{gift.colour, gift.home, 0, {}, gift.cut.back(), {}};
    out.coordinates = {coordinate(outermost, gift.cut[0].lo), coordinate(outermost, gift.cut[0].hi - 1) + 1};
    if (const std::optional<plan::PositionSplit>& split = request_.access.split)
      out.base = home_.base(gift.home, split->level) + gift.cut[split->level].lo;
    for (const Range& positions : gift.cut) out.counts.push_back(positions.size());
    return out;
  }

  void announce() {
    std::vector<runtime::Writer> to(size_t(transport_.size()));
    for (const Given& gift : given_) write(to[size_t(state_.task_ranks.rank_of(gift.colour))], told(gift));
    come_.resize(state_.pieces.size());
    for (const runtime::Bytes& bytes : runtime::deal(transport_, runtime::messages_of(std::move(to))))
      for (runtime::Reader r(bytes); !r.at_end();) {
        Slice slice = read(r, home_.order());
        come_[size_t(slice.colour - state_.colours.lo)].push_back(std::move(slice));
      }
    for (std::vector<Slice>& parts : come_) std::ranges::sort(parts, {}, &Slice::home);
  }

  bool stays(size_t c) const { return home_piece(c) || in_home(c); }

  std::vector<Range> ranges(size_t c) const { return ranges_of(home_, request_.ranges[c], come_[c]); }
  static Part part_of(const Slice& slice) { return {size_t(slice.home), slice.coordinates.lo, slice.counts}; }
  JoinedPattern joined(size_t c) const {
    std::vector<Part> parts;
    for (const Slice& slice : come_[c]) parts.push_back(part_of(slice));
    return {home_.format(), home_.dims(), home_.type(), ranges(c), std::move(parts)};
  }
  PatternHandle in_place(size_t c) const {
    const Slice& slice = come_[c][0];
    int64_t colour = state_.colours.lo + int64_t(c);
    auto gift = std::ranges::find_if(
        given_, [&](const Given& given) { return given.colour == colour && given.home == slice.home; });
    return JoinedPattern::in_place(home_.piece(slice.home).pattern(), gift->cut, home_.type(), ranges(c),
                                   part_of(slice));
  }

  State& state_;
  runtime::Transport& transport_;
  const Home& home_;
  const FetchRequest& request_;
  Tree tree_;
  std::vector<Given> given_;              // by this rank
  std::vector<std::vector<Slice>> come_;  // to each of its colours, by home
};

bool Fetch::State::plan_slices(const Home& home, const FetchRequest& request, const std::vector<Gift>& gifts,
                               const std::vector<int64_t>& first) {
  if (!can_be_sliced(home.format(), home.dims())) return false;
  Slices slices(*this, home, request);
  if (!slices.find(gifts)) return false;
  std::vector<PatternHandle> patterns = slices.join();
  std::vector<Space> needed;
  Instances own(colours);
  runtime::together(transport, [&] {
    for (size_t c = 0; c < pieces.size(); c++) {
      FetchedPiece& p = pieces[c];
      p.base = slices.base(c);
      p.home = slices.home_piece(c);
      p.in_home = slices.in_home(c);
      p.pattern = patterns[c];
      if (p.in_home) {
        require(p.pattern->nnz() == slices.size(c), "a run of a home piece has a value for each position");
        place_in_home(p, home);
      }
      if (p.home || p.in_home) {
        needed.push_back(Space(1));
        own.add(Instance(home.type(), Layout::compact(Space(1))));
        continue;
      }
      size_t bytes = size_t(patterns[c]->nnz()) * size_of(home.type());
      p.own.emplace(patterns[c], home.type(), Buffer::uninitialized(bytes));
      needed.push_back(slices.numbers(c, first));
      require(needed.back().size() == patterns[c]->nnz(), "slices have a value for each position");
      own.add(instance_of(*p.own, Layout::compact(needed.back())));
    }
  });
  connect_numbers(home, request, first, std::move(needed), std::move(own));
  return true;
}

}  // namespace spdistal
