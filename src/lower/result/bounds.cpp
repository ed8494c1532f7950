// What operands store bounds what there will be of a result.
#include <algorithm>
#include <set>

#include "lower/active.hpp"
#include "lower/bind.hpp"
#include "lower/result/appended.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

std::optional<std::vector<int>> bounding_tensors(const Context& c, const MadeLevels& made) {
  if (made.dense > 1) return {};
  std::vector<IndexVar> ours = storage_order(c.lhs);
  const std::vector<LevelFormat>& levels = c.lhs.tensor.format().levels();
  auto same_kind = [](const LevelFormat& a, const LevelFormat& b) {
    const KernelFunctions& theirs = kernel_functions(b);
    return stores_all(kernel_functions(a)) ? stores_all(theirs) : theirs.weight != nullptr;
  };
  std::set<int> alike;  // operands with the levels of the result
  for (int k = 0; k < c.operands(); k++) {
    const Access& access = c.access(k + 1);
    std::vector<IndexVar> theirs = storage_order(access);
    if (ours.size() <= theirs.size() && std::equal(ours.begin(), ours.end(), theirs.begin()) &&
        std::equal(levels.begin(), levels.end(), access.tensor.format().levels().begin(), same_kind))
      alike.insert(k);
  }
  Formula where = where_active(c, outermost(c), c.statement.body, alike);
  // What is never there is counted, too: a workspace of zeros is walked all the same.
  if (where.is_always() || where.is_never()) return {};
  std::vector<int> out;
  for (const std::set<int>& alternative : where.alternatives()) out.push_back(*alternative.begin() + 1);
  return out;
}

std::vector<Expr> bounds_of_levels(Context& c, const MadeLevels& made, const std::vector<int>& tensors,
                                   const std::function<Segment(int tensor)>& rows) {
  std::vector<Expr> out(made.count, ir::int64(0));
  for (int tensor : tensors) {
    Segment stored = rows(tensor);
    for (size_t k = 0; k < made.count; k++) {
      size_t level = made.dense + k;
      stored = children_of(c.functions(tensor, level), c.level_of(tensor, level), stored);
      out[k] = out[k] + (stored.end - stored.begin);
    }
  }
  return out;
}

}  // namespace spdistal::lower
