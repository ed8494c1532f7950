// Machines and distributions as text. What is printed parses to the same thing.
#pragma once
#include <string>

#include "base/names.hpp"
#include "spdistal/distribution.hpp"

namespace spdistal {

/// "4", "2x3,gpu", "2/4,gpu"; an unbound Param prints its name.
std::string print(const Machine& machine);
/// "4"; a parameter without a value is its name, or "?" where it has none.
std::string print(const Extent& extent);

/// The parts of one distribution with its names chosen consistently.
class DistributionPrinter {
 public:
  explicit DistributionPrinter(const Distribution& distribution);

  std::string name(const DistVar& var) const;
  std::string dims() const;        // "x, y"
  std::string placements() const;  // "M(x, ~f)/(y)"
  /// "B(x,y) fuse(x,y,f) -> M(~f)".
  std::string statement(std::string_view tensor = "T") const;

 private:
  const Distribution& distribution_;
  mutable Names names_;
};

}  // namespace spdistal
