// A function as the list of what it does, one step after the other: launches, which threads or the blocks of a GPU run, and
// between them what is done once: constants, sums and scans, room for results, sorting. Where a condition decides which
// steps follow, it is a step with two lists.
//
//   most = …                      between
//   if most <= limit              if most <= limit
//     resize A to most              between
//     parallel t in 0 .. shares     launch t
//     shrink A to total             between
//   else …                        else …
//
// On the host a function is printed as it is; a device makes a grid of each launch and runs what is between on itself.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/nodes.hpp"

namespace spdistal::ir {

struct Step {
  enum class Kind : uint8_t { Launch, Between, Choice };
  Kind kind;
  std::vector<Stmt> stmts = {};  // of a launch: that alone
  /// Of a choice.
  std::optional<Expr> condition = {};
  std::vector<Step> then = {}, otherwise = {};
};

/// All of the function's statements, in their order. Parts that are defined are between: they do nothing by themselves.
std::vector<Step> steps(const Function& f);

/// One line per step, as in the drawing above.
std::string print(const std::vector<Step>& steps);

}  // namespace spdistal::ir
