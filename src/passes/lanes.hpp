// Inside the mapping of kernels to grids: one item of a parallel loop by several lanes of a warp.
#pragma once
#include <optional>

#include "ir/nodes.hpp"
#include "passes/launches.hpp"

namespace spdistal::passes {

/// How many lanes an item is worth: 1, 2, 4, … 32. One where its loops cannot be divided.
int lanes_for(const ir::Stmt& body, const GridMapping& mapping);

/// The body of an item as `width` lanes run it together, `lane` being which one a thread is. Innermost loops are divided
/// among them; what is around these all lanes do alike, but the first alone stores.
///
///   sum = 0                                 sum = 0
///   for p in lo .. hi                       part = 0
///     sum = sum + B[p] * …           →      for p in lo + lane .. hi by 8
///   a[i] = sum                                part = part + B[p] * …
///                                           sum = sum + warp_add<8>(part)
///                                           if lane == 0
///                                             a[i] = sum
///
///   allocate sums: double[32]               allocate sums: double[4]
///   for p in lo .. hi                       for p in lo .. hi
///     for k in 0 .. 32               →        for q in 0 .. 4
///       sums[k] += B[p] * C[… + k]              sums[q] += B[p] * C[… + q * 8 + lane]
///
/// Nothing where an item cannot be divided so. Full: where lanes take turns of a loop together, these are mostly as many as they
/// are; the last is taken again where there are fewer, and nothing branches.
enum class LaneTurns : uint8_t { Any, Full };
std::optional<ir::Stmt> by_lanes(const ir::Stmt& body, const ir::Var& lane, int width, const GridMapping& mapping,
                                 LaneTurns turns = LaneTurns::Any);
/// The same where one thread takes an item: sums ask for what several turns load at once.
ir::Stmt by_one_lane(const ir::Stmt& body, const GridMapping& mapping);

}  // namespace spdistal::passes
