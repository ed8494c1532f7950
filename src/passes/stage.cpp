#include "passes/stage.hpp"

#include <algorithm>
#include <cmath>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/cursors.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

constexpr int threads = warp_size;
constexpr int64_t shared_bytes = 40 << 10;  // of a block

/// A variable of an item that goes up, step by step, from what is known when the item begins.
struct Cursor {
  Var at;
  Expr begin;
};
std::vector<Cursor> cursors_of(const ParallelRegion& region) {
  std::vector<Cursor> out;
  Changes inside = changes(region.body);
  each<Declare>(region.body, [&](const Declare& n) {
    if (n.mutability != Mutability::Mutable || !is_integral(n.var.type.scalar) || n.var.type == Bool) return;
    Expr begin = expanded(n.init, region.body);
    bool steps = !inside.touches(begin), assigned = false;
    each<Assign>(region.body, [&](const Assign& a) {
      if (a.var.symbol != n.var.symbol) return;
      assigned = true;
      steps &= is_increment(a, n.var);
    });
    if (assigned && steps) out.push_back({n.var, begin});
  });
  return out;
}

/// Arrays that are read along a cursor which begins at bounds[item]; those of the item end at bounds[item + 1].
struct ReadAlong {
  Cursor cursor;
  Var bounds;
  std::vector<Var> arrays;
};
/// Arrays that are written along a cursor, each element before the cursor goes on; and never read.
struct WrittenAlong {
  Cursor cursor;
  std::vector<Var> arrays;
};

bool contains(const std::vector<Var>& arrays, const Var& array) {
  return std::any_of(arrays.begin(), arrays.end(), [&](const Var& v) { return v.symbol == array.symbol; });
}

std::vector<ReadAlong> read_along(const ParallelRegion& region, const std::vector<Cursor>& cursors) {
  std::vector<ReadAlong> out;
  Changes inside = changes(region.body);
  std::set<Symbol> ends;  // arrays of which the element behind the item's is read as well
  each<Declare>(region.body, [&](const Declare& n) {
    Expr init = without_cast(expanded(n.init, region.body));
    auto* end = init.as<Load>();
    if (end && end->index == Expr(region.item) + 1) ends.insert(end->array.symbol);
  });
  for (const Cursor& cursor : cursors) {
    Expr begins = without_cast(cursor.begin);
    auto* begin = begins.as<Load>();
    if (!begin || begin->index != Expr(region.item) || !ends.contains(begin->array.symbol)) continue;
    if (!region.ascending.contains(begin->array.symbol)) continue;
    ReadAlong found{cursor, begin->array, {}};
    each<Load>(region.body, [&](const Load& n) {
      bool fixed = !inside.arrays.contains(n.array.symbol) && n.lanes == 1;
      if (fixed && is_at(n.index, cursor.at) && !contains(found.arrays, n.array)) found.arrays.push_back(n.array);
    });
    if (!found.arrays.empty()) out.push_back(found);
  }
  return out;
}

/// Does the cursor go on behind every store, in the same breath, and never without?
bool goes_on_behind_stores(const Stmt& body, const Cursor& cursor, const Var& array) {
  int stores = 0, steps = 0, together = 0;
  each<Store>(body, [&](const Store& n) { stores += n.array.symbol == array.symbol; });
  each<Assign>(body, [&](const Assign& n) { steps += n.var.symbol == cursor.at.symbol; });
  each<Block>(body, [&](const Block& n) {
    bool stored = false;
    for (const Stmt& s : n.stmts) {
      auto* store = s.as<Store>();
      auto* step = s.as<Assign>();
      if (store && store->array.symbol == array.symbol) stored = true;
      if (step && step->var.symbol == cursor.at.symbol && std::exchange(stored, false)) together++;
    }
  });
  return stores == together && steps == together;
}

