// Inside of `Fetch`: planned by fetch_dense.cpp or fetch_sparse.cpp, moved by fetch.cpp.
#pragma once
#include "execute/move/fetch.hpp"
#include "runtime/task/mapping.hpp"

namespace spdistal {

struct FetchedPiece {
  // It lies where a home piece does: is a run of its elements, or continues it with what comes, the ghosts.
  struct InHome {
    int64_t home;          // its colour
    std::ptrdiff_t first;  // bytes from the first value of that to its own
    size_t ghosts;         // bytes
  };

  std::optional<int64_t> home;  // the home colour whose piece it is
  PatternHandle pattern = {};   // of its own, where it is none of the home
  std::optional<InHome> in_home = {};
  std::optional<Storage> own;
  const Storage* storage = nullptr;
  int64_t base = 0;
  // Of values that do not come in storage order: the place in `staged` of each position, -1 where there is none.
  std::vector<int64_t> order;
  std::optional<runtime::Instance> staged;

  bool continues() const { return in_home && in_home->ghosts > 0; }
  /// Of index arrays that are its own.
  size_t pattern_bytes() const;
};

struct Fetch::State {
  runtime::Transport& transport;
  std::string tensor, name;
  runtime::Traffic* traffic;
  runtime::DeviceMoves* moves;
  Copies copies;
  Shares homes;
  runtime::Mapping home_ranks, task_ranks;
  Range colours;  // of this rank

  std::vector<FetchedPiece> pieces;
  std::optional<runtime::Exchange> exchange;
  std::optional<runtime::Instances> sources, users;
  MemoryBound bound;  // the memory that the exchange reads and writes
  uint64_t brought = 0;
  bool under_way = false;
  bool released = false;

  State(runtime::Transport& t, const Home& home, const FetchRequest& request);

  FetchedPiece& piece(int64_t colour) { return pieces[size_t(colour - colours.lo)]; }

  /// Collective. Dense tensors: rectangles of coordinates.
  void plan_dense(const Home& home, const FetchRequest& request);
  /// Collective. Sparse tensors: numbers of stored elements, counted home piece by home piece.
  void plan_sparse(const Home& home, const FetchRequest& request);
  /// Collective. The end of planning: who sends what to whom.
  void connect(const Home& home, const runtime::Partition& held, const runtime::Partition& needed,
               runtime::Instances from, runtime::Instances own);

  void prepare(const Home& home);
  void start(const Home& home);
  void finish();
  void release();

 private:
  // What is planned of a colour's piece: what comes to it, and where that stands in its memory.
  struct PlannedPiece {
    runtime::Space comes;
    runtime::Layout layout;
  };
  struct DenseHome;
  // Stored elements of a home piece that a colour gets.
  struct Gift {
    int64_t home, colour;
    runtime::Space positions;  // of the last level, in the home piece
    std::vector<std::optional<Range>>
        levels;  // around those of each level; none: those that the last level's hang from
  };
  class Slices;
  std::vector<Gift> gifts_of(const Home& home, const FetchRequest& request, const std::vector<Need>& needs) const;
  bool is_home_piece(const Home& home, const Ranges& ranges, int64_t home_colour, int64_t positions) const;
  /// Collective. From slices of home pieces, which is refused where they are none; from lists of elements. `first` has the
  /// number of the first element of each home piece.
  bool plan_slices(const Home& home, const FetchRequest& request, const std::vector<Gift>& gifts,
                   const std::vector<int64_t>& first);
  void plan_entries(const Home& home, const FetchRequest& request, const std::vector<Gift>& gifts,
                    const std::vector<int64_t>& first);
  void connect_numbers(const Home& home, const FetchRequest& request, const std::vector<int64_t>& first,
                       std::vector<runtime::Space> needed, runtime::Instances own);

  PlannedPiece plan_box(const DenseHome& home, const FetchRequest& request, int64_t colour);
  PlannedPiece plan_numbered(const DenseHome& home, const FetchRequest& request, int64_t colour);

  void allocate();
  void place_in_home(FetchedPiece& piece, const Home& home);
  MemoryBound memory(const Home& home) const;
  void say_changed();
  void find_pieces(const Home& home);
};

}  // namespace spdistal
