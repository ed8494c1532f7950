#include "runtime/region/contribution.hpp"

#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal::runtime {
namespace {

/// The region's colour here in whose piece the set can be computed in place, if there is one.
std::optional<int64_t> home_of(const Region& region, const Space& set) {
  for (int64_t c = region.colours().lo; c < region.colours().hi; c++)
    if (contains(region.held()[c], set)) return c;
  return std::nullopt;
}

}  // namespace

Contribution::Contribution(Transport& transport, Region& region, const Partition& computed, ContributionOptions options)
    : region_(&region) {
  bool adds = options.arrival == Arrival::Add;
  Mapping home_ranks(region.held().colours(), transport.size()), ranks(computed.colours(), transport.size());
  Range mine = ranks.colours_of(transport.rank());
  pieces_ = Instances(mine);
  together(transport, [&] {
    for (int64_t c = mine.lo; c < mine.hi; c++) {
      std::optional<int64_t> home;
      if (!adds && options.placing != Placing::Fresh) home = home_of(region, computed[c]);
      pieces_.add(home ? region[*home] : Instance(region.type(), layout_of(computed[c], options.storage)));
    }
  });
  ExchangeOptions how{.region = region.name(), .traffic = options.traffic};
  if (adds) {
    how.direction = Direction::ToSources;
    how.arrival = Arrival::Add;
    home_.emplace(transport, match(transport, region.held(), computed, Sources::Owners), home_ranks, ranks,
                  region.instances(), pieces_, how);
    replicas_.emplace(replica_refresh(transport, region, options.traffic));
  } else {
    std::vector<Match> matches = match(transport, computed, region.held(), Sources::Owners, Unheld::Skip);
    home_.emplace(transport, matches, ranks, home_ranks, pieces_, region.instances(), how);
  }
}

bool Contribution::in_place(int64_t colour) const {
  for (const Instance& home : region_->instances())
    if (home.shares_memory_with(pieces_[colour])) return true;
  return false;
}

void Contribution::zero() {
  for (int64_t c = pieces_.colours().lo; c < pieces_.colours().hi; c++) {
    const Instance& piece = pieces_[c];
    if (size_t bytes = size_t(piece.layout().extent()) * size_of(piece.type()); bytes > 0 && !in_place(c))
      memory::zero_bytes(piece.data(), bytes);
  }
}

void Contribution::start() { home_->start(); }

void Contribution::finish() {
  home_->finish();
  if (replicas_) replicas_->run();
  region_->changed();
}

Exchange replica_refresh(Transport& transport, const Region& region, Traffic* traffic) {
  Mapping ranks(region.held().colours(), transport.size());
  std::vector<Match> matches = match(transport, region.held(), region.held(), Sources::Owners);
  std::erase_if(matches, [](const Match& m) { return m.source == m.user; });
  return Exchange(transport, matches, ranks, ranks, region.instances(), region.instances(),
                  {.region = region.name(), .traffic = traffic});
}

}  // namespace spdistal::runtime