std::vector<WrittenAlong> written_along(const ParallelRegion& region, const std::vector<Cursor>& cursors) {
  std::vector<WrittenAlong> out;
  std::set<Symbol> used;
  each<Load>(region.body, [&](const Load& n) { used.insert(n.array.symbol); });
  each<Search>(region.body, [&](const Search& n) { used.insert(n.array.symbol); });
  for (const Cursor& cursor : cursors) {
    WrittenAlong found{cursor, {}};
    each<Store>(region.body, [&](const Store& n) {
      bool all = !used.contains(n.array.symbol) && !contains(found.arrays, n.array);
      each<Store>(region.body, [&](const Store& other) {
        if (other.array.symbol == n.array.symbol)
          all &= other.mode == StoreMode::Set && is_at(other.index, cursor.at) && type_of(other.value).lanes == 1;
      });
      if (all && goes_on_behind_stores(region.body, cursor, n.array)) found.arrays.push_back(n.array);
    });
    if (!found.arrays.empty()) out.push_back(found);
  }
  return out;
}

class Stager {
 public:
  Stager(const ParallelRegion& region, double average_row)
      : region_(region), room_(threads * (int64_t(std::ceil(average_row)) + 1)) {
    std::vector<Cursor> cursors = cursors_of(region);
    read_ = read_along(region, cursors);
    written_ = written_along(region, cursors);
  }

  bool is_worth_it() const {
    auto size = [](const std::vector<Var>& arrays) {
      int64_t bytes = 0;
      for (const Var& array : arrays) bytes += int64_t(size_of(array.type.scalar));
      return bytes;
    };
    int64_t bytes = 0;
    for (const ReadAlong& r : read_) bytes += size(r.arrays) * room_;
    for (const WrittenAlong& w : written_) bytes += size(w.arrays) * room_of_results();
    bool walks = holds<While>(region_.body) && !holds<Allocate, Sort, Break>(region_.body);
    return walks && !read_.empty() && bytes <= shared_bytes && region_.body.is<Block>();
  }

  Stmt body(const Var& block, const Var& thread) {
    Var first = var("first", Int64), last = var("last", Int64), fits = var("fits", Bool);
    std::vector<Stmt> stmts{declare(first, Expr(block) * int64_t(threads)),
                            declare(last, min(Expr(first) + int64_t(threads), wide(region_.count)))};
    Stmt item = region_.body;
    std::vector<Stmt> copies, after;
    for (const WrittenAlong& w : written_) item = writing(w, first, last, thread, item, stmts, after);
    Stmt near = item;
    Expr all_fit = literal(ir::Scalar::of(true));
    for (const ReadAlong& r : read_) {
      Staged staged = stage(r, first, last, thread, stmts, copies);
      all_fit = all_fit && staged.all <= Expr(int64(room_));
      item = reading(r, staged, item);
      near = reading_near(r, staged, near);
    }
    if (walks_near()) {
      stmts.push_back(declare(fits, all_fit));
      item = If{fits, near, with_fresh_variables(item)};
    }
    item = asked_for_early(item, min(Expr(first) + thread, Expr(last) - 1), stmts);
    stmts.insert(stmts.end(), copies.begin(), copies.end());
    stmts.push_back(Barrier{});
    stmts.push_back(If{Expr(first) + thread < last, Block{{declare(region_.item, Expr(first) + thread), item}}, {}});
    if (!after.empty()) stmts.push_back(Barrier{});
    stmts.insert(stmts.end(), after.begin(), after.end());
    return Block{stmts};
  }

 private:
  int64_t room_of_results() const { return room_ * int64_t(read_.size()); }

  Var shared(const Var& of, int64_t room, std::vector<Stmt>& stmts) const {
    Var out = var(of.symbol.name() + "_staged", array_of(of.type.scalar));
    stmts.push_back(Allocate{out, int64(room), Fill::Uninitialised, MemorySpace::Shared});
    return out;
  }
  static Stmt by_threads(const std::string& name, const Expr& lo, const Expr& hi, const Var& thread,
                         const std::function<Stmt(const Var&)>& f) {
    Var q = var(name, Int64);
    return For{q, lo + thread, hi, int64(threads), f(q)};
  }

  /// What an item loads at its number before it walks, it loads before others wait for it.
  Stmt asked_for_early(const Stmt& item, const Expr& number, std::vector<Stmt>& stmts) const {
    std::vector<std::pair<Expr, Var>> early;
    Changes inside = changes(region_.body);
    for (const Stmt& s : flat(region_.body)) {
      auto* declared = s.as<Declare>();
      if (!declared) break;
      Expr value = without_cast(declared->init);
      auto* from = value.as<Load>();
      bool at_number = from && (from->index == Expr(region_.item) || from->index == Expr(region_.item) + 1);
      if (!at_number || inside.arrays.contains(from->array.symbol)) continue;
      Var own = var(declared->var.symbol.name() + "_early", from->array.type.element());
      stmts.push_back(declare(own, substitute(value, {{region_.item.symbol, number}})));
      early.emplace_back(value, own);
    }
    return rewrite(item, [&](const Load& n) -> Expr {
      for (const auto& [value, own] : early)
        if (value == Expr(n)) return own;
      return n;
    });
  }

