// Kernel IR as text for people: one statement a line, blocks by indentation, operators with the parentheses they need.
#pragma once
#include <string>

#include "ir/nodes.hpp"

namespace spdistal::ir {

std::string print(const Expr& e);
std::string print(const Stmt& s);
std::string print(const Function& f);

/// "+", "min", "<", …
std::string_view spelling(BinaryOp op);
/// How tightly an operator binds, as in C: higher binds tighter. Min and Max are written as calls.
int precedence(BinaryOp op);
inline constexpr int unary_precedence = 11, primary_precedence = 12;

std::string_view name_of(const Source& source);

}  // namespace spdistal::ir
