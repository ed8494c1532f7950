#include "codegen/rows.hpp"

#include "ir/analysis.hpp"
#include "ir/build.hpp"

namespace spdistal::codegen {

using namespace ir;

std::optional<Distance> distance_of(const Expr& index) {
  if (auto* v = index.as<Var>()) return Distance{*v, 0};
  auto* sum = index.as<Binary>();
  if (!sum || sum->op != BinaryOp::Add || !sum->a.is<Var>()) return std::nullopt;
  std::optional<int64_t> distance = constant_integer(sum->b);
  if (!distance) return std::nullopt;
  return Distance{*sum->a.as<Var>(), *distance};
}

RowArrays rows_at(const Declare& offset, std::span<const Stmt> scope) {
  std::map<Symbol, std::pair<Var, int>> taken;
  int all = 0;
  std::set<Symbol> moved;
  auto count = [&](const Var& array, const Expr& index, int lanes) {
    std::optional<Distance> at = distance_of(index);
    if (lanes > 1 && at && at->offset.symbol == offset.var.symbol)
      taken.try_emplace(array.symbol, array, 0).first->second.second++;
  };
  for (const Stmt& s : scope) {
    each<Load>(s, [&](const Load& n) { count(n.array, n.index, n.lanes); });
    each<Store>(s, [&](const Store& n) { count(n.array, n.index, type_of(n.value).lanes); });
    each<Resize>(s, [&](const Resize& n) { moved.insert(n.array.symbol); });
    std::map<Symbol, int> read = uses(s);
    if (auto here = read.find(offset.var.symbol); here != read.end()) all += here->second;
  }
  RowArrays out{{}, false};
  for (const auto& [symbol, found] : taken) {
    if (found.second < 2 || moved.contains(symbol)) continue;
    out.arrays.push_back(found.first);
    all -= found.second;
  }
  out.only_use = all == 0;
  return out;
}

}  // namespace spdistal::codegen