  /// What is read along a cursor, in shared memory: where that begins, how much of it there is, and all that there would be.
  struct Staged {
    std::map<Symbol, Var> arrays;
    Var from, count;
    Expr all;
  };
  Staged stage(const ReadAlong& r, const Var& first, const Var& last, const Var& thread, std::vector<Stmt>& stmts,
               std::vector<Stmt>& copies) const {
    std::string name = r.bounds.symbol.name();
    Var from = var(name + "_from", Int64), count = var(name + "_near", Int64), all = var(name + "_count", Int64);
    stmts.push_back(declare(from, wide(load(r.bounds, first))));
    stmts.push_back(declare(all, wide(load(r.bounds, last)) - from));
    stmts.push_back(declare(count, min(all, room_)));
    std::map<Symbol, Var> staged;
    for (const Var& array : r.arrays) staged.emplace(array.symbol, shared(array, room_, stmts));
    copies.push_back(by_threads("q", int64(0), count, thread, [&](const Var& q) {
      std::vector<Stmt> each;
      for (const Var& array : r.arrays)
        each.push_back(store(staged.at(array.symbol), q, Expr(Load{array, Expr(from) + q, 1, true})));
      return Block{each};
    }));
    return {staged, from, count, all};
  }

  static Stmt reading(const ReadAlong& r, const Staged& staged, const Stmt& item) {
    return rewrite(item, [&](const Load& n) -> Expr {
      auto found = staged.arrays.find(n.array.symbol);
      if (found == staged.arrays.end() || !is_at(n.index, r.cursor.at)) return n;
      Expr near = wide(r.cursor.at) - staged.from;
      return select(near < Expr(staged.count), load(found->second, near), Expr(n));
    });
  }

  /// Is a cursor compared with where its item ends?
  bool meets_end(const Binary& n, const ReadAlong& r) const {
    Expr ends = without_cast(expanded(n.b, region_.body));
    auto* end = ends.as<Load>();
    return n.op == BinaryOp::Lt && is_at(n.a, r.cursor.at) && end && end->array.symbol == r.bounds.symbol &&
           end->index == Expr(region_.item) + 1;
  }

  /// Are cursors for nothing else than to read what is staged until the item ends?
  bool walks_near() const {
    for (const ReadAlong& r : read_) {
      int uses = 0, known = 0;
      each<Var>(region_.body, [&](const Var& v) { uses += v.symbol == r.cursor.at.symbol; });
      each<Load>(region_.body,
                 [&](const Load& n) { known += contains(r.arrays, n.array) && is_at(n.index, r.cursor.at); });
      each<Binary>(region_.body, [&](const Binary& n) { known += meets_end(n, r); });
      each<Assign>(region_.body, [&](const Assign& n) { known += is_increment(n, r.cursor.at); });
      if (uses != known) return false;
    }
    return true;
  }

  // Where all is in shared memory, a cursor is a place there.
  Stmt reading_near(const ReadAlong& r, const Staged& staged, const Stmt& item) const {
    Var at = var(r.cursor.at.symbol.name() + "_near", Int32);
    auto place = [&](const Expr& position) { return cast(ScalarType::Int32, wide(position) - staged.from); };
    return rewrite(
        item,
        [&](const Load& n) -> Expr {
          auto found = staged.arrays.find(n.array.symbol);
          return found != staged.arrays.end() && is_at(n.index, r.cursor.at) ? load(found->second, at) : Expr(n);
        },
        [&](const Binary& n) -> Expr { return meets_end(n, r) ? Expr(at) < place(n.b) : Expr(n); },
        [&](const Declare& n) -> Stmt {
          return n.var.symbol == r.cursor.at.symbol ? Declare{at, place(n.init), n.mutability} : n;
        },
        [&](const Assign& n) -> Stmt {
          return n.var.symbol == r.cursor.at.symbol ? Stmt(Assign{at, Expr(at) + 1}) : Stmt(n);
        });
  }

