// What makes a statement of index notation well formed, and the extents of its variables.
#pragma once
#include <map>

#include "notation/index_notation.hpp"
#include "spdistal/result.hpp"

namespace spdistal::notation {

/// Refuses wrong numbers of indices, sums whose variable escapes or that may be meant in two ways, functions without
/// meaning for their type, and results that cannot hold the value.
Result<> check(const Assignment& assignment);

/// Does a variable stand in it twice: is it a diagonal? Others assigned to leave no element out.
bool is_diagonal(const Access& access);

/// The extent of every variable, from the tensors it indexes. Sizes that differ are refused by name: "j is 100 in B's
/// second dimension and 99 in c's first".
Result<std::map<IndexVar, Extent>> infer_extents(const Assignment& assignment);

}  // namespace spdistal::notation
