// Copies of elements that several pieces hold, brought up to date.
#pragma once
#include "runtime/region/exchange.hpp"
#include "runtime/region/region.hpp"

namespace spdistal::runtime {

/// Collective. The exchange that brings every replica the value of its owner.
Exchange replica_refresh(Transport& transport, const Region& region, Traffic* traffic, DeviceMoves* moves = nullptr);

}  // namespace spdistal::runtime