  // Every item tells where it began and ended: usually where the next begins, and all is one run.
  Stmt writing(const WrittenAlong& w, const Var& first, const Var& last, const Var& thread, const Stmt& item,
               std::vector<Stmt>& stmts, std::vector<Stmt>& after) const {
    const Var& at = w.cursor.at;
    std::string name = at.symbol.name();
    int64_t room = room_of_results();
    Var from = var(name + "_from", Int64), begin = var(name + "_begin", Int64), end = var(name + "_end", Int64);
    stmts.push_back(declare(from, wide(substitute(w.cursor.begin, {{region_.item.symbol, first}}))));
    for (const Var& v : {begin, end}) stmts.push_back(Declare{v, int64(0), Mutability::Mutable});
    std::map<Symbol, Var> staged;
    for (const Var& array : w.arrays) staged.emplace(array.symbol, shared(array, room, stmts));
    Stmt inside = rewrite(item, [&](const Store& n) -> Stmt {
      auto found = staged.find(n.array.symbol);
      if (found == staged.end()) return n;
      Expr near = wide(at) - from;
      return If{near >= 0 && near < Expr(int64(room)), store(found->second, near, n.value), Stmt(n)};
    });
    inside = rewrite(inside, [&](const Block& n) -> Stmt {
      std::vector<Stmt> out;
      bool declares = false;
      for (const Stmt& s : n.stmts) {
        out.push_back(s);
        auto* declared = s.as<Declare>();
        if (!declared || declared->var.symbol != at.symbol) continue;
        declares = true;
        out.push_back(Assign{begin, wide(at)});
      }
      if (declares) out.push_back(Assign{end, wide(at)});
      return Block{out};
    });
    copy_out(w, staged, from, begin, end, Expr(last) - first, thread, after);
    return inside;
  }

  void copy_out(const WrittenAlong& w, const std::map<Symbol, Var>& staged, const Var& from, const Var& begin,
                const Var& end, const Expr& items, const Var& thread, std::vector<Stmt>& after) const {
    auto run = [&](const Expr& lo, const Expr& hi) {
      Expr least = max(lo - from, 0), most = min(hi - from, room_of_results());
      return by_threads("q", least, most, thread, [&](const Var& q) {
        std::vector<Stmt> copies;
        for (const Var& array : w.arrays)
          copies.push_back(store(array, Expr(from) + q, load(staged.at(array.symbol), q)));
        return Block{copies};
      });
    };
    auto of_thread = [&](const Var& v, const Expr& which) { return Expr(Shuffle{Peer::Lane, v, which}); };
    Var next = var("next", Int64), all = var("all", Bool), finish = var("finish", Int64), r = var("r", Int32);
    after.push_back(declare(next, Shuffle{Peer::Down, begin, int32(1)}));
    after.push_back(declare(all, WarpVote{Vote::All, Expr(thread) + 1 >= items || equal(end, next)}));
    after.push_back(declare(finish, of_thread(end, cast(ScalarType::Int32, items - 1))));
    Var lo = var("lo", Int64), hi = var("hi", Int64);
    Stmt one = Block{{declare(lo, of_thread(begin, r)), declare(hi, of_thread(end, r)), run(lo, hi)}};
    after.push_back(If{all, run(from, finish), For{r, int32(0), int32(threads), int32(1), one}});
  }

  const ParallelRegion& region_;
  int64_t room_;  // of what is read along one cursor
  std::vector<ReadAlong> read_;
  std::vector<WrittenAlong> written_;
};

}  // namespace

std::optional<Grid> staged_grid(const ParallelRegion& region, const std::string& name, double average_row) {
  if (!region.setup.empty() || region.item.type != Int64) return {};
  Stager stager(region, average_row);
  if (!stager.is_worth_it()) return {};
  Var blocks = var("blocks", Int64);
  Stmt whole = blocks_of_threads(blocks, threads,
                                 [&](const Var& block, const Var& thread) { return stager.body(block, thread); });
  return Grid{.function = function_of(name, whole),
              .items = wide(region.count),
              .threads = threads,
              .blocks = blocks,
              .strided = false};
}

}  // namespace spdistal::passes
