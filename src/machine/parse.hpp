// Machines and distributions from text, as the command line takes them. Errors are UserErrors that point at the place.
#pragma once
#include <string>
#include <string_view>

#include "spdistal/distribution.hpp"

namespace spdistal {

/// "4", "2x2", "4,gpu", "2/4,gpu".
Machine parse_machine(std::string_view text);

struct ParsedDistribution {
  std::string tensor;
  Distribution distribution;
};
/// "B(x,y) -> M(x)", "B(x,y) fuse(x,y,f) -> M(~f)", "B(x,y) -> M(x)/(y)".
ParsedDistribution parse_distribution(std::string_view text, const Machine& machine);

}  // namespace spdistal
