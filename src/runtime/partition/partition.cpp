#include "runtime/partition/partition.hpp"

#include <algorithm>

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

bool intervals_are_disjoint(std::span<const Space> sets) {
  std::vector<Range> all;
  for (const Space& set : sets) all.insert(all.end(), set.sides().begin(), set.sides().end());
  std::ranges::sort(all, {}, &Range::lo);
  for (size_t k = 1; k < all.size(); k++)
    if (all[k].lo < all[k - 1].hi) return false;
  return true;
}

}  // namespace

bool are_disjoint(std::span<const Space> sets) {
  std::vector<const Space*> order;
  for (const Space& set : sets)
    if (!set.empty()) order.push_back(&set);
  if (order.size() < 2) return true;
  int dims = order[0]->dims();
  if (dims == 0) return false;
  if (dims == 1) return intervals_are_disjoint(sets);
  // Only sets whose bounding rectangles meet along the first dimension are compared.
  std::ranges::sort(order, {}, [](const Space* set) { return set->bounding()[0].lo; });
  for (size_t i = 0; i < order.size(); i++)
    for (size_t j = i + 1; j < order.size() && order[j]->bounding()[0].lo < order[i]->bounding()[0].hi; j++)
      if (intersects(*order[i], *order[j])) return false;
  return true;
}

Partition::Partition(ColourGrid grid, Space universe, std::vector<Space> pieces)
    : Partition(grid, std::move(universe), Range{0, grid.count()}, std::move(pieces)) {}

Partition::Partition(ColourGrid grid, Space universe, Range known, std::vector<Space> pieces)
    : grid_(std::move(grid)), universe_(std::move(universe)), known_(known), pieces_(std::move(pieces)) {
  require(known.lo >= 0 && known.hi <= colours() && int64_t(pieces_.size()) == known.size(),
          "a partition has one piece for each colour that is known");
  for (const Space& piece : pieces_)
    require(piece.dims() == dims() && (!universe_.is_rect() || contains(universe_, piece)),
            "the pieces of a partition are within its universe");
}

const Space& Partition::operator[](int64_t colour) const {
  require(known_.contains(colour), "the piece asked for is known on this rank");
  return pieces_[size_t(colour - known_.lo)];
}

bool Partition::disjoint() const {
  require(is_whole(), "only a whole partition knows by itself whether it is disjoint");
  if (!disjoint_) disjoint_ = are_disjoint(pieces_);
  return *disjoint_;
}

bool Partition::complete() const {
  require(is_whole(), "only a whole partition knows by itself whether it is complete");
  if (!complete_) complete_ = contains(all(), universe_);
  return *complete_;
}

Space Partition::all() const { return unite(dims(), pieces_); }

Partition Partition::restricted(Range colours) const {
  Range kept = common(known_, colours);
  if (is_empty(kept)) return Partition(grid_, universe_, Range{known_.lo, known_.lo}, {});
  auto first = pieces_.begin() + (kept.lo - known_.lo);
  return Partition(grid_, universe_, kept, std::vector<Space>(first, first + kept.size()));
}

}  // namespace spdistal::runtime
