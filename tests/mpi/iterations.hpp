// What the colours of a plan have of its accesses, from the definition: iterations of each turn of the loops around walked one by one,
// and elements, or coordinates of dense tensors, taken one by one.
#pragma once
#include <set>

#include "execute/bound_plan.hpp"
#include "format/questions.hpp"
#include "level/kernel.hpp"
#include "oracle/walk.hpp"
#include "reference/execute.hpp"

namespace spdistal::test {

/// One turn of the loops around an access: a colour, and the step of those that are not distributed.
struct Turn {
  int64_t colour;
  StepValues step;
  auto operator<=>(const Turn&) const = default;
};
using Touched = std::map<IndexVar, std::optional<Range>>;
using Element = std::vector<int64_t>;

/// The smallest ranges around the values that variables have in the iterations of each turn of the first loops of a plan that has
/// any. Where no loop is distributed every colour has all of them.
inline std::map<Turn, Touched> walk_turns(const ConcreteStatement& statement, const plan::Plan& plan, size_t loops,
                                          const runtime::ColourGrid& grid, const std::map<TensorVar, Storage>& whole) {
  std::vector<IndexVar> outer;
  for (size_t k = 0; k < loops; k++) outer.push_back(plan.loops[k].var);
  Stmt inside = strip_loops(statement, outer).body;
  std::map<Turn, Touched> out;
  Walk walk(statement, whole, 1);
  walk.turns(outer, [&] {
    std::vector<int64_t> point;
    StepValues step;
    for (size_t k = 0; k < loops; k++)
      (plan.loops[k].kind == plan::Loop::Kind::Distributed ? point : step).push_back(walk.values.at(outer[k]));
    walk.touched.clear();
    for (const auto& [var, value] : walk.values) widen(walk.touched[var], value);
    walk.visit(inside);
    if (!point.empty()) out.emplace(Turn{grid.colour_at(point), step}, walk.touched);
    for (int64_t c = 0; point.empty() && c < grid.count(); c++) out.emplace(Turn{c, step}, walk.touched);
  });
  return out;
}

/// What some turns of loops compute, alone and from nothing.
struct Computed {
  reference::DenseArray array;
  std::vector<bool> absent;
};
inline Computed compute_turns(const ConcreteStatement& statement, reference::Arrays arrays,
                              const std::map<IndexVar, int64_t>& turns) {
  ConcreteStatement anew = statement;
  anew.start = Start::Zero;
  std::vector<bool> absent = reference::execute(anew, arrays, turns);
  return {std::move(arrays.at(statement.result)), std::move(absent)};
}

/// What a colour has of an access, element by element: what it must have, and what it may. They differ where it has no iteration, where
/// loops inside have no values, so that those around do not tell how far variables go, and where intervals are wider than what iterations
/// come to, as those of variables that are put together of several with guards (tests/unit/notation/bounds_test.cpp has which).
struct Elements {
  std::set<Element> needed, allowed;
};
struct Judged {
  bool needed, allowed;
};

class Definition {
 public:
  Definition(const plan::Plan& plan, BoundPlan& bound, const std::map<TensorVar, Storage>& whole)
      : plan_(plan), tasks_(bound.tasks()), pieces_(bound.pieces()), whole_(whole) {}

  /// The turn is one of the loops that the access is fetched inside of.
  Elements of(size_t access, const Turn& turn, const Touched& touched) const {
    const plan::AccessPlan& a = plan_.accesses[access];
    const Pattern& pattern = whole_.at(a.access.tensor).pattern();
    std::set<int64_t> stored;
    for_each_position(pattern, [&](std::span<const int64_t>, int64_t position) { stored.insert(position); });
    bool runs = runs_through(touched);
    std::set<int64_t> dealt, beside;
    if (a.split) {
      dealt = positions(*a.split, range_of(a.split->position, touched));
      beside = positions(*a.split, bounds(a.split->position, turn));
    }
    Elements out;
    for (const Stored& s : stored_at(pattern, pattern.order() - 1)) {
      if (!stored.contains(s.positions.back())) continue;
      bool comes = !a.split || dealt.contains(s.positions[a.split->level]);
      if (!comes && !beside.contains(s.positions[a.split->level])) continue;
      Element at(pattern.order());
      for (size_t level = 0; level < at.size(); level++) at[a.dims[level]] = s.coordinates[level];
      bool needed = runs && comes, allowed = true;
      for (size_t d = 0; d < at.size(); d++) {
        Judged judged = judge(a, d, at[d], turn, touched);
        needed &= judged.needed && !(std::holds_alternative<plan::Gather>(a.projections[d]) && has_places(a, d));
        allowed &= judged.allowed;
      }
      if (needed) out.needed.insert(at);
      if (allowed) out.allowed.insert(at);
    }
    return out;
  }

