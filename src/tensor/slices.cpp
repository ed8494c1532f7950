#include "tensor/slices.hpp"

#include <algorithm>

#include "level/level.hpp"
#include "memory/copy.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/join.hpp"
#include "tensor/tree.hpp"

namespace spdistal {

using runtime::Transport;

namespace {

bool is_listed(const LevelFormat& level) { return !level.arrays().empty(); }

// ---- what colours take ----

// An interval of the first level's coordinates, or a block of positions.
struct TakenShare {
  std::vector<Range> ranges;  // of each dimension
  std::optional<PositionBlock> block;
};

std::optional<TakenShare> taken_by(const Share& share, const Format& format, const Tree& tree,
                                   const std::vector<int64_t>& dims) {
  TakenShare out{hull(share, dims), std::nullopt};
  if (holds_nothing(share, dims)) return out;
  size_t first = size_t(format.mode_order()[0]);
  bool all = true;  // coordinates of the other dimensions
  for (size_t d = 0; d < dims.size(); d++)
    all = all && (d == first || share.coordinates[d] == runtime::Space::interval(0, dims[d]));
  if (!all || !share.coordinates[first].is_rect() || !share.fused.empty() || share.positions.size() > 1)
    return std::nullopt;
  if (share.positions.empty()) return out;
  out.block = share.positions[0];
  if (out.block->rows) return std::nullopt;
  if (out.ranges[first] != Range{0, dims[first]} || out.block->level >= tree.tail()) return std::nullopt;
  return out;
}

std::optional<std::vector<TakenShare>> taken_by_all(const Shares& simple, const Format& format,
                                                    const std::vector<int64_t>& dims) {
  Tree tree(format, dims);
  if (!can_be_sliced(format, dims)) return std::nullopt;
  std::vector<TakenShare> out;
  for (const Share& share : simple.of) {
    std::optional<TakenShare> taken = taken_by(share, format, tree, dims);
    if (!taken) return std::nullopt;
    out.push_back(std::move(*taken));
  }
  return out;
}

// ---- what there is ----

struct SliceSource {
  int rank;
  Range coordinates;               // of the first level
  std::vector<int64_t> positions;  // of each level, how many
};

Range first_coordinates(const Pattern& pattern) {
  const LevelArrays& level = pattern.level(0);
  if (level.positions == 0) return {};
  const LevelFunctions& functions = functions_of(pattern.format().levels()[0]);
  return {functions.coordinate(level, 0), functions.coordinate(level, level.positions - 1) + 1};
}

std::vector<int64_t> positions_of(const Pattern& pattern) {
  std::vector<int64_t> out;
  for (const LevelArrays& level : pattern.levels()) out.push_back(level.positions);
  return out;
}

// What all ranks bring, in storage order; nothing where they bring the same coordinates.
std::optional<std::vector<SliceSource>> sources_of(Transport& transport, const Pattern& mine) {
  runtime::Writer out;
  out.put(first_coordinates(mine));
  out.put_all(std::span<const int64_t>(positions_of(mine)));
  std::vector<SliceSource> all;
  int rank = 0;
  for (const runtime::Bytes& bytes : share(transport, out.take())) {
    runtime::Reader in(bytes);
    Range coordinates = in.take<Range>();
    all.push_back({rank++, coordinates, in.take_all<int64_t>(mine.order())});
  }
  std::erase_if(all, [](const SliceSource& source) { return source.coordinates.size() == 0; });
  std::sort(all.begin(), all.end(),
            [](const SliceSource& a, const SliceSource& b) { return a.coordinates.lo < b.coordinates.lo; });
  for (size_t s = 1; s < all.size(); s++)
    if (all[s].coordinates.lo < all[s - 1].coordinates.hi) return std::nullopt;
  return all;
}

// ---- cutting ----

// What a colour takes of a storage; nothing where it takes none of it.
std::optional<SlicePositions> cut(const Pattern& pattern, size_t source, std::span<const SliceSource> sources,
                                  const TakenShare& taken) {
  Range at;
  size_t level = taken.block ? taken.block->level : 0;
  if (taken.block) {
    int64_t before = 0, all = 0;
    for (size_t s = 0; s < sources.size(); s++) {
      before += s < source ? sources[s].positions[level] : 0;
      all += sources[s].positions[level];
    }
    Range block = taken.block->part.of(all);
    at = runtime::common({block.lo - before, block.hi - before}, {0, pattern.level(level).positions});
  } else {
    Range wanted = taken.ranges[size_t(pattern.format().mode_order()[0])];
    at = {first_position(pattern, wanted.lo), first_position(pattern, wanted.hi)};
  }
  if (at.size() <= 0) return std::nullopt;
  return slice_around(pattern, level, at);
}

// ---- all of it ----

// A slice of this rank's storage for a colour.
struct Leaving {
  int64_t colour;
  SlicePositions positions;
};

class Slicing {
 public:
  Slicing(Transport& transport, const Format& format, Storage& mine, std::vector<TakenShare> taken,
          std::vector<SliceSource> sources, Loan loan = Loan::ForTheCall)
      : transport_(transport),
        format_(format),
        mine_(mine),
        loan_(loan),
        taken_(std::move(taken)),
        sources_(std::move(sources)),
        mapping_(int64_t(taken_.size()), transport.size()),
        to_(size_t(transport.size())) {
    while (source_ < sources_.size() && sources_[source_].rank != transport.rank()) source_++;
  }

