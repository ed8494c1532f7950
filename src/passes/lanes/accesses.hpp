// Inside the division among lanes: what of its arrays an item touches where, and whether lanes may divide that.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/nodes.hpp"

namespace spdistal::passes {

/// What stands where: in divided loops, with the row that it is of; or around them.
class Accesses {
 public:
  Accesses(const ir::Stmt& body, const std::vector<ir::For>& loops);

  /// May lanes divide it?
  bool legal() const;
  /// Arrays of the item's own, of which each lane needs its part alone.
  bool is_split(const Symbol& array) const;
  /// Is an array written there and nowhere else, and never looked at?
  bool is_written_in(const Symbol& array, const ir::Stmt& part) const;
  bool is_own(const Symbol& array) const { return own_.contains(array); }

 private:
  struct Uses {
    bool stored = false, loaded = false, adds = false;
    bool stored_inside = false, outside = false;
    bool legal = true;                   // all accesses inside are of rows
    bool plain = false;                  // stored to other than atomically
    std::vector<ir::Expr> bases = {};    // of rows, each once
    std::optional<int64_t> longest = 0;  // of the loops inside, where known
  };

  void note(const ir::Var& array, const ir::Expr& index, const ir::For* loop);
  void walk(const ir::Stmt& s, const ir::For* loop);
  void loads(const ir::Expr& e, const ir::For* loop);
  /// Does the same lane come to an element, wherever it is used?
  bool has_one_lane(const Uses& u) const;

  const ir::Stmt& body_;
  std::set<Symbol> divided_;
  std::map<Symbol, ir::Allocate> own_;
  std::map<Symbol, Uses> arrays_;
};

}  // namespace spdistal::passes
