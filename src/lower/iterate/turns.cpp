#include "lower/iterate/turns.hpp"

#include <algorithm>

#include "lower/questions.hpp"
#include "lower/result/strategy.hpp"
#include "notation/races.hpp"

namespace spdistal::lower {

using namespace notation;

namespace {

// Is it a reduction into a temporary that is one number?
bool is_temporary_sum(const Scope& s, const Assign& assign) {
  return assign.lhs.indices.empty() && assign.op != AssignOp::Set && s.temporaries.contains(assign.lhs.tensor);
}

// Does the assignment in an innermost loop go to elements that have their place? Lists and cursors grow one by one.
bool writes_in_place(const Context& c, const Scope& s, const Assign& assign) {
  if (assign.lhs.tensor == c.lhs.tensor) return has_places(c) || (s.elements.sum && !s.elements.any);
  return assign.lhs.tensor.format().is_dense() && (!assign.lhs.indices.empty() || is_temporary_sum(s, assign));
}

// Are all elements that a loop with more in it than one assignment writes in their places? What is declared inside of it is
// each turn's own.
bool all_in_place(const Context& c, const Scope& s, const Stmt& body) {
  bool out = true;
  each<Assign>(body, [&](const Assign& assign) {
    bool outside = assign.lhs.tensor == c.lhs.tensor || s.temporaries.contains(assign.lhs.tensor);
    out &= !outside || writes_in_place(c, s, assign);
  });
  return out;
}

// A sum along what one operand stores, of values that are found by its coordinates, cannot be had in vectors. Where these were asked
// for, two turns at a time have sums of their own.
bool suits_pairs(const Context& c, const Scope& s, const ForallLoop& loop) {
  const auto& parallel = loop.forall.tags.parallel;
  auto* assign = loop.body().as<Assign>();
  if (!parallel || parallel->unit != Unit::CPUVector || !assign || assign->op != AssignOp::Add) return false;
  ScalarType type = c.lhs.tensor.type();
  if (type != ScalarType::Float32 && type != ScalarType::Float64) return false;  // whole numbers do not take as long
  int sparse = 0;
  each<notation::Access>(assign->rhs,
                         [&](const notation::Access& a) { sparse += a.tensor.format().is_dense() ? 0 : 1; });
  return sparse == 1 && !s.elements.raced && (s.elements.sum || is_temporary_sum(s, *assign)) &&
         writes_in_place(c, s, *assign);
}

bool suits_vectors(const Context& c, const Scope& s, const ForallLoop& loop, Alone alone) {
  if (alone == Alone::No || s.elements.raced) return false;
  bool races = find_race(c.statement, loop.forall.var).has_value();
  const auto& parallel = loop.forall.tags.parallel;
  bool asked = parallel && parallel->unit == Unit::CPUVector;
  bool by_itself = !parallel && !races;
  auto* assign = loop.body().as<Assign>();
  if (!assign) return asked && !races && all_in_place(c, s, loop.body());
  // A sum has a variable of its own for each vector.
  bool sums = s.elements.sum || is_temporary_sum(s, *assign);
  return (by_itself || asked) && (!races || sums) && writes_in_place(c, s, *assign);
}

}  // namespace

ir::LoopOptions loop_options(const Context& c, const Scope& s, const ForallLoop& loop, Alone alone) {
  ir::LoopOptions options;
  options.unroll = int(loop.forall.tags.unroll);
  if (suits_vectors(c, s, loop, alone)) options.kind = ir::LoopKind::Vector;
  else if (suits_pairs(c, s, loop)) options.unroll = std::max(options.unroll, 2);
  return options;
}

void run_turns(Context& c, const Scope& s, const ForallLoop& loop, const Turns& turns, const WalkTurns& walk) {
  ir::LoopOptions options = loop_options(c, s, loop, turns.alone);
  bool by_turns = is_for_gpu(c) && division_of(c, s, loop) == Division::Threads && turns.grain == Grain::Turn &&
                  loop.sums != Sums::InShares;
  auto walk_part = [&](const Scope& inside, const Segment& mine, Reach) { walk(inside, mine, options); };
  if (by_turns) return divide_by_turns(c, s, loop, turns.name, turns.range, walk_part);
  divide(c, s, loop, turns.name, turns.range, turns.cut, walk_part);
}

}  // namespace spdistal::lower