  // Collective. The pieces of this rank, where every rank has the whole.
  std::vector<Storage> keep() {
    cut_for(transport_.rank());
    return of_own();
  }

  // Collective. The pieces of this rank, of what all ranks bring.
  std::vector<Storage> move() {
    for (int r = 0; r < transport_.size(); r++) cut_for(r);
    std::vector<std::vector<Part>> parts = announce();
    if (!any_moves(parts)) return loan_ == Loan::ToKeep && all_keep() ? in_place() : of_own();
    std::vector<Joined> pieces;
    std::vector<LeavingBytes> leaves;
    runtime::together(transport_, [&] {
      check_room();
      for (size_t c = 0; c < parts.size(); c++) pieces.push_back(joined(own().lo + int64_t(c), std::move(parts[c])));
      for (size_t r = 0; r < to_.size(); r++)
        for (const Leaving& slice : to_[r]) leaves.push_back(leaving(int(r), slice));
    });
    // Slices for one rank are sent in the order of its colours, in which it asks for them.
    std::vector<ArrivingBytes> arrives;
    for (Joined& piece : pieces)
      for (size_t p = 0; p < piece.parts().size(); p++)
        arrives.push_back({sources_[piece.parts()[p].source].rank, piece.incoming(p)});
    exchange(transport_, arrives, leaves);
    return runtime::together(transport_, [&] {
      std::vector<Storage> out;
      for (Joined& piece : pieces) out.push_back(std::move(piece).finish());
      return out;
    });
  }

 private:
  Range own() const { return mapping_.colours_of(transport_.rank()); }

  void cut_for(int rank) {
    if (source_ == sources_.size()) return;
    Range colours = mapping_.colours_of(rank);
    for (int64_t c = colours.lo; c < colours.hi; c++)
      if (auto positions = cut(mine_.pattern(), source_, sources_, taken_[size_t(c)]))
        to_[size_t(rank)].push_back({c, std::move(*positions)});
  }

  Part part_of(const Leaving& slice) const {
    int64_t first = slice.positions[0].lo;
    Part out{source_, functions_of(format_.levels()[0]).coordinate(mine_.pattern().level(0), first), {}};
    for (const Range& range : slice.positions) out.counts.push_back(range.size());
    return out;
  }
  Joined joined(int64_t colour, std::vector<Part> parts) const {
    const TakenShare& taken = taken_[size_t(colour)];
    std::vector<Range> ranges = taken.ranges;
    if (taken.block && parts.empty()) std::fill(ranges.begin(), ranges.end(), Range{});
    else if (taken.block && !is_listed(format_.levels()[0]))
      ranges[size_t(format_.mode_order()[0])] = {parts.front().first, parts.back().first + parts.back().counts[0]};
    return Joined(JoinedPattern(format_, mine_.dims(), mine_.type(), ranges, std::move(parts)), mine_.type());
  }
  void check_room() const {
    std::vector<std::vector<Range>> ranges;
    for (int64_t c = own().lo; c < own().hi; c++)
      if (!taken_[size_t(c)].block) ranges.push_back(taken_[size_t(c)].ranges);
    check_memory(format_, ranges, mine_.type());
  }

  LeavingBytes leaving(int rank, const Leaving& slice) const {
    LeavingBytes out{rank, outgoing(mine_.pattern(), slice.positions)};
    out.bytes.push_back(outgoing_values(mine_, slice.positions));
    return out;
  }

  // Is the storage, just as it is, the piece of its slice's colour?
  bool is_piece(const Leaving& slice) const {
    const TakenShare& taken = taken_[size_t(slice.colour)];
    for (size_t k = 0; k < slice.positions.size(); k++) {
      const LevelArrays& level = mine_.pattern().level(k);
      bool as_parts_are = k == 0 && taken.block && !is_listed(format_.levels()[0]);
      bool covers = as_parts_are || level.range == taken.ranges[size_t(format_.mode_order()[k])];
      if (!covers || slice.positions[k] != Range{0, level.positions}) return false;
    }
    return true;
  }

  std::vector<Storage> in_place() {
    std::vector<Storage> out;
    out.push_back(std::move(mine_));
    return out;
  }
  // Collective. Is every rank's storage its piece, that of one without elements too?
  bool all_keep() const {
    const std::vector<Leaving>& slices = to_[size_t(transport_.rank())];
    const Leaving nothing{own().lo, SlicePositions(format_.order(), Range{0, 0})};
    bool keeps = own().size() == 1 && slices.size() <= 1 && is_piece(slices.empty() ? nothing : slices[0]);
    return transport_.allreduce(int64_t(keeps), runtime::ReduceOp::Min) == 1;
  }

