#include <algorithm>
#include <bit>

#include "passes/cursors.hpp"
#include "passes/tables/division.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

constexpr int warps = 4;                    // of a block
constexpr int64_t shared_bytes = 40 << 10;  // of a block

class ByTable : public ItemDivision {
 public:
  /// With as many places for what is listed as the table has.
  ByTable(const Gathering& item, const Places& places, const Var& lane, int near, const Var& listed, int64_t room)
      : ItemDivision(item, places, lane, near), list_(listed), room_(room), count_(item.arrays.count) {}

  void clear(Body& f) const {
    auto one = [&](const Var& q) { places_.clear(f, places_.first + q); };
    f.loop("q", lane_, int64(room_), one, {.step = int64(warp_size)});
    f.add(Barrier{BarrierOf::Warp});
  }
  /// The next round could fill the table.
  Expr is_full() const { return Expr(count_) > room_ - 2 * warp_size; }

  void list(Body& f) const {
    if (item_.stores()) {
      f.add(Sort{list_, places_.first, places_.first + count_, warp_size});
      f.add(Barrier{BarrierOf::Warp});
      auto one = [&](const Var& q) {
        Var key = f.constant("key", load(list_, places_.first + q));
        Var place = f.variable("place", first_place(key));
        if (item_.reads_values())
          f.loop_while(differ(load(places_.keys, places_.first + place), Expr(key) + 1), [&] { go_on(f, place); });
        list_one(f, q, key, places_.first + place);
      };
      f.loop("q", lane_, count_, one, {.step = int64(warp_size)});
    }
    finish(f, count_);
  }

 private:
  // An odd number of places: coordinates often lie a power of two apart.
  Expr first_place(const Expr& key) const { return wide(key % cast(places_.key_type().scalar, int64(room_ - 1))); }
  void go_on(Body& f, const Var& place) const {
    f.assign(place, select(equal(Expr(place) + 1, room_ - 1), int64(0), Expr(place) + 1));
  }

  std::optional<Stmt> turn_begins() const override { return If{is_full(), Break{}, {}}; }

  Stmt touching(const For& n) const override {
    Body f;
    Var end = f.constant(n.var.symbol.name() + "_last", wide(n.hi));
    rounds(f, n, wide(n.lo) + lane_, end, Expr(end) - wide(n.lo), warp_size);
    return f.build();
  }

  // Groups of lanes take turns of the loop around, the last one again where there are fewer: with nothing to do.
  Stmt touching_in_pairs(const For& n) const override {
    Body f;
    std::vector<Stmt> body = flat(n.body);
    const For& inner = *body.back().as<For>();
    std::string name = inner.var.symbol.name();
    Var last = f.constant(n.var.symbol.name() + "_last", wide(n.hi));
    auto turns = [&](const Var& first) {
      f.add(*turn_begins());
      Var at = f.constant("at", Expr(first) + Expr(lane_) / int64_t(near_));
      f.add(declare(n.var, cast(n.var.type.scalar, min(at, Expr(last) - 1))));
      for (size_t k = 0; k + 1 < body.size(); k++) f.add(body[k]);
      Var begin = f.constant(name + "_begin", wide(inner.lo));
      Var end = f.constant(name + "_last", select(Expr(at) < Expr(last), wide(inner.hi), begin));
      Var longest = f.constant("longest", Expr(WarpReduce{BinaryOp::Max, Expr(end) - begin}));
      rounds(f, inner, Expr(begin) + Expr(lane_) % int64_t(near_), end, longest, near_);
    };
    f.loop(n.var.symbol.name() + "_first", wide(n.lo), last, turns, {.step = int64(warp_size / near_)});
    return f.build();
  }

