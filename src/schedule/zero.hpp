// Where a statement has no effect: the question behind walking only what a tensor stores.
#pragma once
#include "notation/concrete.hpp"

namespace spdistal::schedule {

/// The part of the statement that does not vanish, for an error. Empty where all of it leaves everything as it is wherever `access`
/// stores nothing: what is assigned has no value of its own there (`notation/presence.hpp`), and what it is then changes nothing: 0
/// is added, inf is taken into a minimum, a result that starts at its fill value may be set to it.
std::optional<notation::Expr> survivor(const notation::Stmt& stmt, const notation::Access& access);

}  // namespace spdistal::schedule
