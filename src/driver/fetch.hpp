// Brings to the colours of this rank the pieces that they need of one access: planned once for a pattern, run whenever
// the values have changed. A piece that is a home piece of this rank already stays where it is; of others only what is
// needed travels, and what it is stored as is made once.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/select.hpp"
#include "runtime/region/exchange.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// { x : x_d in sets[d] }, in the order of the levels.
runtime::Space product_of(const Format& format, const std::vector<runtime::Space>& sets);
/// Makes products of sets simpler where they would have more rectangles than that: of several lists the shortest becomes
/// the range around it.
void fill_up(std::vector<runtime::Space>& sets, int64_t most);
/// What a home piece of a dense tensor holds, in the order of the levels, and its memory.
runtime::Partition held_by(const Home& home, const runtime::Space& universe);
runtime::Instances home_instances(const Home& home);
runtime::Space universe_of(const Format& format, const std::vector<int64_t>& dims);
/// The memory of a storage as the instance of a rectangle or of consecutive numbers.
runtime::Instance instance_of(const Storage& storage, runtime::Layout layout);
/// The same instances over the memory that the pieces of a home have now.
runtime::Instances moved_to(const runtime::Instances& instances, const Home& home);

/// The ranges that the dense levels of a piece cover, by dimension; none: just what comes.
using Ranges = std::vector<std::optional<Range>>;

struct FetchRequest {
  const plan::Access& access;
  runtime::ColourGrid colours;
  std::vector<Need> needs;     // of all colours; coordinates that are gathered only of those of this rank
  std::vector<Ranges> ranges;  // of the colours of this rank
  bool copy = false;           // even of home pieces: they will change while the pieces are read
  runtime::Traffic* traffic = nullptr;
};

class Fetch {
 public:
  /// Collective; plans.
  Fetch(runtime::Transport& transport, const Home& home, FetchRequest request);
  ~Fetch();
  Fetch(Fetch&&) noexcept;

  /// Collective. The home has the pattern that it had when this was planned; nothing happens where its version was
  /// brought already. In two halves: other work may be done in between.
  void start(const Home& home);
  bool poll();
  /// Is nothing under way?
  bool is_there() const;
  void finish();

  /// Of a colour of this rank; its values are there after `finish`.
  const Storage& operator[](int64_t colour) const;
  bool is_home(int64_t colour) const;
  /// The first global position that a piece stores at the level of the split.
  int64_t base(int64_t colour) const;
  /// From other ranks, each time that it is brought.
  int64_t bytes_received() const;
  /// Are the values that stay on this rank in place after `start`?
  bool local_values_come_first() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spdistal
