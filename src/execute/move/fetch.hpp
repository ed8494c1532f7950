// Brings to the colours of this rank the pieces that they need of one access: planned once for a pattern, run whenever
// the values have changed. A piece that is a home piece of this rank already stays where it is; of others only what is
// needed travels, and what it is stored as is made once. A dense piece whose coordinates have numbers (`Numbering`) may continue
// a home piece: around that, in its memory, come the ghosts.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execute/move/numbering.hpp"
#include "execute/move/regions.hpp"
#include "execute/move/select.hpp"
#include "runtime/region/exchange.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// The ranges that the dense levels of a piece cover, by dimension; none: just what comes.
using Ranges = std::vector<std::optional<Range>>;
/// What the dense levels of a piece have places for, where that is not a range of coordinates.
struct PieceNumbers {
  std::vector<std::optional<Numbering>> dims;  // by dimension
  /// The home colour whose piece it continues: the outermost level has the rows of that one, and rows around it are free for the
  /// ghosts. All else are ranges that it covers.
  std::optional<int64_t> continues = {};

  bool any() const;
};

struct FetchRequest {
  const plan::AccessPlan& access;
  runtime::ColourGrid colours;
  std::vector<Need> needs;            // of all colours; coordinates that are gathered only of those of this rank
  std::vector<Ranges> ranges;         // of the colours of this rank
  std::vector<PieceNumbers> numbers;  // likewise, of dense tensors
  bool copy = false;                  // even of home pieces: they will change while the pieces are read
  runtime::Traffic* traffic = nullptr;
  runtime::DeviceMoves* moves =
      nullptr;  // of pieces that are read on devices: of a dense tensor what comes is put in place there
};

class Fetch {
 public:
  /// Collective; plans.
  Fetch(runtime::Transport& transport, const Home& home, FetchRequest request);
  ~Fetch();
  Fetch(Fetch&&) noexcept;

  /// Local. Sees to memory for what comes: values of the home may come to lie elsewhere, so that nothing may be under way. The
  /// home has the pattern that it had when this was planned.
  void prepare(const Home& home);
  /// Collective, of a home as it was prepared for; nothing happens where its version was brought already. In two halves:
  /// other work may be done in between.
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
  /// The memory that a piece takes beside the homes.
  size_t bytes(int64_t colour) const;
  /// The first global position that a piece stores at the level of the split.
  int64_t base(int64_t colour) const;
  /// Of the homes that it brings pieces from.
  const Shares& homes() const;
  /// Of what stays when values are let go of: the index arrays of pieces that are not at home.
  size_t pattern_bytes() const;
  /// What comes to the piece of a colour of this rank.
  plan::Travels travels(int64_t colour) const;
  /// From other ranks, each time that it is brought.
  int64_t bytes_received() const;
  /// Are the values that stay on this rank in place after `start`?
  bool local_values_come_first() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spdistal
