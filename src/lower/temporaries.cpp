#include "lower/temporaries.hpp"

#include <limits>

#include "lower/iterate/pattern.hpp"
#include "lower/operation.hpp"
#include "lower/result/elements.hpp"
#include "lower/values.hpp"
#include "lower/visit.hpp"
#include "notation/arithmetic.hpp"
#include "notation/presence.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

Expr truth(bool value) { return ir::literal(ir::Scalar::of(value)); }

// A number or an array, with the fill value of the temporary.
Var make_filled(Context& c, const std::string& name, const TensorVar& tensor, const Expr& count) {
  Expr fill = ir::literal(tensor.fill());
  if (tensor.order() == 0) return c.f.variable(name, fill);
  if (is_zero(tensor.fill())) return c.f.allocate(name, tensor.type(), count, ir::Fill::Zeroed);
  Var out = c.f.allocate(name, tensor.type(), count, ir::Fill::Uninitialised);
  c.f.loop("p_" + name, ir::int64(0), count, [&](const Var& p) { c.f.store(out, p, fill); });
  return out;
}

// Is it to be known whether a value has come to an element: does a quotient ask, or another temporary of which one does?
bool is_asked_for(const TensorVar& tensor, const Stmt& consumer) {
  bool asked = false;
  each<Assign>(consumer, [&](const Assign& assign) {
    bool uses = false;
    each<Access>(assign.rhs, [&](const Access& a) { uses |= a.tensor == tensor; });
    if (!uses) return;
    asked |= told_from_zeros(assign.rhs).contains(tensor);
    each<Where>(consumer, [&](const Where& inner) {
      bool makes = false;
      each<Assign>(inner.producer, [&](const Assign& a) { makes |= a.lhs.tensor == assign.lhs.tensor; });
      asked |= makes && is_asked_for(assign.lhs.tensor, inner.consumer);
    });
  });
  return asked;
}

Temporary make_dense(Context& c, const Scope& s, const Access& made, const Where& where) {
  std::string name = c.name(made.tensor);
  std::vector<Expr> sizes;
  Expr count = ir::int64(1);
  for (const IndexVar& var : made.indices) sizes.push_back(size(c, s, var)), count = count * sizes.back();
  Temporary out{make_filled(c, name, made.tensor, count), sizes};
  if (sizes.empty()) out.made_by = where.producer;
  if (!is_infinite(made.tensor.fill()) && is_asked_for(made.tensor, where.consumer))
    out.there = sizes.empty() ? c.f.variable(name + "_there", truth(false))
                              : c.f.allocate(name + "_there", ScalarType::Bool, count, ir::Fill::Zeroed);
  return out;
}

// The loop that reads all of a workspace once, coordinate by coordinate: it cleans it by the way. A table needs its marks
// until all places were found.
std::optional<IndexVar> cleaning_loop(const Context& c, const Scope& s, const TensorVar& workspace,
                                      const Stmt& consumer) {
  auto* loop = consumer.as<Forall>();
  auto* assign = loop ? loop->body.as<Assign>() : nullptr;
  if (!assign || s.temporaries.at(workspace).hash) return {};
  bool once = true;
  each<Access>(assign->rhs,
               [&](const Access& a) { once &= a.tensor != workspace || a.indices == std::vector{loop->var}; });
  LoopPattern pattern = choose_pattern(c, s, *loop, loop->var);
  auto* list = std::get_if<ListPattern>(&pattern);
  return once && list && list->workspace == workspace ? std::optional(loop->var) : std::nullopt;
}

void clean(Context& c, const Temporary& temporary, const std::string& name) {
  c.f.loop("p_" + name, ir::int64(0), *temporary.count, [&](const Var& p) {
    const Var& places = temporary.hash ? temporary.hash->slots : *temporary.list;
    c.f.store(*temporary.marks, ir::cast(ScalarType::Int64, ir::load(places, p)), truth(false));
  });
}

// The value of an assignment, computed where values are wanted.
Expr filled_value(Context& c, const Scope& s, const Assign& assign) {
  ScalarType type = assign.lhs.tensor.type();
  if (ir::constant(s.assembling.fills)) return c.f.constant("value", taken_as(type, value(c, s, assign.rhs)));
  Var out = c.f.variable("value", ir::zero(ir::value_of(type)));
  when_filling(c, s, [&] { c.f.assign(out, taken_as(type, value(c, s, assign.rhs))); });
  return out;
}

// Combines with what was touched before, or lists what was not.
void touch(Context& c, const Scope& s, const Temporary& temporary, const Assign& assign) {
  Expr coordinate = s.values.at(assign.lhs.indices[0]);
  Expr at = find_slot(c, temporary, c.name(assign.lhs.tensor), coordinate);
  std::optional<Expr> v;
  if (may_fill(s)) v = filled_value(c, s, assign);
  c.f.when(
      ir::load(*temporary.marks, at),
      [&] { when_filling(c, s, [&] { store_combined(c, assign.op, temporary.values, at, *v); }); },
      [&] {
        c.f.store(*temporary.marks, at, truth(true));
        c.f.store(*temporary.list, *temporary.count, ir::cast(temporary.list->type.scalar, coordinate));
        if (temporary.hash) {
          c.f.store(temporary.hash->keys, at, ir::cast(temporary.hash->keys.type.scalar, coordinate));
          c.f.store(temporary.hash->slots, *temporary.count, at);
        }
        c.f.increase(*temporary.count, 1);
        when_filling(c, s, [&] { c.f.store(temporary.values, at, *v); });
      });
}

