// Questions that passes ask of trees: what is read, what is changed, what stays the same.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "ir/nodes.hpp"

namespace spdistal::ir {

/// Is there a node of one of these kinds in a tree?
template <class... N, class Tree>
bool holds(const Tree& tree) {
  bool found = false;
  (each<N>(tree, [&](const N&) { found = true; }), ...);
  return found;
}

/// The variables and arrays that a statement declares, in order.
std::vector<Symbol> declared_in(const Stmt& s);

/// The variables from outside that a statement assigns to, in order.
std::vector<Var> assigned_outside(const Stmt& s);

/// Is there nothing in it but comments?
bool is_empty(const Stmt& s);

/// What a statement changes, declarations of its own included.
struct Changes {
  std::set<Symbol> variables;  // assigned or declared
  std::set<Symbol> arrays;     // stored to, sorted, resized, allocated
  bool by_others = false;      // a barrier: what other threads stored is seen behind it, in any array

  bool touches(const Expr& e) const;
};
Changes changes(const Stmt& s);

/// The variables and arrays from outside that a statement uses, in the order in which it names them first.
std::vector<Var> free_variables(const Stmt& s);

/// How often each symbol is read: as a variable, or as an array that is loaded, searched, stored to, …
std::map<Symbol, int> uses(const Stmt& s);

/// Are there loops over the blocks or threads of a GPU?
bool runs_on_gpu(const Stmt& s);

/// The operands of an expression that is a variable, an array access, …: how many nodes it has.
int size(const Expr& e);
bool has_loads(const Expr& e);  // Load or Search
/// Does it take all lanes of a GPU warp? Then it stays where they all come.
bool takes_warp(const Expr& e);
/// May it be computed where the program did not: no loads (bounds), no integer division (zero), no warp?
bool is_safe_anywhere(const Expr& e);

/// A variable from outside that a loop's body carries from one turn to the next other than by a reduction (updates
/// x = x op e by one operation, and no other use): what keeps a loop from being a vector loop, if anything does.
std::optional<Var> carried_variable(const Stmt& body);

/// How often a loop runs, where it is known.
std::optional<int64_t> trip_count(const For& loop);

}  // namespace spdistal::ir