  // Every lane takes a turn from `from` on in each round; what is new is listed in the order of the lanes.
  void rounds(Body& f, const For& n, const Expr& from, const Expr& end, const Expr& length, int step) const {
    auto round = [&](const Var& behind) {
      f.add(*turn_begins());
      Var fresh = f.variable("fresh", int32(0)), mine = f.variable("mine", zero(places_.key_type()));
      f.when(from + behind < end, [&] {
        f.add(declare(n.var, cast(n.var.type.scalar, from + behind)));
        f.add(with_claims(n.body, [&](const WorkspaceTouch& touch) { return claiming(touch, fresh, mine); }));
      });
      Var upto = f.constant("upto", Expr(WarpScan{BinaryOp::Add, fresh}));
      f.when(equal(fresh, 1), [&] { f.store(list_, places_.first + count_ + wide(upto) - 1, mine); });
      f.increase(count_, wide(Shuffle{Peer::Lane, upto, int32(warp_size - 1)}));
    };
    f.loop("behind", int64(0), length, round, {.step = int64(step)});
  }

  Stmt claiming(const WorkspaceTouch& touch, const Var& fresh, const Var& mine) const {
    Body f;
    Var key = f.constant("key", cast(places_.key_type().scalar, touch.coordinate));
    Var place = f.variable("place", first_place(key)), found = f.variable("found", zero(key.type));
    Stmt claim = Claim{found, places_.keys, places_.first + place, Expr(key) + 1};
    f.add(claim);
    f.loop_while(differ(found, 0) && differ(found, Expr(key) + 1), [&] {
      go_on(f, place);
      f.add(claim);
    });
    f.when(equal(found, 0), [&] {
      f.assign(fresh, int32(1));
      f.assign(mine, key);
    });
    if (places_.sums) f.atomic_add(*places_.sums, places_.first + place, *touch.value);
    return f.build();
  }

  Var list_;
  int64_t room_;
  Var count_;
};

/// Of a table: enough for the products of two rows, as far as there is memory.
int64_t room_for(const Gathering& item, double average_row) {
  size_t entry = 2 * size_of(item.arrays.list.type.scalar);
  if (item.arrays.values) entry += size_of(item.arrays.values->type.scalar);
  auto most = std::bit_floor(uint64_t(shared_bytes) / (warps * entry));
  auto wanted = std::bit_ceil(uint64_t(std::clamp(2 * average_row * average_row, 128.0, 512.0)));
  return int64_t(std::min(most, wanted));
}

}  // namespace

bool has_room_for_tables(const Gathering& item, double average_row) {
  return room_for(item, average_row) >= 4 * warp_size;
}

Grid near_grid(const ParallelRegion& region, const Gathering& item, const Var& left, const std::string& name,
               double average_row) {
  int64_t room = room_for(item, average_row);
  Var blocks = var("blocks", Int64), lane = var("lane", Int64), first = var("table_first", Int64);
  Places places(item, first);
  Var listed = var("listed", array_of(places.key_type().scalar));
  ByTable body(item, places, lane, lanes_of_a_row(average_row), listed, room);
  Stmt whole = blocks_of_threads(blocks, warps * warp_size, [&](const Var& block, const Var& thread) -> Stmt {
    Body f;
    auto share = [&](const Var& array) {
      f.add(Allocate{array, int64(warps * room), Fill::Uninitialised, MemorySpace::Shared});
    };
    share(places.keys), share(listed);
    if (places.sums) share(*places.sums);
    f.add(declare(lane, Expr(thread) % int64_t(warp_size)));
    f.add(declare(first, Expr(thread) / int64_t(warp_size) * room));
    f.add(declare(region.item, Expr(block) * int64_t(warps) + Expr(thread) / int64_t(warp_size)));
    f.when(Expr(region.item) < wide(region.count), [&] {
      body.clear(f);
      body.gather(f);
      f.add(Barrier{BarrierOf::Warp});
      f.when(
          body.is_full(), [&] { f.when(equal(lane, 0), [&] { f.store(left, region.item, int64(1)); }); },
          [&] { body.list(f); });
    });
    return f.build();
  });
  return Grid{.function = function_of(name, whole),
              .items = wide(region.count),
              .lanes = warp_size,
              .threads = warps * warp_size,
              .blocks = blocks,
              .strided = false};
}

}  // namespace spdistal::passes
