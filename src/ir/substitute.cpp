#include "ir/substitute.hpp"

namespace spdistal::ir {
namespace {

template <class Tree>
Tree replaced(const Tree& tree, const std::map<Symbol, Expr>& by) {
  if (by.empty()) return tree;
  return rewrite(tree, [&](const Var& v) -> Expr {
    auto it = by.find(v.symbol);
    return it == by.end() ? Expr(v) : it->second;
  });
}

/// Renames variables wherever they stand, in nodes and as members of nodes: all that rewriting of expressions leaves.
struct Renamer {
  const std::map<Symbol, Symbol>& names;

  template <class T>
  T operator()(const T& value) {
    if constexpr (std::is_same_v<T, Symbol>) {
      auto it = names.find(value);
      return it == names.end() ? value : it->second;
    } else if constexpr (detail::is_handle<T>) {
      return std::visit([&](const auto& node) -> T { return (*this)(node); }, *value);
    } else if constexpr (detail::is_vector<T>) {
      T out;
      for (const auto& item : value) out.push_back((*this)(item));
      return out;
    } else if constexpr (detail::is_optional<T>) {
      return value ? T((*this)(*value)) : T();
    } else if constexpr (detail::Record<T>) {
      return std::apply([&](auto... member) { return T{(*this)(value.*member)...}; }, T::fields);
    } else {
      return value;
    }
  }
};

}  // namespace

Expr substitute(const Expr& e, const std::map<Symbol, Expr>& by) { return replaced(e, by); }
Stmt substitute(const Stmt& s, const std::map<Symbol, Expr>& by) { return replaced(s, by); }

Stmt renamed(const Stmt& s, const std::map<Symbol, Symbol>& names) { return names.empty() ? s : Renamer{names}(s); }

Stmt with_fresh_variables(const Stmt& s) {
  std::map<Symbol, Symbol> names;
  auto fresh = [&](const Var& v) { names.emplace(v.symbol, Symbol(v.symbol.name())); };
  each<Declare>(s, [&](const Declare& n) { fresh(n.var); });
  each<Allocate>(s, [&](const Allocate& n) { fresh(n.array); });
  each<For>(s, [&](const For& n) { fresh(n.var); });
  each<Parallel>(s, [&](const Parallel& n) { fresh(n.share); });
  each<Define>(s, [&](const Define& n) {
    names.emplace(n.name, Symbol(n.name.name()));
    for (const Var& v : n.values) fresh(v);
    for (const Var& v : n.places) fresh(v);
  });
  return names.empty() ? s : Renamer{names}(s);
}

}  // namespace spdistal::ir
