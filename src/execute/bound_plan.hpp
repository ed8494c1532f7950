// A plan bound to data, and run: walks the actions of the plan, in order, and calls the runtime. What is known of the data once
// its patterns stand (partitions, exchanges, kernels) is made when it is bound, of actions inside of steps at the first run, and
// kept.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execute/binding.hpp"
#include "execute/result/bound_result.hpp"

namespace spdistal {

class BoundPlan {
 public:
  /// Sizes are known. `shares` are those of the result's home. What is compiled stays where it is.
  BoundPlan(Process& process, Compiled& compiled, Shares shares) : binding_(process, compiled, std::move(shares)) {}

  /// Collective. Prepares all for operands as they are; nothing happens where they have the patterns of the last time.
  void bind(const Homes& operands);
  /// Collective. Computes the result into its home: `result` is what it held before, if it held anything. `arguments` are
  /// the statement's numbers of the host.
  void compute(const Homes& operands, std::optional<Home>& result, const std::vector<Scalar>& arguments = {});

  /// The text of the kernel.
  std::string kernel();
  /// Collective. What is known of the plan now that it is bound.
  plan::PlanFacts facts();
  const Shares& shares() const { return binding_.shares; }
  /// What colours of this rank have of the operands, by access; of those that steps cut, in the last step.
  const Tasks::Pieces& pieces() const { return binding_.fetches.pieces(); }
  Tasks& tasks() { return *binding_.tasks; }
  /// For tests, of runs to come.
  void show_to(Onlooker onlooker) { binding_.launcher.show_to(std::move(onlooker)); }
  /// Adds to the run to come what was sent elsewhere to prepare it.
  void note_sent(const runtime::Ledger& sent);
  /// Collective. Of the last run.
  Report report() const;

 private:
  std::vector<NumberedGroup> numbered_by_all();
  void plan_operands(const Homes& operands);

  void perform(const std::vector<plan::Action>& actions, PlanRun& run);
  void partition(size_t access, PlanRun& run);
  void fetch(size_t access, PlanRun& run);
  void take_steps(const plan::ForSteps& steps, PlanRun& run);

  Binding binding_;
  std::unique_ptr<BoundResult> result_;
  std::map<notation::TensorVar, uint64_t> patterns_;  // that this is bound to
};

}  // namespace spdistal