  /// Of a dimension of a dense tensor: does a colour that runs through all its loops need a coordinate, and may it have it?
  Judged of(size_t access, const Turn& turn, const Touched& touched, size_t d, int64_t coordinate) const {
    Judged out = judge(plan_.accesses[access], d, coordinate, turn, touched);
    return {out.needed && runs_through(touched), out.allowed};
  }

 private:
  bool runs_through(const Touched& touched) const {
    return std::ranges::all_of(plan_.accesses, [&](const plan::AccessPlan& other) {
      return std::ranges::all_of(other.access.indices, [&](const IndexVar& var) { return !!range_of(var, touched); });
    });
  }

  // As far as one dimension tells.
  Judged judge(const plan::AccessPlan& a, size_t d, int64_t coordinate, const Turn& turn,
               const Touched& touched) const {
    std::optional<Range> range = range_of(a.access.indices[d], touched);
    bool within = range && range->contains(coordinate);
    bool beside = !range || bounds(a.access.indices[d], turn).contains(coordinate);
    if (std::holds_alternative<plan::Affine>(a.projections[d])) return {within, within || beside};
    auto* gather = std::get_if<plan::Gather>(&a.projections[d]);
    if (!gather) return {true, true};
    bool gathered = contains(*gather, coordinate, turn.colour);
    return {gathered && within, gathered && (within || beside)};
  }

  static std::optional<Range> range_of(const IndexVar& var, const Touched& touched) {
    auto found = touched.find(var);
    return found == touched.end() ? std::nullopt : found->second;
  }
  // Where a level has places for coordinates, a piece has none for those that the leaf does not come to.
  static bool has_places(const plan::AccessPlan& a, size_t d) {
    return kernel_functions(a.access.tensor.format().levels()[a.access.tensor.format().level_of(d)]).place;
  }

  // What the loops around leave of a variable, as an interval.
  Range bounds(const IndexVar& var, const Turn& turn) const {
    return tasks_.bounds_of(plan_.bounds).of(var, tasks_.values(turn.colour, turn.step));
  }

  // Of the level that is dealt out: those above the positions in a range.
  std::set<int64_t> positions(const plan::PositionSplit& split, const std::optional<Range>& range) const {
    std::set<int64_t> out;
    if (!range) return out;
    std::vector<Stored> all = stored_at(whole_.at(split.levels.access.tensor).pattern(), split.levels.last);
    for (int64_t p = range->lo; p < std::min(range->hi, int64_t(all.size())); p++)
      out.insert(all[size_t(p)].positions[split.level]);
    return out;
  }

  bool contains(const plan::Gather& gather, int64_t coordinate, int64_t colour) const {
    int64_t beyond = coordinate - gather.offset;
    return beyond % gather.stride == 0 && contains(gather.set, beyond / gather.stride, colour);
  }
  bool contains(const plan::Set& set, int64_t value, int64_t colour) const {
    return match(
        set, [](const plan::Everything&) { return true; },
        [&](const plan::Both& n) { return contains(n.a, value, colour) && contains(n.b, value, colour); },
        [&](const plan::Either& n) { return contains(n.a, value, colour) || contains(n.b, value, colour); },
        [&](const plan::Occurring& n) {
          bool occurs = false;
          size_t d = plan_.accesses[n.access].dims[n.level];
          for_each_position((*pieces_[n.access])[colour].pattern(), [&](std::span<const int64_t> at, int64_t) {
            occurs |= at[d] == n.offset + n.stride * value;
          });
          return occurs;
        });
  }

  const plan::Plan& plan_;
  const Tasks& tasks_;
  const Tasks::Pieces& pieces_;
  const std::map<TensorVar, Storage>& whole_;
};

}  // namespace spdistal::test
