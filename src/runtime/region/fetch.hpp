// Brings what is needed of a region to where it is needed, and keeps it there: pieces of a partition, each a view of a
// home piece of this rank where that has all of it, and else an instance that an exchange fills.
//
// Always holds after `bring`: for every colour of this rank, every element of needed[c] has the region's value.
#pragma once
#include <optional>

#include "runtime/region/exchange.hpp"
#include "runtime/region/region.hpp"

namespace spdistal::runtime {

enum class Placing {
  Views,   // in the home piece where it has all, else an instance of its own
  Fresh,   // always an instance of its own: it will be written
  Ghosts,  // the home piece of the same rank that has most stays in place; the rest comes into a tail behind it
};

struct FetchOptions {
  Placing placing = Placing::Views;
  Storage storage = Storage::HardlyLarger;
  Traffic* traffic = nullptr;
};

class Fetch {
 public:
  /// Collective; plans. The region outlives the fetch. `needed` is known for the colours of this rank.
  Fetch(Transport& transport, const Region& region, const Partition& needed, FetchOptions options = {});

  /// Collective; nothing happens where the region has the version that was brought last.
  void bring();
  void start();
  void finish();
  bool poll() { return !under_way_ || exchange_->poll(); }

  /// The piece of a colour of this rank. Colours that need the same share one; what several need comes once.
  const Instance& operator[](int64_t colour) const { return pieces_[colour]; }
  const Instances& instances() const { return pieces_; }
  bool is_view(int64_t colour) const;
  const Exchange& exchange() const { return *exchange_; }

 private:
  /// Makes the piece of a colour; returns what has to come into it.
  Space place(const Region& region, const Partition& needed, int64_t colour, const FetchOptions& options);
  /// Takes out of what has to come what a lower colour of this rank gets from elsewhere anyhow.
  void share_between_colours(const Region& region, std::vector<Space>& missing, const FetchOptions& options);

  const Region* region_;
  Instances pieces_;
  std::optional<Exchange> exchange_;
  /// What a colour gets from another of this rank, once that has it from elsewhere.
  struct HandOn {
    int64_t from, to;
    LocalCopy elements;
    Count* count;
  };
  std::vector<HandOn> handed_on_;
  uint64_t brought_ = 0;
  bool under_way_ = false;
};

}  // namespace spdistal::runtime
