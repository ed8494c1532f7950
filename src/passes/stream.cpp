// stream: rows of a result that are written whole and never read go past the caches where the result is larger than these.
//
//   requires  vectors have been made
//   ensures   the stores of a block that together write a row of whole cache lines are streams
//
//   const offset: int64 = i * 16                       const offset: int64 = i * 16
//   a[offset] = sums0         (8 doubles)        →     a[offset] stream= sums0
//   a[offset + 8] = sums1     (8 doubles)              a[offset + 8] stream= sums1
//
// A line that is written whole need not be read from memory first: a third less traffic where a result is written once
// for each element read.
#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

constexpr int64_t line_bytes = 64;

/// Where a store begins: a multiple of a row, and how far into the row.
struct StorePlace {
  Expr row;
  int64_t within;
};
StorePlace place_of(const Expr& index) {
  auto* sum = index.as<Binary>();
  std::optional<int64_t> within = sum && sum->op == BinaryOp::Add ? constant_integer(sum->b) : std::nullopt;
  return within ? StorePlace{sum->a, *within} : StorePlace{index, 0};
}

/// The literal that an expression is a multiple of; constants of the block are looked through.
int64_t multiple_of(const Expr& e, const std::map<Symbol, Expr>& constants) {
  if (auto* v = e.as<Var>()) {
    auto known = constants.find(v->symbol);
    return known == constants.end() ? 1 : multiple_of(known->second, {});
  }
  auto* product = e.as<Binary>();
  if (!product || product->op != BinaryOp::Mul) return 1;
  return constant_integer(product->b).value_or(1);
}

/// Parameters that are written by vectors and nothing else.
std::set<Symbol> written_only(const Function& f) {
  std::set<Symbol> out;
  for (const Param& p : f.params)
    if (p.source.field == Source::Field::Vals && p.var.type.form == Type::Form::Array) out.insert(p.var.symbol);
  each<Load>(f.body, [&](const Load& n) { out.erase(n.array.symbol); });
  each<Search>(f.body, [&](const Search& n) { out.erase(n.array.symbol); });
  each<Resize>(f.body, [&](const Resize& n) { out.erase(n.array.symbol); });
  each<Append>(f.body, [&](const Append& n) { out.erase(n.to.symbol); });
  each<Store>(f.body, [&](const Store& n) {
    if (n.mode != StoreMode::Set) out.erase(n.array.symbol);
  });
  return out;
}

}  // namespace

Function stream(const Function& f, const Target&) {
  std::set<Symbol> arrays = written_only(f);
  if (arrays.empty() || runs_on_gpu(f.body)) return f;
  Stmt body = rewrite(f.body, [&](const Block& n) -> Stmt {
    std::map<Symbol, Expr> constants;
    std::vector<std::pair<const Store*, StorePlace>> rows;
    for (const Stmt& s : n.stmts) {
      if (auto* constant = s.as<Declare>(); constant && constant->mutability == Mutability::Const)
        constants.emplace(constant->var.symbol, constant->init);
      auto* store = s.as<Store>();
      if (store && arrays.contains(store->array.symbol) && type_of(store->value).lanes > 1)
        rows.emplace_back(store, place_of(store->index));
    }
    auto whole = [&](const Store& one) {
      StorePlace at = place_of(one.index);
      int64_t lanes = type_of(one.value).lanes, row = multiple_of(at.row, constants);
      if (row * int64_t(size_of(one.array.type.scalar)) % line_bytes != 0) return false;
      std::set<int64_t> written;
      for (const auto& [store, place] : rows)
        if (store->array.symbol == one.array.symbol && place.row == at.row && type_of(store->value).lanes == lanes)
          written.insert(place.within);
      for (int64_t k = 0; k < row; k += lanes)
        if (!written.contains(k)) return false;
      return int64_t(written.size()) * lanes == row;
    };
    std::vector<Stmt> out;
    for (const Stmt& s : n.stmts) {
      auto* store = s.as<Store>();
      bool listed = store && std::any_of(rows.begin(), rows.end(), [&](const auto& r) { return r.first == store; });
      if (listed && whole(*store)) out.push_back(Store{StoreMode::Stream, store->array, store->index, store->value});
      else out.push_back(s);
    }
    return Block{std::move(out)};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
