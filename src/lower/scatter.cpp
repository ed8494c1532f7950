// Results that the loops come to out of the order in which they are stored: a transpose, or columns of rows. Where all of
// a result is dense but its last level, its entries go to their places at once, without a list that is sorted:
//
//   A(i,j) = B(j,i)    forall j, i: counts[i]++     how many entries each place of the dense levels gets
//   both in CSR        scan                         counts -> pos, and where the next entry of each place goes
//                      forall j, i: A[counts[i]++] = B(j,i)
//
// Shares of the outermost loop have counts of their own, so that all three run on all threads.
#include <fmt/format.h>

#include <algorithm>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

// The loops whose values make up that of a variable, the most significant first: io and ii where i = io * |ii| + ii. Loops
// around the kernel stand still. None where a variable is found in another way than by dividing.
std::optional<std::vector<IndexVar>> Lowerer::digits(const IndexVar& var) const {
  if (provenance_.determined(var, options_.outer)) return std::vector<IndexVar>{};
  const Relation* relation = provenance_.replaced_by(var);
  if (!relation) return std::vector{var};
  std::vector<IndexVar> parts = relation->needs();
  std::optional<Offset> offset = parts.empty() ? std::nullopt : offset_of(relation->value_of(var), parts.back());
  if (relation->replaced.size() != 1 || !offset) return std::nullopt;
  if (offset->added) {
    auto* blocks = offset->added->as<IndexBinary>();
    if (!blocks || blocks->op != IndexOp::Mul || !blocks->a.is<ValueOf>()) return std::nullopt;
  }
  std::vector<IndexVar> out;
  for (const IndexVar& part : parts) {
    std::optional<std::vector<IndexVar>> below = digits(part);
    if (!below) return std::nullopt;
    out.insert(out.end(), below->begin(), below->end());
  }
  return out;
}

// Every element is visited at most once: the outermost loops are those that make up its coordinates, and sums are inside.
// Entries of one place come in ascending order, where the level keeps one: loops ascend, so that those which make up the
// compressed coordinate have to be nested from the most significant to the least, whatever stands between them. A split
// with its inner loop outside is not.
bool Lowerer::can_scatter() const {
  std::vector<IndexVar> stored = storage_order(lhs_), last;
  size_t dense = leading_dense_levels(lhs_.tensor.format());
  bool distinct = std::set<IndexVar>(stored.begin(), stored.end()).size() == stored.size();
  if (dense == 0 || dense + 1 != stored.size() || !distinct || !assigned_once()) return false;
  std::set<IndexVar> open;
  for (const IndexVar& var : stored) {
    std::optional<std::vector<IndexVar>> loops = digits(var);
    if (!loops) return false;
    open.insert(loops->begin(), loops->end());
    last = *loops;
  }
  bool in_order = functions(0, dense).seek != nullptr;
  size_t next = 0;
  for (const Forall& loop : loops_to_result()) {
    if (open.empty()) break;
    if (open.erase(loop.var) == 0) return false;
    auto digit = std::find(last.begin(), last.end(), loop.var);
    if (in_order && digit != last.end() && size_t(digit - last.begin()) != next++) return false;
  }
  return open.empty();
}

// As many as there are threads; fewer where their counts would be far more than what is stored. Shares of a sum would each
// have an entry for the same element.
Expr Lowerer::shares_of_tally(const Expr& places) {
  const Forall* outer = statement_.body.as<Forall>();
  if (!outer || revisits(outer->var) || !can_run_in_parallel(*outer)) return ir::int64(1);
  Expr stored = ir::int64(0);
  for (int k = 0; k < int(states_.size()); k++)
    if (size_t order = tensor_var(k + 1).order()) stored = stored + stored_positions(k + 1, order - 1);
  constexpr int64_t counts_of_an_entry = 2;
  Expr worth_it = stored * counts_of_an_entry / nonzero(places);
  return f_.constant("shares", ir::max(ir::int64(1), ir::min(f_.threads(), worth_it)));
}

