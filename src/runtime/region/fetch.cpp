#include "runtime/region/fetch.hpp"

#include <algorithm>

#include "memory/copy.hpp"
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
  if (size_t bytes = bytes_for(layout->extent(), home.type()); bytes > home.buffer()->size()) {
    Buffer grown = Buffer::zeroed(bytes);
    memory::copy_bytes(grown.data(), home.data(), home.buffer()->size());
    *home.buffer() = std::move(grown);
  }
  return Instance(home.type(), layout, home.buffer());
}

}  // namespace

Space Fetch::place(const Region& region, const Partition& needed, int64_t colour, const FetchOptions& options) {
  const Space& set = needed[colour];
  if (options.placing != Placing::Fresh) {
    std::optional<int64_t> home = best_home(region, set);
    if (home && contains(region.held()[*home], set)) {
      pieces_.add(region[*home]);
      return Space(set.dims());
    }
    for (int64_t lower = pieces_.colours().lo; lower < colour; lower++)
      if (needed[lower] == set) {
        pieces_.add(pieces_[lower]);
        return Space(set.dims());
      }
    if (home && options.placing == Placing::Ghosts) {
      // The memory of a box has places for elements beside the piece; those need no tail, though they do come.
      pieces_.add(with_ghosts(region[*home], set - region[*home].layout().where()));
      return set - region.held()[*home];
    }
  }
  pieces_.add(Instance(region.type(), layout_of(set, options.storage)));
  return set;
}

void Fetch::share_between_colours(const Region& region, std::vector<Space>& missing, const FetchOptions& options) {
  Space local = region.held().all();
  for (size_t c = 1; c < missing.size(); c++)
    for (size_t b = 0; b < c; b++) {
      Space shared = (missing[b] & missing[c]) - local;
      if (shared.empty()) continue;
      missing[c] = missing[c] - shared;
      int64_t from = pieces_.colours().lo + int64_t(b), to = pieces_.colours().lo + int64_t(c);
      handed_on_.push_back({from, to, LocalCopy(pieces_[from].layout(), pieces_[to].layout(), shared, region.type()),
                            options.traffic ? &options.traffic->of(region.name(), from, to) : nullptr});
    }
}

Fetch::Fetch(Transport& transport, const Region& region, const Partition& needed, FetchOptions options)
    : region_(&region) {
  Mapping source_ranks(region.held().colours(), transport.size()), user_ranks(needed.colours(), transport.size());
  Range mine = user_ranks.colours_of(transport.rank());
  pieces_ = Instances(mine);
  std::vector<Space> missing;
  together(transport, [&] {
    for (int64_t c = mine.lo; c < mine.hi; c++) missing.push_back(place(region, needed, c, options));
    share_between_colours(region, missing, options);
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
  for (const HandOn& hand : handed_on_) {
    hand.elements.run(pieces_[hand.from].data(), pieces_[hand.to].data());
    if (hand.count) hand.count->copied += hand.elements.bytes();
  }
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
