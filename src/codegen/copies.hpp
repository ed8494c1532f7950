// What a thread of a GPU copies from the device's memory into shared memory while it goes on: it asks for all of it, and waits
// where its block does.
//
//   for q in thread .. n by 32                    for (…) copy_ahead(&B_staged[q], &B[from + q]);
//     B_staged[q] = B[from + q] (once)      →     wait_for_copies();
//   barrier                                       __syncthreads();
#pragma once
#include <set>

#include "ir/nodes.hpp"

namespace spdistal::codegen {

/// Is it such a copy: of an element that is read once, from an array that nobody writes, into shared memory?
bool is_copy(const ir::Store& n, const std::set<Symbol>& shared);

/// The arrays in shared memory that a grid fills by copies alone, and uses behind a barrier of its blocks alone.
std::set<Symbol> copied_arrays(const ir::Stmt& grid);

}  // namespace spdistal::codegen