void Lowerer::scatter(ResultLevels made) {
  Expr places = ir::int64(1);
  for (size_t level = 0; level < made.dense; level++) places = places * dense_size(0, level);
  places = f_.constant("places", places);
  Expr shares = shares_of_tally(places);
  // A place has no more entries than there are coordinates: narrow where those and positions are.
  ScalarType narrow = made_weight(made.dense).type.scalar;
  for (const Var& array : made_arrays(made.dense)) narrow = promote(narrow, array.type.scalar);
  tally_ = Tally{f_.allocate("counts", narrow, shares * places, ir::Fill::Uninitialised), places};
  Var entries = f_.allocate("entries", ScalarType::Int64, shares, ir::Fill::Uninitialised);
  auto in_share = [&](const Expr& t) { tally_->first = f_.constant("first", t * places); };
  f_.comment("Count what comes to each place.");
  walk_shares(Phase::Count, shares, [&](const Expr& t, const std::function<void()>& walk) {
    in_share(t);
    f_.loop("p", ir::int64(0), places, [&](const Var& p) { f_.store(tally_->counts, tally_->first + p, 0); });
    cursors_ = {f_.variable("count", ir::int64(0))};
    walk();
    f_.store(entries, t, cursors_[0]);
  });
  Var total = f_.variable("total", ir::int64(0));
  f_.loop("t", ir::int64(0), shares, [&](const Var& t) { f_.increase(total, ir::load(entries, t)); });
  if (narrow_positions(made))
    f_.when(Expr(total) > options_.largest_position, [&] {
      f_.comment("Too many for positions of 32 bits: a kernel with wider ones is run instead.");
      f_.leave(1);
    });
  made.counts = {total};
  made.gaps = false;  // every place gets its position
  f_.comment("Make room.");
  make_room(made);
  Var pos = made_weight(made.dense);
  f_.store(pos, places, ir::cast(pos.type.scalar, total));
  scan_tally(pos, shares);
  f_.comment("Fill it.");
  walk_shares(Phase::Fill, shares, [&](const Expr& t, const std::function<void()>& walk) {
    in_share(t);
    walk();
  });
  finish_levels(made);
}

// Counts become positions: of each place first those of the first share, then those of the next. Places are dealt out to
// as many shares; where there are several, each learns first what there is before it.
void Lowerer::scan_tally(const Var& pos, const Expr& shares) {
  const Var& counts = tally_->counts;
  Segment places{ir::int64(0), tally_->places};
  auto each_place = [&](const Expr& share, const std::function<void(const Var& p)>& fill) {
    f_.loop("p", evenly(places, share, shares), evenly(places, share + 1, shares), fill);
  };
  auto place = [&](const Var& next, const Expr& at) {
    Var here = f_.constant("here", ir::load(counts, at));
    f_.store(counts, at, ir::cast(counts.type.scalar, next));
    f_.increase(next, here);
  };
  auto alone = [&] {
    Var next = f_.variable("next", ir::zero(counts.type.element()));
    f_.loop("p", ir::int64(0), tally_->places, [&](const Var& p) {
      f_.store(pos, p, ir::cast(pos.type.scalar, next));
      place(next, p);
    });
  };
  auto together = [&] {
    Var begins = f_.allocate("begins", ScalarType::Int64, shares, ir::Fill::Uninitialised);
    each_share(shares, [&](const Expr& t) {
      Var sum = f_.variable("sum", ir::int64(0));
      f_.loop("s", ir::int64(0), shares, [&](const Var& s) {
        each_place(t, [&](const Var& p) {
          f_.increase(sum, ir::cast(ScalarType::Int64, ir::load(counts, Expr(s) * tally_->places + p)));
        });
      });
      f_.store(begins, t, sum);
    });
    Var before = f_.variable("before", ir::int64(0));
    f_.loop("t", ir::int64(0), shares, [&](const Var& t) {
      Var here = f_.constant("here", ir::load(begins, t));
      f_.store(begins, t, before);
      f_.increase(before, here);
    });
    each_share(shares, [&](const Expr& t) {
      Var next = f_.variable("next", ir::cast(counts.type.scalar, ir::load(begins, t)));
      each_place(t, [&](const Var& p) {
        f_.store(pos, p, ir::cast(pos.type.scalar, next));
        f_.loop("s", ir::int64(0), shares, [&](const Var& s) { place(next, Expr(s) * tally_->places + p); });
      });
    });
  };
  if (ir::constant_integer(shares) == 1) alone();
  else f_.when(ir::equal(shares, 1), alone, together);
}

// Counts an entry, or puts it where the next one of its place goes.
void Lowerer::scatter_element(const std::optional<Expr>& value) {
  const std::vector<int>& dims = lhs_.tensor.format().mode_order();
  size_t last = dims.size() - 1;
  auto coordinate = [&](size_t level) { return values_.at(lhs_.indices[size_t(dims[level])]); };
  Expr place = ir::int64(0);
  for (size_t level = 0; level < last; level++) place = position_of(0, level, place, coordinate(level));
  const Var& counts = tally_->counts;
  Expr at = tally_->first + place;
  if (phase_ == Phase::Count) {
    f_.store_add(counts, at, 1);
    f_.increase(cursors_[0], 1);
    return;
  }
  Var next = f_.constant("next", ir::load(counts, at));
  f_.store(counts, at, Expr(next) + 1);
  functions(0, last).append(level_of(0, last), next, coordinate(last));
  f_.store(vals_array(0), next, ir::cast(result_type(), *value));
}

}  // namespace spdistal::lower
