// Blocks of a variable that are cut by weight, found by the kernel that walks them: by bisection over what operands store.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

/// Where the block of a number begins and ends, once the number is known here. Where loops around the kernel cut the variable,
/// it is one of the blocks that they leave; what operands of the kernel store divides these.
std::optional<Segment> find_block(Context& c, const Scope& s, const notation::BlockStart& block);

/// A part of a range, of so many that have equal shares of what is stored at and below the first levels of operands.
Segment cut_by_weight(Context& c, const std::string& name, const std::vector<int>& operands, const Segment& range,
                      const ir::Expr& part, const ir::Expr& parts);

}  // namespace spdistal::lower
