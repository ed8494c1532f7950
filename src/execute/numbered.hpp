// Coordinates that a leaf uses for nothing but to find places in dense operands get numbers of their own (`Numbering`), so that
// a piece has what its rank owns where it lies, then the ghosts, and nothing in between. The leaf is the same: it reads the
// numbers from other arrays.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "execute/tasks.hpp"

namespace spdistal {

using plan::LevelOfAccess;
using plan::NumberedGroup;

/// What a kernel of the leaf allows, whatever its widths are.
std::vector<NumberedGroup> find_numbered(const plan::Plan& plan, const lower::Lowered& kernel);

/// The numbers of a plan that is bound to data. All of it is local: ranks may number differently, or not at all.
class Numberings {
 public:
  explicit Numberings(const plan::Plan& plan) : plan_(plan) {}

  /// Where ghosts come to lie: around or behind the home piece that a colour reads, or in a piece of its own with all else that it reads, as
  /// where pieces are on devices, and the home piece may be elsewhere.
  enum class Ghosts : uint8_t { BehindHomes, Apart };
  /// No numbers yet. Of these groups those are numbered whose coordinates are stored by what no step cuts.
  void bind(std::vector<NumberedGroup> groups, Tasks& tasks, Ghosts ghosts);
  const std::vector<NumberedGroup>& groups() const { return groups_; }
  /// By the colours of this rank, of a group that is chosen for, else by numbers.
  plan::FoundBy found_by(size_t group) const;
  /// What an operand that is about to be fetched is to be numbered by, of each colour of this rank. Pieces that store the
  /// coordinates are there, or nothing is numbered by them; all that is found by them comes from `homes`, by access.
  std::vector<PieceNumbers> of(size_t access, const Tasks::Pieces& pieces, const std::vector<const Home*>& homes);

  /// The groups that have numbers.
  std::vector<NumberedGroup> in_use() const;
  /// The pattern of a piece as the leaf sees it, with numbers in the place of coordinates; null: as it is stored. Once all is
  /// fetched.
  const PatternHandle& seen(size_t access, int64_t colour, const Tasks::Pieces& pieces) {
    return find(access, colour, pieces).pattern;
  }
  /// The memory that this takes.
  size_t bytes(size_t access, int64_t colour, const Tasks::Pieces& pieces) {
    return find(access, colour, pieces).bytes;
  }

 private:
  // What an operand has around a home piece.
  struct Continuation {
    size_t access;
    int64_t home;
    Tails::Rows rows;
  };
  struct ColourNumbers {
    std::optional<Numbering> numbering = {};
    std::vector<Continuation> continuations = {};
  };
  struct SeenPattern {
    PatternHandle pattern = nullptr;
    size_t bytes = 0;
  };
  // A home piece that can be continued, and how many of its rows are wanted.
  struct OwnRows {
    const Home* home = nullptr;
    int64_t colour = 0;
    Range rows = {};
    int64_t found = 0;
  };

  std::vector<ColourNumbers> choose(const NumberedGroup& group, const Tasks::Pieces& pieces,
                                    const std::vector<const Home*>& homes);
  ColourNumbers choose(const NumberedGroup& group, int64_t colour, const Tasks::Pieces& pieces,
                       const std::vector<const Home*>& homes);
  // Ghosts where their coordinates are; none where there are too many places between, or some are somebody's.
  std::optional<ColourNumbers> around(const NumberedGroup& group, const Numbering& numbering,
                                      const std::vector<OwnRows>& own, size_t array_bytes) const;
  // Rows around each home piece that has those, for one who reads it with so many more.
  std::vector<Continuation> take(const NumberedGroup& group, const Range& own_rows, const Range& rows,
                                 const std::vector<OwnRows>& own) const;
  // What arrays of numbers would take.
  static size_t array_bytes(const NumberedGroup& group, int64_t colour, const Tasks::Pieces& pieces);
  OwnRows find_own(const LevelOfAccess& located, const Home& home, int64_t colour, const runtime::Space& coordinates,
                   const Tasks::Pieces& pieces);
  bool has_too_many_lists(const NumberedGroup& group, const runtime::Space& coordinates) const;
  const Numbering* numbering_of(const LevelOfAccess& stored, int64_t colour) const;
  const SeenPattern& find(size_t access, int64_t colour, const Tasks::Pieces& pieces);

  const plan::Plan& plan_;
  Tasks* tasks_ = nullptr;
  Ghosts ghosts_ = Ghosts::BehindHomes;
  std::vector<NumberedGroup> groups_;
  std::map<size_t, std::vector<ColourNumbers>> chosen_;  // by group, of the colours of this rank
  std::map<std::pair<size_t, int64_t>, SeenPattern> seen_;
};

}  // namespace spdistal
