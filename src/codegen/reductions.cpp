#include "codegen/reductions.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/require.hpp"
#include "ir/print.hpp"

namespace spdistal::codegen {

using namespace ir;

std::string reduction_clauses(const For& loop, ScopedNames& names) {
  std::set<Symbol> inside;
  each<Declare>(loop.body, [&](const Declare& n) { inside.insert(n.var.symbol); });
  std::map<BinaryOp, std::vector<std::string>> found;
  std::set<Symbol> seen;
  each<Assign>(loop.body, [&](const Assign& n) {
    if (inside.contains(n.var.symbol)) return;
    auto* update = n.value.as<Binary>();
    require(update && update->a == Expr(n.var), "a vector loop updates outer variables as x = x op e");
    if (seen.insert(n.var.symbol).second) found[update->op].push_back(names.of(n.var));
  });
  std::string out;
  for (const auto& [op, vars] : found) out += fmt::format(" reduction({}: {})", spelling(op), join(vars, ", "));
  return out;
}

}  // namespace spdistal::codegen
