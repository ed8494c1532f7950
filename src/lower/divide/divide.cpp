#include "lower/divide/divide.hpp"

#include <set>

#include "lower/operation.hpp"
#include "lower/result/elements.hpp"
#include "notation/races.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// The part of a range that a share walks.
Segment share_of(Context& c, const std::string& name, const Segment& range, const CutFunction& cut, const Expr& share,
                 const Expr& shares) {
  if (ir::constant_integer(shares) == 1) return range;
  Segment all{c.f.constant(name + "_from", range.begin), c.f.constant(name + "_to", range.end)};
  Segment mine = cut ? cut(all, share, shares) : Segment{evenly(all, share, shares), evenly(all, share + 1, shares)};
  return {c.f.constant(name + "_begin", mine.begin), c.f.constant(name + "_end", mine.end)};
}

// A turn as a share. Pieces may have fewer than there are shares.
Segment turn_of(Context& c, const std::string& name, const Segment& range, const Expr& number) {
  Expr at = range.begin + number;
  Var begin = c.f.constant(name + "_begin", c.on_pieces() ? ir::min(at, range.end) : at);
  return {begin, c.on_pieces() ? ir::min(Expr(begin) + 1, range.end) : Expr(begin) + 1};
}

// What holds for a share while others are under way.
Scope in_one_of_many(const Context& c, const Scope& s, const ForallLoop& loop) {
  Scope inside = s;
  inside.threads = Parallelism::Taken;
  if (find_race(c.statement, loop.forall.var)) inside.elements.raced = loop.forall.var;
  return inside;
}

}  // namespace

Expr evenly(const Segment& range, const Expr& part, const Expr& parts) {
  return range.begin + (range.end - range.begin) * part / parts;
}

CutFunction up_to_the_end(const BeginFunction& begin) {
  return [begin](const Segment& all, const Expr& part, const Expr& parts) {
    return Segment{begin(all, part, parts),
                   ir::select(ir::equal(part + 1, parts), all.end, begin(all, part + 1, parts))};
  };
}

CutFunction by_weight(const Context& c, const Segment& range, const Weight& weight) {
  // Blocks past the end have no weights.
  bool may_lie_beyond = ir::constant_integer(range.begin) != 0 || c.on_pieces();
  return up_to_the_end([weight, may_lie_beyond](const Segment& all, const Expr& part, const Expr& parts) -> Expr {
    Expr first = all.begin - weight.first, last = all.end - weight.first;
    Expr w0 = ir::cast(ScalarType::Int64, ir::load(weight.sums, first)),
         w1 = ir::cast(ScalarType::Int64, ir::load(weight.sums, last));
    Expr target = ir::cast(weight.sums.type.scalar, w0 + (w1 - w0) * part / parts);
    Expr found = ir::lower_bound(weight.sums, first, last, target) + weight.first;
    return may_lie_beyond ? ir::select(all.end <= all.begin, all.end, found) : found;
  });
}

bool may_run_in_parallel(const Context& c, const Forall& loop) {
  if (!loop.tags.parallel || loop.tags.parallel->unit == Unit::CPUVector) return false;
  if (!has_atomic(c.operation, c.result_type()) && find_race(c.statement, loop.var)) return false;
  // Temporaries from outside are written by one thread only.
  bool own = true;
  std::set<TensorVar> inside;
  each<Where>(loop.body,
              [&](const Where& w) { each<Assign>(w.producer, [&](const Assign& a) { inside.insert(a.lhs.tensor); }); });
  each<Assign>(loop.body, [&](const Assign& a) {
    own &= a.lhs.tensor.origin() == Origin::Declared || inside.contains(a.lhs.tensor);
  });
  return own;
}

bool can_run_in_parallel(const Context& c, const Scope& s, const Forall& loop) {
  return s.threads == Parallelism::Free && may_run_in_parallel(c, loop);
}

Division division_of(const Context& c, const Scope& s, const ForallLoop& loop) {
  if (s.share) return Division::OneShare;
  if (s.segment) return Division::Segment;
  return can_run_in_parallel(c, s, loop.forall) ? Division::Threads : Division::None;
}

void divide(Context& c, const Scope& s, const ForallLoop& loop, const std::string& name, const Segment& range,
            const CutFunction& cut, const WalkFunction& walk) {
  switch (division_of(c, s, loop)) {
    case Division::None: return walk(s, range, loop.reach);
    case Division::OneShare: {
      WalkedShare share = *s.share;
      Scope inside = s;
      inside.share.reset();
      Segment mine = share.grain == Grain::Turn ? turn_of(c, name, range, share.number)
                                                : share_of(c, name, range, cut, share.number, share.count);
      auto go = [&](const Scope& here) { walk(here, mine, Reach::Part); };
      return share.around ? share.around(inside, mine, go) : go(inside);
    }
    case Division::Segment: {
      Scope inside = s;
      inside.segment.reset();
      return walk(inside, *s.segment, Reach::Part);
    }
    case Division::Threads: {
      Scope inside = in_one_of_many(c, s, loop);
      return c.f.parallel("t", c.f.shares(), [&](const Var& t) {
        Segment mine = share_of(c, name, range, cut, t, c.f.shares());
        auto go = [&](const Scope& here) { walk(here, mine, Reach::Part); };
        if (loop.sums == Sums::InShares) add_sum_of_share(c, inside, go);
        else go(inside);
      });
    }
  }
}

void divide_by_turns(Context& c, const Scope& s, const ForallLoop& loop, const std::string& name, const Segment& range,
                     const WalkFunction& walk) {
  Scope inside = in_one_of_many(c, s, loop);
  c.f.parallel("t", range.end - range.begin, [&](const Var& t) {
    Var begin = c.f.constant(name + "_begin", range.begin + t);
    walk(inside, {begin, Expr(begin) + 1}, Reach::Part);
  });
}

void each_share(Context& c, const Expr& shares, const std::function<void(const Expr& share)>& fill,
                const std::function<void()>& setup) {
  if (ir::constant_integer(shares) != 1) return c.f.parallel("t", shares, fill, setup);
  c.f.add(c.f.collect([&] {
    setup();
    fill(ir::int64(0));
  }));
}

}  // namespace spdistal::lower
