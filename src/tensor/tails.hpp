// What lies around the values of a home's pieces: elements that other pieces own, kept there by those who read or write both as one
// array. Who keeps something has rows for himself; nobody else's, in no home of the same pattern. Most have them behind the piece;
// who has rows in front too has those that follow it as well.
//
//   |  …, -2, -1 in front  |  rows of the piece  |  rows 0, 1, … behind it  |
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/blocks.hpp"

namespace spdistal {

class Tails : public std::enable_shared_from_this<Tails> {
 public:
  /// Rows around the piece of a colour, given back when this goes.
  class Rows {
   public:
    Rows(Rows&&) noexcept = default;
    Rows& operator=(Rows&& other) noexcept;
    ~Rows() { give_back(); }

    const Range& range() const { return range_; }

   private:
    friend class Tails;
    Rows(std::shared_ptr<Tails> of, int64_t colour, Range range) : of_(std::move(of)), colour_(colour), range_(range) {}
    void give_back();

    std::shared_ptr<Tails> of_;
    int64_t colour_;
    Range range_;
  };

  /// The first so many behind the piece that follow each other and are nobody's.
  Range find(int64_t colour, int64_t count) const;
  /// None where somebody has any of them.
  std::optional<Rows> take(int64_t colour, Range rows);

 private:
  std::map<int64_t, std::vector<Range>> taken_;  // by colour, in order
};

}  // namespace spdistal
