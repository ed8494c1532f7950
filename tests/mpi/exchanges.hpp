// Exchanges between a region and pieces of their own that colours have, planned as executors plan them.
#pragma once
#include <optional>

#include "runtime/partition/match.hpp"
#include "runtime/region/exchange.hpp"
#include "runtime/region/replicas.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal::runtime::testkit {

struct PieceOptions {
  LayoutKind layout = LayoutKind::HardlyLarger;
  Traffic* traffic = nullptr;
};

/// Collective. A piece for each colour of this rank.
inline Instances pieces_of(Transport& t, const Region& region, const Partition& sets, LayoutKind layout) {
  Instances out(Mapping(sets.colours(), t.size()).colours_of(t.rank()));
  together(t, [&] {
    for (int64_t c = out.colours().lo; c < out.colours().hi; c++)
      out.add(Instance(region.type(), layout_of(sets[c], layout)));
  });
  return out;
}

/// What colours need of a region.
class Fetched {
 public:
  /// Collective; plans.
  Fetched(Transport& t, const Region& region, const Partition& needed, PieceOptions options = {})
      : pieces_(pieces_of(t, region, needed, options.layout)),
        exchange_(t, match(t, region.held(), needed, Sources::AnyLocal), Mapping(region.held().colours(), t.size()),
                  Mapping(needed.colours(), t.size()), region.instances(), pieces_,
                  {.region = region.name(), .traffic = options.traffic}) {}

  const Instance& operator[](int64_t colour) const { return pieces_[colour]; }
  const Instances& instances() const { return pieces_; }
  Exchange& exchange() { return exchange_; }

 private:
  Instances pieces_;
  Exchange exchange_;
};

/// What colours computed, on its way home: assigned to all who hold it, or added to owners and copied from them.
class Delivered {
 public:
  /// Collective; plans.
  Delivered(Transport& t, const Region& region, const Partition& computed, Arrival arrival, PieceOptions options = {})
      : pieces_(pieces_of(t, region, computed, options.layout)),
        home_(t, match(t, region.held(), computed, arrival == Arrival::Add ? Sources::Owners : Sources::Everyone),
              Mapping(region.held().colours(), t.size()), Mapping(computed.colours(), t.size()), region.instances(),
              pieces_,
              {.region = region.name(),
               .traffic = options.traffic,
               .direction = Direction::ToSources,
               .arrival = arrival}) {
    if (arrival == Arrival::Add) replicas_.emplace(replica_refresh(t, region, options.traffic));
  }

  const Instance& operator[](int64_t colour) const { return pieces_[colour]; }
  const Instances& instances() const { return pieces_; }
  void run() {
    home_.run();
    if (replicas_) replicas_->run();
  }

 private:
  Instances pieces_;
  Exchange home_;
  std::optional<Exchange> replicas_;
};

}  // namespace spdistal::runtime::testkit
