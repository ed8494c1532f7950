// Brings results home: from the pieces in which colours computed them to the pieces of a region that hold them, all
// copies of each element included.
//
//   Assign   no two colours computed the same element. Each goes from where it was computed to every piece that holds
//            it, in one exchange; a colour whose home piece is here may have computed in place.
//   Add      colours share elements. Every colour computes privately; the owner, the lowest colour that holds an
//   element,
//            adds to what it has: colour 0's, colour 1's, … in this order, whichever rank they are on. Then the
//            replicas are refreshed from the owners.
//
// The pieces and the region are zeroed by whoever runs the statement, never here.
#pragma once
#include <optional>

#include "runtime/region/fetch.hpp"

namespace spdistal::runtime {

struct ContributionOptions {
  Arrival arrival = Arrival::Assign;
  Placing placing = Placing::Views;  // Views: compute in place where that is possible; Assign only
  Storage storage = Storage::HardlyLarger;
  Traffic* traffic = nullptr;
};

class Contribution {
 public:
  /// Collective; plans. The region outlives the contribution. `computed` is known for the colours of this rank.
  Contribution(Transport& transport, Region& region, const Partition& computed, ContributionOptions options = {});

  /// The piece to compute into.
  const Instance& operator[](int64_t colour) const { return pieces_[colour]; }
  const Instances& instances() const { return pieces_; }
  bool in_place(int64_t colour) const;
  /// Sets all pieces that are not in place to zero.
  void zero();

  /// Collective. The region has a new version afterwards.
  void deliver() { start(), finish(); }
  void start();
  void finish();

 private:
  Region* region_;
  Instances pieces_;
  std::optional<Exchange> home_, replicas_;
};

/// Collective. The exchange that brings every replica the value of its owner.
Exchange replica_refresh(Transport& transport, const Region& region, Traffic* traffic);

}  // namespace spdistal::runtime
