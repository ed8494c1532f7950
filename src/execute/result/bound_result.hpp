// The result of a plan that is bound to data: where its pieces are computed, and how they come to be in its home. Made anew
// whenever the plan is bound.
#pragma once
#include <memory>

#include "execute/binding.hpp"

namespace spdistal {

class BoundResult {
 public:
  virtual ~BoundResult() = default;

  /// Collective. A run begins; operands are planned, and nothing is on its way yet.
  virtual void begin(PlanRun& run) = 0;
  /// Collective. A step is entered that cuts the result: what is computed next has other targets.
  virtual void enter_step() {}
  /// Collective. The leaf runs for every colour, on operands that may still be under way.
  virtual void launch(PlanRun& run) = 0;
  virtual void take_home(PlanRun& run) = 0;

  virtual plan::Returns returns() const = 0;
  /// Where it lives after a run.
  virtual const Shares& home_shares() const = 0;
};

/// Collective. Once what no step cuts is planned.
std::unique_ptr<BoundResult> bound_result(Binding& binding);

}  // namespace spdistal
