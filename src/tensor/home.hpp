// A tensor at home: cut into pieces, one for each colour, of which a rank has those of its own colours.
//
// A piece is a small tensor of the same format with global coordinates and local positions. Its dense levels cover the
// smallest range around the colour's share (of position blocks: around what is there), so that a piece may store more
// than its share: zeros between, which belong to other colours or to none. So does one that was computed where it is: its
// first element may be a part of one that belongs to the colour before.
//
// Always holds: an element that several colours hold belongs to the lowest of them; versions, counts and shares are the
// same on every rank.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/transport/transport.hpp"
#include "tensor/counts.hpp"
#include "tensor/iterate.hpp"
#include "tensor/share.hpp"
#include "tensor/storage.hpp"
#include "tensor/tails.hpp"
#include "tensor/tree.hpp"

namespace spdistal {

/// The global numbers of the first and the last of a piece's nodes at the innermost counted level.
struct NodeEnds {
  int64_t first = 0, last = 0;
};

class Home {
 public:
  /// Collective. Of pieces that are there: those of this rank's colours, in order, each with just what its share allows.
  /// `ends` is only needed where position blocks cut nodes and pieces are not consecutive.
  Home(runtime::Transport& transport, Format format, std::vector<int64_t> dims, ScalarType type, Shares shares,
       std::vector<Storage> pieces, std::vector<NodeEnds> ends = {});

  const Format& format() const { return plan_->format; }
  size_t order() const { return plan_->dims.size(); }
  const std::vector<int64_t>& dims() const { return plan_->dims; }
  ScalarType type() const { return type_; }
  const Shares& shares() const { return plan_->shares; }
  /// Those of this rank.
  Range colours() const { return plan_->colours; }
  const Storage& piece(int64_t colour) const { return pieces_[index(colour)]; }
  Storage& piece(int64_t colour) { return pieces_[index(colour)]; }

  /// Stored elements, each counted once, of all ranks.
  int64_t nnz() const { return plan_->elements; }
  /// The positions that a level has in the whole tensor: those that several pieces hold are counted once.
  int64_t positions(size_t level) const { return plan_->counts.positions[level]; }
  /// Whether the positions of every piece are consecutive in the whole tensor, at every level.
  bool ordered() const { return plan_->counts.ordered; }
  /// Where in the whole tensor the positions of a piece begin. Of ordered homes.
  int64_t base(int64_t colour, size_t level) const;

  /// Who has which rows around the pieces of all homes of this pattern (`Storage::make_room`).
  Tails& tails() const { return *plan_->tails; }

  /// Are values of a piece somebody else's? Whoever wants to write clones it first.
  bool is_borrowed() const;

  /// Different for every pattern: equal where a home was made with the pattern of another.
  uint64_t pattern_version() const { return plan_->version; }
  /// Different for all contents of all homes.
  uint64_t version() const { return version_; }
  /// Says that values were changed. Called by all ranks alike.
  void changed() { version_++; }

  /// Whether an element of a piece, at a position of its last level, is in the colour's share and not just between.
  bool holds(int64_t colour, std::span<const int64_t> at, int64_t position) const;
  /// Whether it belongs to the colour: no lower one holds it too.
  bool owns(int64_t colour, std::span<const int64_t> at, int64_t position) const;
  /// Whether a piece stores more than its colour holds.
  bool is_padded(int64_t colour) const { return plan_->owned[index(colour)].padded; }
  /// Whether all that a piece stores belongs to its colour.
  bool owns_all(int64_t colour) const;
  bool owns_nothing(int64_t colour) const { return plan_->owned[index(colour)].nothing; }

  /// Collective. The same pattern with zeros for values.
  Home zeros_like(runtime::Transport& transport, ScalarType type) const;
  /// Local. The same contents in the same memory, to be read while this home stays as it is.
  Home view() const;
  /// Collective. The same contents; patterns are shared.
  Home clone(runtime::Transport& transport) const;

 private:
  // What a colour owns of its piece.
  struct Owned {
    bool nothing = false;
    bool padded = false;               // stores more than its share
    std::vector<const Share*> others;  // of lower colours that may hold elements of it
  };
  // A position block that cuts through the dense levels below a node.
  struct Cut {
    size_t level;
    Range positions;
  };
  struct Cuts {
    std::vector<Cut> cuts;
    NodeEnds ends;
  };
  // All but the values; shared by homes of the same pattern.
  struct Plan {
    Format format;
    std::vector<int64_t> dims;
    Tree tree;
    Shares shares, simple;
    Range colours;
    Counts counts;
    std::vector<Owned> owned;  // by piece of this rank
    std::vector<Cuts> cuts;
    int64_t elements = 1;
    uint64_t version = 0;
    std::shared_ptr<Tails> tails = std::make_shared<Tails>();
  };

  Home(std::shared_ptr<const Plan> plan, ScalarType type, std::vector<Storage> pieces, uint64_t version)
      : plan_(std::move(plan)), type_(type), pieces_(std::move(pieces)), version_(version) {}
  int64_t count_elements(runtime::Transport& transport) const;
  static void find_owned(Plan& plan, const std::vector<Storage>& pieces);
  static void find_cuts(Plan& plan, const std::vector<Storage>& pieces, const std::vector<NodeEnds>& ends);
  size_t index(int64_t colour) const {
    require(colours().contains(colour), "a rank has the pieces of its own colours");
    return size_t(colour - colours().lo);
  }

  std::shared_ptr<const Plan> plan_;
  ScalarType type_;
  std::vector<Storage> pieces_;
  uint64_t version_ = 0;
};

/// f(coordinates, position) for every element of a piece that belongs to its colour, in storage order.
template <class F>
void for_each_owned(const Home& home, int64_t colour, F&& f) {
  if (home.owns_nothing(colour)) return;
  bool all = home.owns_all(colour);
  for_each_position(home.piece(colour).pattern(), [&](std::span<const int64_t> at, int64_t position) {
    if (all || home.owns(colour, at, position)) f(at, position);
  });
}

/// Sets every element of a dense home to f(coordinates): local.
template <class T, class F>
void fill(Home& home, F&& f) {
  require(home.format().is_dense(), "only dense tensors have a value everywhere");
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    Storage& piece = home.piece(c);
    std::span<T> values = piece.values<T>();
    for_each_position(piece.pattern(), [&](std::span<const int64_t> at, int64_t position) {
      if (home.holds(c, at, position)) values[size_t(position)] = f(at);
    });
  }
  home.changed();
}

}  // namespace spdistal
