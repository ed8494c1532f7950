// Workspaces of a dimension far larger than what can be touched of it: a table with open addressing in the place of an
// array with an element for every coordinate.
//
//   coordinate  1000000007 ─► % places ─► 3 taken by another ─► 4 free: marks[4], keys[4] = 1000000007, values[4]
//
// At most as many coordinates are touched as the operands store of that dimension, whatever the row. Where eight times as
// many are fewer than the dimension, the table has twice as many places, and one: an odd number, since coordinates often
// lie a power of two apart. That is decided when the kernel runs; kernels for smaller dimensions do not even ask.
#include <fmt/format.h>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

std::optional<Lowerer::Room> Lowerer::hashed_room(const Where& where, const Assign& made) {
  const IndexVar& var = made.lhs.indices[0];
  std::optional<int64_t> most = made.lhs.tensor.dims()[0].value();
  if (!most || *most <= options_.largest_dense_workspace) return {};
  // What was touched is read in its order, and nothing else is.
  auto* loop = where.consumer.as<Forall>();
  auto* read = loop ? loop->body.as<Assign>() : nullptr;
  auto* access = read ? read->rhs.as<Access>() : nullptr;
  if (!access || access->tensor != made.lhs.tensor || access->indices != std::vector{loop->var}) return {};
  std::map<int, size_t> levels;  // of operands that store coordinates of the dimension
  std::set<int> atoms;
  for (int k = 0; k < int(states_.size()); k++) {
    const Format& format = kernel_.operands[size_t(k)].tensor.format();
    for (size_t level = 0; level < format.order(); level++)
      if (kernel_.operands[size_t(k)].indices[size_t(format.mode_order()[level])] == var &&
          !stores_all(functions(k + 1, level)))
        levels.insert_or_assign(k, level), atoms.insert(k);
  }
  made_where_.clear();
  Formula touched = where_active(made.rhs, atoms);
  if (touched.is_always()) return {};
  Expr stored = ir::int64(0);
  for (int k : touched.atoms()) stored = stored + stored_positions(k + 1, levels.at(k));
  std::string name = print_.name(made.lhs.tensor);
  Var bound = f_.constant(name + "_most", stored);
  Var hashed = f_.constant(name + "_hashed", Expr(bound) * 8 < size(var));
  Var places = f_.constant(name + "_places", ir::select(hashed, Expr(bound) * 2 + 1, size(var)));
  return Room{hashed, places};
}

Expr Lowerer::find_slot(const Temporary& temporary, const std::string& name, const Expr& coordinate) {
  if (!temporary.hash) return coordinate;
  const Temporary::Hash& hash = *temporary.hash;
  Var at = f_.variable(name + "_slot", coordinate);
  f_.when(hash.hashed, [&] {
    f_.assign(at, coordinate % hash.places);
    Expr taken =
        ir::load(*temporary.marks, at) && ir::differ(ir::cast(ScalarType::Int64, ir::load(hash.keys, at)), coordinate);
    f_.loop_while(taken,
                  [&] { f_.assign(at, ir::select(ir::equal(Expr(at) + 1, hash.places), ir::int64(0), Expr(at) + 1)); });
  });
  return at;
}

}  // namespace spdistal::lower