void note_that_there(Context& c, const Scope& s, const Temporary& temporary, const Assign& assign) {
  Expr here = is_there(c, s, assign.rhs, assign.lhs.tensor.fill());
  if (assign.lhs.indices.empty()) return c.f.assign(*temporary.there, Expr(*temporary.there) || here);
  Expr at = temporary_position(s, temporary, assign.lhs.indices);
  c.f.store(*temporary.there, at, ir::load(*temporary.there, at) || here);
}

/// Gives an array of so many elements.
using Allocator = std::function<Var(const std::string& name, ScalarType type, const Expr& count, ir::Fill fill)>;

Temporary make_workspace(Context& c, const Scope& s, const Access& made, const Rooms& rooms,
                         const Allocator& allocate) {
  std::string name = c.name(made.tensor);
  auto room = rooms.find(made.tensor);
  Expr count = room == rooms.end() ? size(c, s, made.indices[0]) : room->second.places;
  Temporary out{allocate(name, made.tensor.type(), count, ir::Fill::Uninitialised), {count}};
  out.marks = allocate(name + "_marks", ScalarType::Bool, count, ir::Fill::Zeroed);
  // Narrow where the coordinates are: half the memory to sort.
  std::optional<int64_t> most = made.tensor.dims()[0].value();
  ScalarType narrow = most && *most <= std::numeric_limits<int32_t>::max() ? ScalarType::Int32 : ScalarType::Int64;
  out.list = allocate(name + "_list", narrow, count, ir::Fill::Uninitialised);
  if (room != rooms.end()) {
    Var keys = allocate(name + "_keys", narrow, count, ir::Fill::Uninitialised);
    Var slots = allocate(name + "_slots", ScalarType::Int64, count, ir::Fill::Uninitialised);
    out.hash = Temporary::Hash{room->second.hashed, count, keys, slots};
  }
  return out;
}

Scope with_workspaces_from(Context& c, Scope s, const Rooms& rooms, const Allocator& allocate) {
  each<Where>(c.statement.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) {
      if (!a.lhs.tensor.format().is_dense() && !s.temporaries.contains(a.lhs.tensor))
        s.temporaries.emplace(a.lhs.tensor, make_workspace(c, s, a.lhs, rooms, allocate));
    });
  });
  return s;
}

}  // namespace

void visit_where(Context& c, const Scope& s, const Where& where) {
  std::optional<Access> made;
  each<Assign>(where.producer, [&](const Assign& a) {
    if (!made) made = a.lhs;
  });
  const TensorVar& tensor = made->tensor;
  Scope inside = s;
  if (tensor.format().is_dense()) {
    inside.temporaries.insert_or_assign(tensor, make_dense(c, s, *made, where));
    visit(c, inside, where.producer);
    visit(c, inside, where.consumer);
    return;
  }
  // The arrays were made outside; only what was touched is cleaned.
  Temporary& workspace = inside.temporaries.at(tensor);
  workspace.count = c.f.variable(c.name(tensor) + "_count", ir::int64(0));
  workspace.cleaned_by = cleaning_loop(c, inside, tensor, where.consumer);
  visit(c, inside, where.producer);
  visit(c, inside, where.consumer);
  if (!workspace.cleaned_by) clean(c, workspace, c.name(tensor));
}

void write_temporary(Context& c, const Scope& s, const Assign& assign) {
  const Temporary& temporary = s.temporaries.at(assign.lhs.tensor);
  ScalarType type = assign.lhs.tensor.type();
  bool sets = assign.op == AssignOp::Set;
  auto write = [&] {
    if (temporary.list) return touch(c, s, temporary, assign);
    if (temporary.there) note_that_there(c, s, temporary, assign);
    Expr v = value(c, s, assign.rhs);
    if (assign.lhs.indices.empty()) {
      Expr next = taken_as(type, v);
      return c.f.assign(temporary.values, sets ? next : combine(assign.op, temporary.values, next));
    }
    Expr at = temporary_position(s, temporary, assign.lhs.indices);
    if (sets) store(c, temporary.values, at, v);
    else store_combined(c, assign.op, temporary.values, at, v);
  };
  if (std::optional<Expr> condition = presence(c, s, assign)) c.f.when(*condition, write);
  else write();
}

Scope with_workspaces(Context& c, const Scope& s, const Rooms& rooms) {
  return with_workspaces_from(c, s, rooms,
                              [&](const std::string& name, ScalarType type, const Expr& count, ir::Fill fill) {
                                return c.f.allocate(name, type, count, fill);
                              });
}

Scope with_workspace_places(Context& c, const Scope& s, const Rooms& rooms) {
  return with_workspaces_from(c, s, rooms, [](const std::string& name, ScalarType type, const Expr&, ir::Fill) {
    return ir::var(name, ir::array_of(type));
  });
}

std::vector<Var> workspace_arrays(const Scope& s) {
  std::vector<Var> out;
  for (const auto& [tensor, temporary] : s.temporaries) {
    if (!temporary.list) continue;
    out.insert(out.end(), {temporary.values, *temporary.marks, *temporary.list});
    if (temporary.hash) out.insert(out.end(), {temporary.hash->keys, temporary.hash->slots});
  }
  return out;
}

}  // namespace spdistal::lower
