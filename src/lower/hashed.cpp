// Workspaces of a dimension far larger than what can be touched of it: a table with open addressing in the place of an
// array with an element for every coordinate.
//
//   coordinate  1000000007 ─► % places ─► 3 taken by another ─► 4 free: marks[4], keys[4] = 1000000007, values[4]
//
// At most as many coordinates are touched as the operands store of that dimension, whatever the row. Where eight times as
// many are fewer than the dimension, the table has twice as many places, and one: an odd number, since coordinates often
// lie a power of two apart. That is decided when the kernel runs; kernels for smaller dimensions do not even ask.
#include <fmt/format.h>

#include "lower/active.hpp"
#include "lower/temporaries.hpp"
#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// How many places the workspace of a where has at most, where that may be far fewer than there are coordinates.
std::optional<Room> hashed_room(Context& c, const Scope& s, const Where& where, const Assign& made) {
  const IndexVar& var = made.lhs.indices[0];
  std::optional<int64_t> most = made.lhs.tensor.dims()[0].value();
  if (!most || *most <= c.options.largest_dense_workspace) return {};
  // What was touched is read in its order, and nothing else is.
  auto* loop = where.consumer.as<Forall>();
  auto* read = loop ? loop->body.as<Assign>() : nullptr;
  auto* access = read ? read->rhs.as<Access>() : nullptr;
  if (!access || access->tensor != made.lhs.tensor || access->indices != std::vector{loop->var}) return {};
  std::map<int, size_t> levels;  // of operands that store coordinates of the dimension
  std::set<int> atoms;
  for (int k = 0; k < c.operands(); k++) {
    std::vector<IndexVar> vars = storage_order(c.access(k + 1));
    for (size_t level = 0; level < vars.size(); level++)
      if (vars[level] == var && !stores_all(c.functions(k + 1, level)))
        levels.insert_or_assign(k, level), atoms.insert(k);
  }
  Formula touched = where_active(c, s, made, atoms);
  if (touched.is_always()) return {};
  Expr stored = ir::int64(0);
  for (int k : touched.atoms()) stored = stored + c.stored_positions(k + 1, levels.at(k));
  std::string name = c.name(made.lhs.tensor);
  Var bound = c.f.constant(name + "_most", stored);
  Var hashed = c.f.constant(name + "_hashed", Expr(bound) * 8 < size(c, s, var));
  Var places = c.f.constant(name + "_places", ir::select(hashed, Expr(bound) * 2 + 1, size(c, s, var)));
  return Room{hashed, places};
}

}  // namespace

Rooms rooms_of_workspaces(Context& c, const Scope& s) {
  Rooms out;
  each<Where>(c.statement.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) {
      if (a.lhs.tensor.format().is_dense() || out.contains(a.lhs.tensor)) return;
      if (std::optional<Room> room = hashed_room(c, s, where, a)) out.emplace(a.lhs.tensor, *room);
    });
  });
  return out;
}

Expr find_slot(Context& c, const Temporary& temporary, const std::string& name, const Expr& coordinate) {
  if (!temporary.hash) return coordinate;
  const Temporary::Hash& hash = *temporary.hash;
  Var at = c.f.variable(name + "_slot", coordinate);
  c.f.when(hash.hashed, [&] {
    c.f.assign(at, coordinate % hash.places);
    Expr taken =
        ir::load(*temporary.marks, at) && ir::differ(ir::cast(ScalarType::Int64, ir::load(hash.keys, at)), coordinate);
    c.f.loop_while(
        taken, [&] { c.f.assign(at, ir::select(ir::equal(Expr(at) + 1, hash.places), ir::int64(0), Expr(at) + 1)); });
  });
  return at;
}

}  // namespace spdistal::lower
