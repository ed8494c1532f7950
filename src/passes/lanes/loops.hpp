// Inside the division among lanes: which loops are divided, and what is in them.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "ir/nodes.hpp"

namespace spdistal::passes {

/// Innermost loops that lanes can divide: over the elements of a row, each of which is one lane's; over what is added up; over
/// what is added up step by step, each turn with the sum of those before.
enum class LaneLoop : uint8_t { Row, Sum, Scan };
std::optional<LaneLoop> lane_loop(const ir::For& loop);

/// The loops of an item that lanes divide among them: all rows, or else all sums, or else the one scan.
std::vector<ir::For> divided_loops(const ir::Stmt& body);

/// The variables from outside that a loop's body adds to, where that is all it does to them.
std::optional<std::map<Symbol, ir::Assign>> sums_of(const ir::For& loop);

/// index == base + k, k the loop's variable and base free of what the loop changes.
std::optional<ir::Expr> base_of(const ir::Expr& index, const ir::For& loop);

/// Is all of it done in every turn: are there no branches, no choices?
bool is_unconditional(const ir::Stmt& body);

}  // namespace spdistal::passes
