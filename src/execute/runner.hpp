// A statement's loops with all that is made ready to run them: one kernel where everything is whole and in this process,
// an execution over pieces otherwise.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "codegen/jit.hpp"
#include "compile/leaf.hpp"
#include "execute/execute.hpp"
#include "notation/concrete.hpp"
#include "plan/plan.hpp"
#include "tensor/home.hpp"

namespace spdistal {

class Runner {
 public:
  Runner(Process& process, notation::ConcreteStatement statement)
      : process_(&process), statement_(std::move(statement)) {}

  const notation::ConcreteStatement& statement() const { return statement_; }

  /// Collective. Compiles for operands as they are, and for a result that lives in `shares`.
  void prepare(const Homes& operands, const Shares& shares);
  /// Collective. Computes the result into its home: `result` is what it held before, if it held anything. `arguments` are
  /// the statement's numbers of the host, whatever the one had that this was made for.
  void compute(const Homes& operands, const Shares& shares, std::optional<Home>& result,
               const std::vector<Scalar>& arguments = {});

  // Of one that was prepared.
  std::string kernel() const;
  plan::Plan plan(notation::Printer& names) const;
  /// Collective. Of the last run.
  std::string report() const;

 private:
  struct Compiled {
    Leaf leaf;
    codegen::Kernel kernel;
    std::string widths;  // of the operands' index arrays that it is for
  };

  bool is_local(const Homes& operands, const Shares& shares) const;
  const Compiled& compiled_for(const Storages& storages);

  Process* process_;
  notation::ConcreteStatement statement_;
  std::optional<Compiled> compiled_ = {};
  std::unique_ptr<Execution> execution_ = {};
};

}  // namespace spdistal
