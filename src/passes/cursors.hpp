// What passes recognise of loops: statements one by one, and variables that go up step by step.
#pragma once
#include <vector>

#include "ir/build.hpp"

namespace spdistal::passes {

/// Of a block, else the statement itself.
inline std::vector<ir::Stmt> statements(const ir::Stmt& body) {
  if (auto* block = body.as<ir::Block>()) return block->stmts;
  return {body};
}

/// The statements of blocks within blocks, one after the other, without comments.
inline std::vector<ir::Stmt> flat(const ir::Stmt& s) {
  std::vector<ir::Stmt> out;
  if (auto* block = s.as<ir::Block>()) {
    for (const ir::Stmt& part : block->stmts)
      for (ir::Stmt& inner : flat(part)) out.push_back(std::move(inner));
  } else if (!s.is<ir::Comment>()) {
    out.push_back(s);
  }
  return out;
}

/// Does it declare something that is never assigned?
inline bool is_constant(const ir::Stmt& s) {
  auto* declared = s.as<ir::Declare>();
  return declared && declared->mutability == ir::Mutability::Const;
}

/// Is it cursor = cursor + 1?
inline bool is_increment(const ir::Assign& n, const ir::Var& cursor) {
  auto* sum = n.value.as<ir::Binary>();
  return sum && n.var.symbol == cursor.symbol && sum->op == ir::BinaryOp::Add && sum->a == ir::Expr(cursor) &&
         ir::constant_integer(sum->b) == 1;
}
inline ir::Expr without_cast(const ir::Expr& e) {
  auto* cast = e.as<ir::Cast>();
  return cast ? cast->value : e;
}
/// Is it the cursor, of whatever width?
inline bool is_at(const ir::Expr& index, const ir::Var& cursor) { return without_cast(index) == ir::Expr(cursor); }

}  // namespace spdistal::passes
