// Brings to the colours of this rank the pieces that they need of one access: planned once for a pattern, run whenever
// the values have changed. A piece that is a home piece of this rank already stays where it is; of others only what is
// needed travels, and what it is stored as is made once.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execute/move/regions.hpp"
#include "execute/move/select.hpp"
#include "runtime/region/exchange.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// The ranges that the dense levels of a piece cover, by dimension; none: just what comes.
using Ranges = std::vector<std::optional<Range>>;

struct FetchRequest {
  const plan::AccessPlan& access;
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
  /// Local. Lets go of all values that are not at home, and of the memory of messages; `start` brings them again. Until then
  /// pieces are not to be asked for.
  void release();

  /// Of a colour of this rank; its values are there after `finish`.
  const Storage& operator[](int64_t colour) const;
  bool is_home(int64_t colour) const;
  /// The first global position that a piece stores at the level of the split.
  int64_t base(int64_t colour) const;
  /// Of the homes that it brings pieces from.
  const Shares& homes() const;
  /// Of what stays when values are let go of: the index arrays of pieces that are not at home.
  size_t pattern_bytes() const;
  /// From other ranks, each time that it is brought.
  int64_t bytes_received() const;
  /// Are the values that stay on this rank in place after `start`?
  bool local_values_come_first() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spdistal
