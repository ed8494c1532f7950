// Results that the loops come to out of the order in which they are stored: a transpose, or columns of rows. Where all of
// a result is dense but its last level, its entries go to their places at once, without a list that is sorted:
//
//   A(i,j) = B(j,i)    forall j, i: counts[i]++     how many entries each place of the dense levels gets
//   both in CSR        scan                         counts -> pos, and where the next entry of each place goes
//                      forall j, i: A[counts[i]++] = B(j,i)
//
// Shares of the outermost loop have counts of their own, so that all three run on all threads.
#include <algorithm>
#include <set>

#include "lower/bind.hpp"
#include "lower/divide/divide.hpp"
#include "lower/operation.hpp"
#include "lower/questions.hpp"
#include "lower/result/elements.hpp"
#include "lower/result/levels.hpp"
#include "lower/result/shares.hpp"
#include "lower/result/strategy.hpp"
#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// ---- whom it suits ------------------------------------------------------------------------------------------------------

// The loops whose values make up that of a variable, the most significant first: io and ii where i = io * |ii| + ii, or
// cut(io, B) + ii. Loops around the kernel stand still. None where a variable is found in another way than by dividing.
std::optional<std::vector<IndexVar>> digits(const Context& c, const IndexVar& var) {
  if (c.provenance.determined(var, c.options.outer)) return std::vector<IndexVar>{};
  const Relation* relation = c.provenance.replaced_by(var);
  if (!relation) return std::vector{var};
  std::vector<IndexVar> parts = relation->needs();
  std::optional<Offset> offset = parts.empty() ? std::nullopt : offset_of(relation->value_of(var), parts.back());
  if (relation->replaced.size() != 1 || !offset) return std::nullopt;
  if (offset->added && !relation->block()) {
    auto* blocks = offset->added->as<IndexBinary>();
    if (!blocks || blocks->op != IndexOp::Mul || !blocks->a.is<ValueOf>()) return std::nullopt;
  }
  std::vector<IndexVar> out;
  for (const IndexVar& part : parts) {
    std::optional<std::vector<IndexVar>> below = digits(c, part);
    if (!below) return std::nullopt;
    out.insert(out.end(), below->begin(), below->end());
  }
  return out;
}

// Every element is visited at most once: the outermost loops are those that make up its coordinates, and sums are inside.
// Assembling of one place come in ascending order, where the level keeps one: loops ascend, so that those which make up the
// compressed coordinate have to be nested from the most significant to the least, whatever stands between them. A split
// with its inner loop outside is not.
bool suits(Context& c) {
  if (!can_be_made(c)) return false;
  std::vector<IndexVar> stored = storage_order(c.lhs), last;
  size_t dense = leading_dense_levels(c.lhs.tensor.format());
  bool distinct = std::set<IndexVar>(stored.begin(), stored.end()).size() == stored.size();
  if (dense == 0 || dense + 1 != stored.size() || !distinct || !assigned_once(c)) return false;
  std::set<IndexVar> open;
  for (const IndexVar& var : stored) {
    std::optional<std::vector<IndexVar>> loops = digits(c, var);
    if (!loops) return false;
    open.insert(loops->begin(), loops->end());
    last = *loops;
  }
  bool in_order = c.functions(0, dense).seek != nullptr;
  size_t next = 0;
  for (const Forall& loop : loops_to_result(c)) {
    if (open.empty()) break;
    if (open.erase(loop.var) == 0) return false;
    auto digit = std::find(last.begin(), last.end(), loop.var);
    if (in_order && digit != last.end() && size_t(digit - last.begin()) != next++) return false;
  }
  return open.empty();
}

// ---- counts -------------------------------------------------------------------------------------------------------------

// As many as there are threads; fewer where their counts would be far more than what is stored. Shares of a sum would each
// have an entry for the same element.
Expr shares_of_tally(Context& c, const Expr& places) {
  const Forall* outer = c.statement.body.as<Forall>();
  if (!outer || revisits(c, outer->var) || !may_run_in_parallel(c, *outer)) return ir::int64(1);
  Expr stored = ir::int64(0);
  for (int tensor = 1; tensor <= c.operands(); tensor++)
    if (size_t order = c.tensor_var(tensor).order()) stored = stored + c.stored_positions(tensor, order - 1);
  constexpr int64_t counts_of_an_entry = 2;
  Expr worth_it = stored * counts_of_an_entry / nonzero(places);
  return c.f.constant("shares", ir::max(ir::int64(1), ir::min(c.f.threads(), worth_it)));
}

Tally make_tally(Context& c, const Scope& s, const MadeLevels& made, const Expr& shares, const Expr& places) {
  // A place has no more entries than there are coordinates: narrow where those and positions are.
  ScalarType narrow = made_weight(c, s, made.dense).type.scalar;
  for (const Var& array : made_arrays(c, s, made.dense)) narrow = promote(narrow, array.type.scalar);
  return {c.f.allocate("counts", narrow, shares * places, ir::Fill::Uninitialised), places};
}

// Puts down where the entries of a share and a place go, and leaves room for them.
void give_place(Context& c, const Var& counts, const Var& next, const Expr& at) {
  Var here = c.f.constant("here", ir::load(counts, at));
  c.f.store(counts, at, ir::cast(counts.type.scalar, next));
  c.f.increase(next, here);
}

void scan_alone(Context& c, const Tally& tally, const Var& pos) {
  Var next = c.f.variable("next", ir::zero(tally.counts.type.element()));
  c.f.loop("p", ir::int64(0), tally.places, [&](const Var& p) {
    c.f.store(pos, p, ir::cast(pos.type.scalar, next));
    give_place(c, tally.counts, next, p);
  });
}

