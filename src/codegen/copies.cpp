#include "codegen/copies.hpp"

#include "ir/analysis.hpp"

namespace spdistal::codegen {

using namespace ir;

namespace {

/// Goes through statements in order, and takes out arrays that are used while copies to them may be under way.
struct Uses {
  std::set<Symbol>& arrays;
  std::set<Symbol> under_way = {};

  void operator()(const Expr& e) {
    each<Load>(e, [&](const Load& n) { use(n.array.symbol); });
    each<Search>(e, [&](const Search& n) { use(n.array.symbol); });
  }
  void operator()(const Stmt& s) {
    auto* barrier = s.as<Barrier>();
    auto* store = s.as<Store>();
    auto* claim = s.as<Claim>();
    auto* sort = s.as<Sort>();
    if (barrier && barrier->of == BarrierOf::Block) under_way.clear();
    if (claim) arrays.erase(claim->array.symbol);
    if (sort) arrays.erase(sort->array.symbol);
    // Turns of loops come behind each other; what is in loops and branches may not be come to.
    bool repeated = s.is<For>() || s.is<While>(), sure = !repeated && !s.is<If>();
    std::set<Symbol> before = under_way;
    for (int turn = 0; turn < (repeated ? 2 : 1); turn++)
      children(s, [&](const auto& child) {
        (*this)(child);
        if (!sure) under_way.insert(before.begin(), before.end());
      });
    if (store && arrays.contains(store->array.symbol)) under_way.insert(store->array.symbol);
  }
  void use(const Symbol& array) {
    if (under_way.contains(array)) arrays.erase(array);
  }
};

}  // namespace

bool is_copy(const Store& n, const std::set<Symbol>& shared) {
  auto* from = n.value.as<Load>();
  if (!from || n.mode != StoreMode::Set || !shared.contains(n.array.symbol)) return false;
  size_t bytes = size_of(n.array.type.scalar);
  return from->once && from->lanes == 1 && from->array.type.form == Type::Form::ConstArray &&
         (bytes == 4 || bytes == 8 || bytes == 16);
}

std::set<Symbol> copied_arrays(const Stmt& grid) {
  std::set<Symbol> shared, out;
  each<Allocate>(grid, [&](const Allocate& n) {
    if (n.space == MemorySpace::Shared) shared.insert(n.array.symbol);
  });
  each<Store>(grid, [&](const Store& n) {
    if (is_copy(n, shared)) out.insert(n.array.symbol);
  });
  each<Store>(grid, [&](const Store& n) {
    if (!is_copy(n, shared)) out.erase(n.array.symbol);
  });
  if (!out.empty()) Uses{out}(grid);
  return out;
}

}  // namespace spdistal::codegen
