// Shares fill parts of their own, small enough to stay in a cache, which the host puts behind each other as it comes to know
// how long they are. Until all are there, `pos` says how much is below each place.
#include <fmt/format.h>

#include "lower/result/appended.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

namespace {

// A part stays in a cache, and is worth handing over; fewer elements than these are not worth a part of their own.
constexpr int64_t elements_of_a_part = 1 << 15, least_of_a_part = 1 << 10;

struct PartFiller {
  Context& c;
  const MadeLevels& made;
  const std::vector<int>& bounding;
  Var count;

  /// Makes the arrays of a part, when it is known which rows it has; fills them, and hands them over.
  void fill_part(const Scope& s, const Expr& share, const Segment& rows, const Inside& walk) const {
    std::vector<Expr> most = bounds_of_levels(c, made, bounding, [&](int tensor) {
      return Segment{c.position_of(tensor, 0, ir::int64(0), rows.begin),
                     c.position_of(tensor, 0, ir::int64(0), rows.end)};
    });
    struct Filled {
      Var whole, part, count;
    };
    std::vector<Filled> filled;
    std::vector<std::pair<Var, Var>> stand_ins;
    Scope inside = s;
    for (size_t k = 0; k < made.count; k++) {
      Var room = c.f.constant(fmt::format("room{}", k + 1), most[k]);
      Var cursor = c.f.variable(fmt::format("at{}", k + 1), ir::int64(0));
      inside.assembling.cursors.push_back(cursor);
      auto make = [&](const Var& whole) {
        Var part = c.f.allocate(whole.symbol.name() + "_part", whole.type.scalar, room, ir::Fill::Uninitialised);
        filled.push_back({whole, part, cursor});
        stand_ins.emplace_back(whole, part);
      };
      for (const Var& array : made_arrays(c, s, made.dense + k)) make(array);
      // The rows of the first level have their places; those of the others are counted in the part.
      if (made.dense + k == made.last()) make(c.vals_array(0));
      else make(made_weight(c, s, made.dense + k + 1));
    }
    inside.assembling.arrays = std::make_shared<StandIns>(c, stand_ins);
    inside.assembling.in_part = ir::literal(ir::Scalar::of(true));
    walk(inside);
    for (const auto& [whole, part, there] : filled) c.f.append(whole, share, count, part, there);
  }

  /// Counts become where each begins when all are put behind each other; gives their sum. Shares add up their own first, and
  /// then know where they begin.
  Var begins_of(const Var& counts, const Expr& many, const std::string& sum) const {
    constexpr int64_t least_of_a_share = 1 << 14;
    auto each = [&](const Var& t, const Expr& shares, const auto& take) {
      c.f.loop("p", many * t / shares, many * (t + 1) / shares,
               [&](const Var& p) { take(p, c.f.constant("here", ir::cast(ScalarType::Int64, ir::load(counts, p)))); });
    };
    Var shares = c.f.constant("scans", ir::min(c.f.shares(), many / least_of_a_share + 1));
    Var begins = c.f.allocate("begins", ScalarType::Int64, shares, ir::Fill::Uninitialised);
    c.f.parallel("t", shares, [&](const Var& t) {
      Var of_share = c.f.variable("of_share", ir::int64(0));
      each(t, shares, [&](const Var&, const Var& here) { c.f.increase(of_share, here); });
      c.f.store(begins, t, of_share);
    });
    Var total = c.f.variable(sum, ir::int64(0));
    c.f.loop("t", ir::int64(0), shares, [&](const Var& t) {
      Var here = c.f.constant("here", ir::load(begins, t));
      c.f.store(begins, t, total);
      c.f.increase(total, here);
    });
    c.f.parallel("t", shares, [&](const Var& t) {
      Var at = c.f.variable("at", ir::load(begins, t));
      each(t, shares, [&](const Var& p, const Var& here) {
        c.f.store(counts, p, ir::cast(counts.type.scalar, at));
        c.f.increase(at, here);
      });
    });
    return total;
  }

  /// What is below each place adds up; gives how many positions there are of each level.
  std::vector<Expr> add_up(const Scope& s) const {
    std::vector<Expr> totals;
    Expr places = c.dense_size(0, 0);
    for (size_t k = 0; k < made.count; k++) {
      size_t level = made.dense + k;
      Var pos = made_weight(c, s, level), total = begins_of(pos, places, fmt::format("total{}", k + 1));
      c.f.store(pos, places, ir::cast(pos.type.scalar, total));
      if (k > 0) c.f.shrink(pos, places + 1);
      for (const Var& array : made_arrays(c, s, level)) c.f.shrink(array, total);
      places = total;
      totals.push_back(total);
    }
    c.f.shrink(c.vals_array(0), places);
    return totals;
  }
};

}  // namespace

void fill_in_parts(Context& c, const Scope& s, const Rooms& rooms, const MadeLevels& made,
                   const std::vector<Expr>& most, const std::vector<int>& bounding, const WalkLoops& walk) {
  make_room(c, s, made, most);
  Var count = c.f.constant(
      "parts", ir::max(ir::min(c.f.shares(), most.back() / least_of_a_part + 1), most.back() / elements_of_a_part));
  PartFiller filler{c, made, bounding, count};
  Scope inside = s;
  inside.threads = Parallelism::Taken;
  c.f.comment("Fill parts, which are put behind each other, and note how much is where.");
  c.f.parallel(
      "t", count,
      [&](const Var& t) {
        inside.share = WalkedShare{
            t, count, Grain::Share,
            [&](const Scope& here, const Segment& rows, const Inside& fill) { filler.fill_part(here, t, rows, fill); }};
        walk(inside);
      },
      [&] { inside = with_workspaces(c, inside, rooms); });
  c.f.comment("Add up.");
  finish_levels(c, s, made, filler.add_up(s));
}

}  // namespace spdistal::lower
