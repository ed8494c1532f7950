#include "passes/lanes/loops.hpp"

#include <set>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/carried.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool has_loops(const Stmt& s) { return holds<For, While>(s); }

/// Does it hold what the lanes of a group would get in each other's way with?
bool has_obstacles(const Stmt& s) { return holds<Break, Sort, Allocate>(s); }

}  // namespace

std::optional<std::map<Symbol, Assign>> sums_of(const For& loop) {
  std::set<Symbol> own;
  each<Declare>(loop.body, [&](const Declare& n) { own.insert(n.var.symbol); });
  if (carried_variable(loop.body)) return {};
  std::map<Symbol, Assign> out;
  bool legal = true;
  each<Assign>(loop.body, [&](const Assign& n) {
    if (own.contains(n.var.symbol)) return;
    auto* sum = n.value.as<Binary>();
    ScalarType type = n.var.type.scalar;
    legal &= sum && sum->op == BinaryOp::Add && type != ScalarType::Bool && !is_complex(type);
    out.emplace(n.var.symbol, n);
  });
  if (!legal) return {};
  return out;
}

std::optional<Expr> base_of(const Expr& index, const For& loop) {
  auto is_k = [&](const Expr& e) {
    auto* cast = e.as<Cast>();
    return e == Expr(loop.var) || (cast && cast->value == Expr(loop.var));
  };
  Changes inside = changes(loop.body);
  inside.variables.insert(loop.var.symbol);
  if (is_k(index)) return int64(0);
  auto* sum = index.as<Binary>();
  if (sum && sum->op == BinaryOp::Sub && is_k(sum->a) && !inside.touches(sum->b)) return zero(type_of(sum->b)) - sum->b;
  if (!sum || sum->op != BinaryOp::Add) return {};
  if (is_k(sum->b) && !inside.touches(sum->a)) return sum->a;
  if (is_k(sum->a) && !inside.touches(sum->b)) return sum->b;
  return {};
}

std::optional<LaneLoop> lane_loop(const For& loop) {
  if (has_loops(loop.body) || has_obstacles(loop.body) || is_gpu(loop.kind)) return {};
  bool stores = false, in_rows = true;
  each<Store>(loop.body, [&](const Store& n) {
    stores = true;
    in_rows &= is_atomic(n.mode) || base_of(n.index, loop).has_value();
  });
  if (!stores) {
    auto sums = sums_of(loop);
    return sums && !sums->empty() ? std::optional(LaneLoop::Sum) : std::nullopt;
  }
  std::set<Symbol> own;
  bool assigns = false;
  each<Declare>(loop.body, [&](const Declare& n) { own.insert(n.var.symbol); });
  each<Assign>(loop.body, [&](const Assign& n) { assigns |= !own.contains(n.var.symbol); });
  bool from_zero = constant_integer(loop.lo) == 0 && constant_integer(loop.step) == 1;
  bool apart = loop.kind == LoopKind::Vector || is_independent(loop);
  bool divisible = apart && in_rows && !assigns && from_zero;
  if (divisible) return LaneLoop::Row;
  bool scan = in_rows && constant_integer(loop.step) == 1 && is_unconditional(loop.body) && carried_sum(loop);
  return scan ? std::optional(LaneLoop::Scan) : std::nullopt;
}

std::vector<For> divided_loops(const Stmt& body) {
  std::vector<For> rows, sums, scans;
  each<For>(body, [&](const For& n) {
    if (auto kind = lane_loop(n)) (*kind == LaneLoop::Row ? rows : *kind == LaneLoop::Sum ? sums : scans).push_back(n);
  });
  if (!rows.empty()) return rows;
  if (!sums.empty()) return sums;
  // Another scan may have others do its turns.
  return scans.size() == 1 ? scans : std::vector<For>{};
}

bool is_unconditional(const Stmt& body) {
  bool certain = !holds<If, For, While, Select>(body);
  each<Binary>(body, [&](const Binary& n) { certain &= n.op != BinaryOp::And && n.op != BinaryOp::Or; });
  return certain;
}

}  // namespace spdistal::passes
