#include "lower/result/elements.hpp"

#include <algorithm>

#include "lower/active.hpp"
#include "lower/operation.hpp"
#include "lower/questions.hpp"
#include "lower/result/strategy.hpp"
#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::StoreMode;
using ir::Var;

bool element_known(const Context& c, const Scope& s) {
  return std::all_of(c.lhs.indices.begin(), c.lhs.indices.end(), [&](const IndexVar& var) { return s.knows(var); });
}

std::optional<Expr> presence(const Context& c, const Scope& s, const Assign& assign) {
  std::set<int> flagged;
  for (int k = 0; k < c.operands(); k++)
    if (s.access(k).present) flagged.insert(k);
  MadeWhere made;
  for (const auto& [tensor, temporary] : s.temporaries)
    if (temporary.made_by) made.emplace(tensor, where_active(c, s, *temporary.made_by, flagged));
  Formula where = where_active(c, s, assign, flagged, made);
  if (where.is_always()) return std::nullopt;
  // One of these is there, and each alone suffices.
  for (const std::set<int>& some : s.some_present)
    if (std::all_of(some.begin(), some.end(), [&](int k) {
          return std::any_of(where.alternatives().begin(), where.alternatives().end(),
                             [&](const std::set<int>& a) { return a == std::set<int>{k}; });
        }))
      return std::nullopt;
  std::optional<Expr> any;
  for (const std::set<int>& alternative : where.alternatives()) {
    std::optional<Expr> all;
    for (int k : alternative) all = all ? *all && *s.access(k).present : *s.access(k).present;
    any = any ? *any || *all : *all;
  }
  return any ? any : std::optional(ir::literal(ir::Scalar::of(false)));
}

void write_result(Context& c, const Scope& s, const Assign& assign) {
  std::optional<Expr> condition = presence(c, s, assign);
  Scope here = s;
  if (condition) here.elements.covered = false;
  const Elements& elements = here.elements;
  bool adds_up = elements.sum || elements.any;
  auto write = [&] {
    if (elements.sum)
      when_filling(c, here, [&] {
        Expr next = taken_as(c.total_type(), value(c, here, assign.rhs));
        c.f.assign(*elements.sum, combine(c.operation, *elements.sum, next));
      });
    if (elements.any) c.f.assign(*elements.any, ir::literal(ir::Scalar::of(true)));
    if (adds_up) return;
    if (!has_places(c)) return strategy_of(c).add(c, here, [&] { return value(c, here, assign.rhs); });
    // What no other iteration and no other assignment adds to begins here.
    bool first = c.start == Start::Zero && !elements.revisited && !elements.raced && assigned_once(c);
    write_element(c, here, value(c, here, assign.rhs), first ? AssignOp::Set : assign.op);
  };
  if (condition) c.f.when(*condition, write);
  else if (adds_up) write();
  else where_element_is(c, here, write);
}

void write_element(Context& c, const Scope& s, const Expr& value, AssignOp op) {
  const Elements& elements = s.elements;
  if (elements.apart) {
    const auto& [sums, indices] = *elements.apart;
    return store_combined(c, c.operation, sums.values, temporary_position(s, sums, indices), value);
  }
  Expr at = strategy_of(c).position(c, s);
  bool adds_to_set = c.statement.start == Start::Zero && c.start == Start::Old;
  if (op == AssignOp::Set && !adds_to_set) {
    // Elements that no iteration reaches are what they begin with, too.
    if (c.start == Start::Zero && !elements.covered && c.kernel.assembly == Assembly::Dense && !elements.zeroed)
      c.kernel.fill_first = true;
    return store(c, c.vals_array(0), at, value);
  }
  if (c.start == Start::Zero && !elements.zeroed) c.kernel.fill_first = true;
  if (elements.raced) store(c, c.vals_array(0), at, value, atomic_mode(c.operation));
  else store_combined(c, c.operation, c.vals_array(0), at, value);
}

void store(Context& c, const Var& array, const Expr& at, const Expr& value, StoreMode mode) {
  c.f.add(ir::store(array, at, taken_as(array.type.scalar, value), mode));
}

void store_combined(Context& c, AssignOp op, const Var& array, const Expr& at, const Expr& value) {
  ScalarType held = array.type.scalar, given = ir::type_of(value).scalar;
  ScalarType wide = reduced_type(op, promote(held, given));
  if (op == AssignOp::Add && wide == held) return store(c, array, at, value, StoreMode::Add);
  Expr there = ir::cast(wide, ir::load(array, at));
  store(c, array, at, combine(op, there, taken_as(wide, value)));
}

void when_filling(Context& c, const Scope& s, const std::function<void()>& fill) {
  if (!ir::constant(s.assembling.fills)) c.f.when(s.assembling.fills, fill);
  else if (may_fill(s)) fill();
}

bool may_fill(const Scope& s) {
  const ir::Scalar* known = ir::constant(s.assembling.fills);
  return !known || known->as<bool>();
}

void where_element_is(Context& c, const Scope& s, const std::function<void()>& fill) {
  std::optional<Expr> present = strategy_of(c).present ? strategy_of(c).present(c, s) : std::nullopt;
  if (present) c.f.when(*present, fill);
  else fill();
}

}  // namespace spdistal::lower
