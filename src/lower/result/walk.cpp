#include "lower/result/walk.hpp"

#include <fmt/format.h>

#include "lower/bind.hpp"
#include "lower/visit.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// What is no loop cannot be divided: the first share does all of it.
void by_first_share(Context& c, const Scope& s, const Inside& fill) {
  if (!s.share) return fill(s);
  Scope alone = s;
  alone.share.reset();
  c.f.when(ir::equal(s.share->number, 0), [&] { fill(alone); });
}

/// A walk as it is defined, and performed.
struct DefinedWalk {
  Context& c;
  WalkPlaces places;
  ir::LocalPart part;

  bool has_segment() const { return c.statement.body.is<Forall>(); }

  void perform(const Scope& s, const Segment& mine) const {
    std::vector<Expr> values;
    if (has_segment()) values = {mine.begin, mine.end};
    if (places.counts) values.push_back(s.assembling.fills);
    if (places.parts) values.push_back(s.assembling.in_part);
    std::vector<Var> with = s.assembling.cursors;
    for (const Var& array : places.arrays)
      with.push_back(s.assembling.arrays ? s.assembling.arrays->stand_in(array) : array);
    for (const Var& array : workspace_arrays(s)) with.push_back(array);
    c.f.perform(part, values, with);
  }

  void operator()(const Scope& s) const {
    if (!has_segment())
      return by_first_share(c, s, [&](const Scope& here) { perform(here, {ir::int64(0), ir::int64(0)}); });
    WalkedShare share = s.share.value_or(WalkedShare{ir::int64(0), ir::int64(1)});
    // The outermost loop is looked at for what of it is walked here: nothing is opened or walked by the way.
    Scope looking = s;
    looking.assembling = {};
    looking.share = share;
    looking.share->around = [&](const Scope& here, const Segment& mine, const Inside&) {
      Scope with = here;
      with.assembling = s.assembling;
      if (share.around) share.around(with, mine, [&](const Scope& in) { perform(in, mine); });
      else perform(with, mine);
    };
    inside_outer_loops(c, looking, [&](const Scope& in) { visit(c, in, c.statement.body); });
  }
};

}  // namespace

WalkLoops walk_in_place(Context& c) {
  return [&c](const Scope& s) {
    const Stmt& body = c.statement.body;
    inside_outer_loops(c, s, [&](const Scope& in) {
      if (body.is<Forall>()) visit(c, in, body);
      else by_first_share(c, in, [&](const Scope& alone) { visit(c, alone, body); });
    });
  };
}

WalkLoops define_walk(Context& c, const Scope& s, const Rooms& rooms, const WalkPlaces& places) {
  DefinedWalk walk{c, places, {Symbol("walk"), {}, {}}};
  Scope inside = with_workspace_places(c, s, rooms);
  inside.threads = Parallelism::Taken;
  std::vector<Var> values, with;
  auto value = [&](const char* name, ir::Type type) { return Expr(values.emplace_back(ir::var(name, type))); };
  if (walk.has_segment()) {
    Expr begin = value("begin", ir::Int64), end = value("end", ir::Int64);
    inside.segment = Segment{begin, end};
  }
  if (places.counts) inside.assembling.fills = value("fill", ir::Bool);
  if (places.parts) inside.assembling.in_part = value("part", ir::Bool);
  for (size_t k = 0; k < places.cursors; k++)
    inside.assembling.cursors.push_back(with.emplace_back(ir::var(fmt::format("at{}", k + 1), ir::Int64)));
  std::vector<std::pair<Var, Var>> arrays;
  for (const Var& array : places.arrays)
    arrays.emplace_back(array, with.emplace_back(ir::var(array.symbol.name(), array.type)));
  inside.assembling.arrays = std::make_shared<StandIns>(c, arrays);
  for (const Var& array : workspace_arrays(inside)) with.push_back(array);
  walk.part = c.f.define("walk", values, with, [&] {
    inside_outer_loops(c, inside, [&](const Scope& in) { visit(c, in, c.statement.body); });
  });
  return walk;
}

}  // namespace spdistal::lower
