// How far loops reach, once sizes are known.
#pragma once
#include "notation/concrete.hpp"
#include "spdistal/result.hpp"

namespace spdistal::schedule {

/// Refuses a fused variable with more values than 64 bits count, unless it is found from positions: those are as many as
/// are stored.
Result<> check_extents(const notation::ConcreteStatement& statement);

}  // namespace spdistal::schedule