// Places are dealt out to as many shares; each learns first what there is before it.
void scan_together(Context& c, const Tally& tally, const Var& pos, const Expr& shares) {
  const Var& counts = tally.counts;
  Segment places{ir::int64(0), tally.places};
  auto each_place = [&](const Expr& share, const std::function<void(const Var& p)>& fill) {
    c.f.loop("p", evenly(places, share, shares), evenly(places, share + 1, shares), fill);
  };
  Var begins = c.f.allocate("begins", ScalarType::Int64, shares, ir::Fill::Uninitialised);
  each_share(c, shares, [&](const Expr& t) {
    Var sum = c.f.variable("sum", ir::int64(0));
    c.f.loop("s", ir::int64(0), shares, [&](const Var& s) {
      each_place(t, [&](const Var& p) {
        c.f.increase(sum, ir::cast(ScalarType::Int64, ir::load(counts, Expr(s) * tally.places + p)));
      });
    });
    c.f.store(begins, t, sum);
  });
  Var before = c.f.variable("before", ir::int64(0));
  c.f.loop("t", ir::int64(0), shares, [&](const Var& t) {
    Var here = c.f.constant("here", ir::load(begins, t));
    c.f.store(begins, t, before);
    c.f.increase(before, here);
  });
  each_share(c, shares, [&](const Expr& t) {
    Var next = c.f.variable("next", ir::cast(counts.type.scalar, ir::load(begins, t)));
    each_place(t, [&](const Var& p) {
      c.f.store(pos, p, ir::cast(pos.type.scalar, next));
      c.f.loop("s", ir::int64(0), shares,
               [&](const Var& s) { give_place(c, counts, next, Expr(s) * tally.places + p); });
    });
  });
}

// Counts become positions: of each place first those of the first share, then those of the next.
void scan(Context& c, const Tally& tally, const Var& pos, const Expr& shares) {
  if (ir::constant_integer(shares) == 1) return scan_alone(c, tally, pos);
  c.f.when(
      ir::equal(shares, 1), [&] { scan_alone(c, tally, pos); }, [&] { scan_together(c, tally, pos, shares); });
}

// ---- the kernel ---------------------------------------------------------------------------------------------------------

Scope in_share(Context& c, const Scope& s, const Expr& share) {
  Scope out = s;
  Tally& tally = *out.assembling.tally;
  tally.first = c.f.constant("first", share * tally.places);
  return out;
}

// Gives how many entries there are.
Expr count(Context& c, const Scope& s, const Rooms& rooms, const Expr& shares) {
  Var entries = c.f.allocate("entries", ScalarType::Int64, shares, ir::Fill::Uninitialised);
  c.f.comment("Count what comes to each place.");
  walk_shares(c, s, rooms, {shares}, walk_in_place(c), [&](const Scope& inside, const Expr& t, const Inside& walk) {
    Scope here = in_share(c, inside, t);
    const Tally& tally = *here.assembling.tally;
    c.f.loop("p", ir::int64(0), tally.places, [&](const Var& p) { c.f.store(tally.counts, tally.first + p, 0); });
    here.assembling.cursors = {c.f.variable("count", ir::int64(0))};
    walk(here);
    c.f.store(entries, t, here.assembling.cursors[0]);
  });
  Var total = c.f.variable("total", ir::int64(0));
  c.f.loop("t", ir::int64(0), shares, [&](const Var& t) { c.f.increase(total, ir::load(entries, t)); });
  return total;
}

void emit(Context& c) {
  Scope s = outermost(c);
  MadeLevels made = made_levels(c);
  Rooms rooms = rooms_of_workspaces(c, s);
  Expr places = c.f.constant("places", places_of(c, made));
  Expr shares = shares_of_tally(c, places);
  s.assembling.tally = make_tally(c, s, made, shares, places);
  s.assembling.fills = ir::literal(ir::Scalar::of(false));
  Expr total = count(c, s, rooms, shares);
  leave_where_too_many(c, s, made, total);
  made.gaps = false;  // every place gets its position
  c.f.comment("Make room.");
  make_room(c, s, made, {total});
  Var pos = made_weight(c, s, made.dense);
  c.f.store(pos, places, ir::cast(pos.type.scalar, total));
  scan(c, *s.assembling.tally, pos, shares);
  c.f.comment("Fill it.");
  s.assembling.fills = ir::literal(ir::Scalar::of(true));
  walk_shares(c, s, rooms, {shares}, walk_in_place(c),
              [&](const Scope& inside, const Expr& t, const Inside& walk) { walk(in_share(c, inside, t)); });
  finish_levels(c, s, made, {total});
}

// Counts an entry, or puts it where the next one of its place goes.
void add(Context& c, const Scope& s, const ElementValue& value) {
  std::vector<IndexVar> vars = storage_order(c.lhs);
  size_t last = vars.size() - 1;
  Expr place = ir::int64(0);
  for (size_t level = 0; level < last; level++) place = c.position_of(0, level, place, s.values.at(vars[level]));
  const Tally& tally = *s.assembling.tally;
  Expr at = tally.first + place;
  if (!may_fill(s)) {
    c.f.store_add(tally.counts, at, 1);
    c.f.increase(s.assembling.cursors[0], 1);
    return;
  }
  Var next = c.f.constant("next", ir::load(tally.counts, at));
  c.f.store(tally.counts, at, Expr(next) + 1);
  c.functions(0, last).append(c.level_of(0, last), next, s.values.at(vars[last]));
  c.f.store(c.vals_array(0), next, taken_as(c.result_type(), value()));
}

}  // namespace

const Strategy scattered{
    .name = "scattered", .assembly = Assembly::Scattered, .suits = suits, .emit = emit, .add = add};

}  // namespace spdistal::lower
