// Where a statement has no effect: the question behind walking only what a tensor stores.
#pragma once
#include "notation/concrete.hpp"

namespace spdistal::schedule {

/// Does the statement leave everything as it is wherever `access` is zero? Products vanish with any factor, sums with all
/// terms; sqrt(0), abs(0), min and max of zeros are zero; a result that starts at zero may be set to zero.
bool vanishes_with(const notation::Stmt& stmt, const notation::Access& access);

/// The part of the statement that does not vanish, for an error; empty where all of it does.
std::optional<notation::Expr> survivor(const notation::Stmt& stmt, const notation::Access& access);

}  // namespace spdistal::schedule