  // Collective. Pieces that take nothing but slices of this rank's storage.
  std::vector<Storage> of_own() {
    return runtime::together(transport_, [&] {
      const std::vector<Leaving>& slices = to_[size_t(transport_.rank())];
      if (own().size() == 1 && slices.size() == 1 && !mine_.is_borrowed() && is_piece(slices[0])) return in_place();
      std::vector<Storage> out;
      check_room();
      size_t next = 0;
      for (int64_t c = own().lo; c < own().hi; c++) {
        bool some = next < slices.size() && slices[next].colour == c;
        Joined piece = joined(c, some ? std::vector{part_of(slices[next])} : std::vector<Part>());
        if (some) copy(leaving(transport_.rank(), slices[next++]).bytes, piece.incoming(0));
        out.push_back(std::move(piece).finish());
      }
      return out;
    });
  }

  // Collective. The parts that this rank's colours get, in storage order.
  std::vector<std::vector<Part>> announce() const {
    std::vector<runtime::Writer> out(to_.size());
    for (size_t r = 0; r < to_.size(); r++)
      for (const Leaving& slice : to_[r]) {
        Part part = part_of(slice);
        out[r].put(slice.colour), out[r].put(part.source), out[r].put(part.first);
        out[r].put_all(std::span<const int64_t>(part.counts));
      }
    std::vector<std::vector<Part>> parts(size_t(own().size()));
    for (const runtime::Bytes& bytes : deal(transport_, runtime::messages_of(std::move(out))))
      for (runtime::Reader in(bytes); !in.at_end();) {
        std::vector<Part>& of_colour = parts[size_t(in.take<int64_t>() - own().lo)];
        Part& part = of_colour.emplace_back(Part{in.take<size_t>(), 0, {}});
        part.first = in.take<int64_t>();
        part.counts = in.take_all<int64_t>(format_.order());
      }
    for (std::vector<Part>& of_colour : parts)
      std::sort(of_colour.begin(), of_colour.end(), [](const Part& a, const Part& b) { return a.source < b.source; });
    return parts;
  }
  // Collective.
  bool any_moves(const std::vector<std::vector<Part>>& parts) const {
    int64_t moves = 0;
    for (const std::vector<Part>& of_colour : parts)
      for (const Part& part : of_colour) moves |= int64_t(part.source != source_);
    return transport_.allreduce(moves, runtime::ReduceOp::Max) != 0;
  }

  Transport& transport_;
  const Format& format_;
  Storage& mine_;
  Loan loan_;
  std::vector<TakenShare> taken_;  // by colour
  std::vector<SliceSource> sources_;
  runtime::Mapping mapping_;
  size_t source_ = 0;                     // which of them is this rank's; their number where it has none
  std::vector<std::vector<Leaving>> to_;  // by rank
};

std::optional<std::vector<TakenShare>> taken_of(Transport& transport, const Storage& mine, const Format& format,
                                                const Shares& shares) {
  return runtime::together(transport, [&] {
    check(shares, format, mine.dims()).value();
    return taken_by_all(simplified(shares, format, mine.dims()), format, mine.dims());
  });
}

}  // namespace

int64_t first_position(const Pattern& pattern, int64_t coordinate) {
  const LevelArrays& level = pattern.level(0);
  const LevelFunctions& functions = functions_of(pattern.format().levels()[0]);
  int64_t lo = 0, hi = level.positions;
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    if (functions.coordinate(level, middle) < coordinate) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

bool are_slices(const Shares& simple, const Format& format, const std::vector<int64_t>& dims) {
  return taken_by_all(simple, format, dims).has_value();
}

std::optional<Home> move_slices(Transport& transport, Storage& mine, const Format& format, const Shares& shares,
                                Loan loan) {
  std::optional<std::vector<TakenShare>> taken = taken_of(transport, mine, format, shares);
  if (!taken) return std::nullopt;
  std::optional<std::vector<SliceSource>> sources = sources_of(transport, mine.pattern());
  if (!sources) return std::nullopt;
  std::vector<int64_t> dims = mine.dims();
  ScalarType type = mine.type();
  std::vector<Storage> pieces = Slicing(transport, format, mine, std::move(*taken), std::move(*sources), loan).move();
  return Home(transport, format, std::move(dims), type, shares, std::move(pieces));
}

std::optional<Home> keep_slices(Transport& transport, Storage& whole, const Format& format, const Shares& shares) {
  std::optional<std::vector<TakenShare>> taken = taken_of(transport, whole, format, shares);
  if (!taken) return std::nullopt;
  std::vector<SliceSource> sources{
      {transport.rank(), first_coordinates(whole.pattern()), positions_of(whole.pattern())}};
  std::vector<int64_t> dims = whole.dims();
  ScalarType type = whole.type();
  std::vector<Storage> pieces = Slicing(transport, format, whole, std::move(*taken), std::move(sources)).keep();
  return Home(transport, format, std::move(dims), type, shares, std::move(pieces));
}

}  // namespace spdistal
