// Inside of tables: how threads divide an item that gathers among them.
#pragma once
#include <functional>

#include "ir/build.hpp"
#include "passes/tables/gathering.hpp"

namespace spdistal::passes {

/// Places of coordinates: those of one worker after those of another, each from `first` on. A place is free where its key is 0.
struct Places {
  ir::Var keys;
  std::optional<ir::Var> sums;
  ir::Expr first;

  Places(const Gathering& item, const ir::Expr& from);
  ir::Type key_type() const { return keys.type.element(); }
  void clear(ir::Body& f, const ir::Expr& at) const;
};

/// `lane` is which of the threads one is, `near` how many of them are enough for most of the loops that touch.
class ItemDivision {
 public:
  ItemDivision(const Gathering& item, const Places& places, const ir::Var& lane, int near)
      : item_(item), places_(places), lane_(lane), near_(near) {}
  virtual ~ItemDivision() = default;

  void gather(ir::Body& f) const;

 protected:
  /// The loop that touches, its turns divided; one around it and its, both divided.
  virtual ir::Stmt touching(const ir::For& n) const = 0;
  virtual ir::Stmt touching_in_pairs(const ir::For& n) const = 0;
  /// Of a loop around them: what each turn begins with.
  virtual std::optional<ir::Stmt> turn_begins() const { return {}; }

  ir::Stmt divided(const ir::Stmt& s) const;
  ir::Stmt with_claims(const ir::Stmt& body, const std::function<ir::Stmt(const WorkspaceTouch&)>& claiming) const;
  /// A turn of the loop over the list: the one with this number, for the coordinate at this place.
  void list_one(ir::Body& f, const ir::Expr& number, const ir::Expr& key, const ir::Expr& place) const;
  /// What follows where so many are listed.
  void finish(ir::Body& f, const ir::Expr& listed) const;

  const Gathering& item_;
  const Places& places_;
  ir::Var lane_;
  int near_;
};

/// How many lanes most rows are worth: several turns for each, since rows that are begun at the same time are waited for together.
int lanes_of_a_row(double average_row);

/// A warp and a table for each item: those that there is no room for have a 1 in `left`.
ir::Grid near_grid(const ParallelRegion& region, const Gathering& item, const ir::Var& left, const std::string& name,
                   double average_row);
/// Is there room for tables at all?
bool has_room_for_tables(const Gathering& item, double average_row);
/// A block and a place for every coordinate for each item that stands in the queue.
ir::Grid far_grid(const ParallelRegion& region, const Gathering& item, const ir::Var& queue, const ir::Var& queued,
                  const std::string& name, double average_row);

}  // namespace spdistal::passes
