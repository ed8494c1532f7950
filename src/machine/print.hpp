// Machines and distributions as text. What is printed parses to the same thing.
#pragma once
#include <string>

#include "base/names.hpp"
#include "spdistal/distribution.hpp"
#include "spdistal/error.hpp"

namespace spdistal {

/// "4", "2x3,gpu", "2/4,gpu"; an unbound Param prints its name.
std::string print(const Machine& machine);
/// "4"; a parameter without a value is its name, or "?" where it has none.
std::string print(const Extent& extent);

/// A part of a distribution's text, for errors.
struct DistributionPart {
  enum class Kind : uint8_t { Dims, Dim, FusedPart, FusedName, Placements, Level, Placement };
  Kind kind;
  size_t first = 0, second = 0;  // the dimension; the fusion and its part; the level and its placement
  bool operator==(const DistributionPart&) const = default;
};

/// The parts of one distribution with its names chosen consistently.
class DistributionPrinter {
 public:
  explicit DistributionPrinter(const Distribution& distribution);

  std::string name(const DistVar& var) const;
  std::string dims() const;  // "x, y"
  /// "B(x,y) fuse(x,y,f) -> M(~f)".
  std::string statement(std::string_view tensor = "T") const;
  /// The same with a part underlined.
  Excerpt excerpt(const DistributionPart& part, std::string_view tensor = "T") const;

 private:
  std::string name(const Placement& placement) const;

  const Distribution& distribution_;
  mutable Names names_;
};

/// What is underlined of a printed distribution, shown over the text that it was read from.
Excerpt as_written(const Excerpt& printed, std::string_view text);

}  // namespace spdistal
