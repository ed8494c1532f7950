#include "runtime/region/fetch.hpp"

#include <algorithm>

#include "runtime/transport/agree.hpp"

namespace spdistal::runtime {
namespace {

/// The colour of the region whose piece here has most of the set, if any has some.
std::optional<int64_t> best_home(const Region& region, const Space& set) {
  std::optional<int64_t> best;
  int64_t most = 0;
  for (int64_t c = region.colours().lo; c < region.colours().hi; c++)
    if (int64_t shared = (region.held()[c] & set).size_or_max(); shared > most) best = c, most = shared;
  return best;
}

/// A view of the home piece with the rest of the set in a tail behind all that its memory holds already.
Instance with_ghosts(const Instance& home, const Space& ghosts) {
  size_t element = size_of(home.type());
  int64_t behind = std::max(home.layout().extent(), int64_t(home.buffer()->size() / element));
  auto layout = std::make_shared<const Layout>(home.layout().with_tail(ghosts, behind));
  home.buffer()->grow(size_t(layout->extent()) * element);
  return Instance(home.type(), layout, home.buffer());
}

}  // namespace

Fetch::Fetch(Transport& transport, const Region& region, const Partition& needed, FetchOptions options)
    : region_(&region) {
  Mapping source_ranks(region.held().colours(), transport.size()), user_ranks(needed.colours(), transport.size());
  Range mine = user_ranks.colours_of(transport.rank());
  pieces_ = Instances(mine);
  std::vector<Space> missing;
  together(transport, [&] {
    for (int64_t c = mine.lo; c < mine.hi; c++) {
      const Space& set = needed[c];
      Space rest = set;
      std::optional<int64_t> home;
      if (options.placing != Placing::Fresh) home = best_home(region, set);
      std::optional<int64_t> twin;
      for (int64_t b = mine.lo; b < c && !twin && options.placing != Placing::Fresh; b++)
        if (needed[b] == set) twin = b;
      if (home && contains(region.held()[*home], set)) {
        pieces_.add(region[*home]);
        rest = Space(set.dims());
      } else if (twin) {
        pieces_.add(pieces_[*twin]);
        rest = Space(set.dims());
      } else if (home && options.placing == Placing::Ghosts) {
        // The memory of a box has places for elements beside the piece; those need no tail, though they do come.
        rest = set - region[*home].layout().where();
        pieces_.add(with_ghosts(region[*home], rest));
        rest = set - region.held()[*home];
      } else {
        pieces_.add(Instance(region.type(), layout_of(set, options.storage)));
      }
      missing.push_back(std::move(rest));
    }
  });
  Partition wanted(needed.grid(), needed.universe(), mine, std::move(missing));
  std::vector<Match> matches = match(transport, region.held(), wanted, Sources::AnyLocal);
  exchange_.emplace(transport, matches, source_ranks, user_ranks, region.instances(), pieces_,
                    ExchangeOptions{.region = region.name(), .traffic = options.traffic});
}

void Fetch::bring() {
  start();
  finish();
}

void Fetch::start() {
  if (brought_ == region_->version()) return;
  exchange_->start();
  under_way_ = true;
}

void Fetch::finish() {
  if (!under_way_) return;
  exchange_->finish();
  under_way_ = false;
  brought_ = region_->version();
}

bool Fetch::is_view(int64_t colour) const {
  for (const Instance& home : region_->instances())
    if (home.shares_memory_with(pieces_[colour]) && home.shared_layout() == pieces_[colour].shared_layout())
      return true;
  return false;
}

}  // namespace spdistal::runtime
