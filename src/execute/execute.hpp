// A compiled statement run on data, any number of times: with one kernel where everything is whole and in this process, over
// pieces otherwise.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "execute/bound_plan.hpp"

namespace spdistal {

class Execution {
 public:
  Execution(Process& process, Compiled compiled);

  Compiled& compiled() { return compiled_; }

  /// Collective. Prepares all for operands as they are, and for a result that lives in `shares`; sizes are known.
  void prepare(Homes operands, const Shares& shares);
  /// Collective. Computes the result into its home: `result` is what it held before, if it held anything. `arguments` are
  /// the statement's numbers of the host, whatever the one had that this was made for.
  void compute(Homes operands, const Shares& shares, std::optional<Home>& result,
               const std::vector<Scalar>& arguments = {});

  // Of one that was prepared.
  /// The text of the kernel; conversions have kernels of their own, which run first.
  std::string kernel() const;
  /// Collective. The schedule where nobody gave one, with the reason, and the plan.
  std::string plan();
  /// Collective. Of the last run.
  Report report() const;

 private:
  // A converted operand, made anew when the original changes.
  struct CopiedOperand {
    notation::TensorVar from;
    std::unique_ptr<Execution> execution;
    std::optional<Home> home = {};
    uint64_t version = 0;  // of the original's contents that it holds
  };

  /// What was sent for it.
  runtime::Ledger add_copies(Homes& operands);
  bool is_whole(const Homes& operands, const Shares& shares) const;
  void prepare_pieces(const Homes& operands, const Shares& shares, const runtime::Ledger& sent);
  /// The device that whole tensors are computed on: of several the first.
  DevicePlace device() const;
  const Leaf& whole_leaf(const Homes& operands);
  void compute_whole(const Homes& operands, const Shares& shares, std::optional<Home>& result,
                     const std::vector<Scalar>& arguments);
  plan::PlanFacts whole_facts() const;
  Report whole_report() const;
  std::string own_kernel() const;

  Process& process_;
  Compiled compiled_;
  bool has_distributed_loops_;
  std::vector<CopiedOperand> copies_;
  const Leaf* whole_ = nullptr;  // the kernel of the last run, where it was whole
  struct WholeRun {
    int64_t non_zeros = 0;
    double seconds = 0, compile_seconds = 0;
  };
  WholeRun last_;                      // likewise
  double compile_seconds_ = 0;         // of kernels for whole tensors since the last run
  std::unique_ptr<BoundPlan> pieces_;  // null where no run was over pieces
};

}  // namespace spdistal
