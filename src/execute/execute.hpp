// Runs a statement over the colours of a machine: walks its plan and calls the runtime. What is known of the data once
// its patterns stand (partitions, exchanges, kernels) is made at the first run and kept.
//
// A run: bring what the colours of this rank need, launch the leaf for each, take the results home. With steps, the
// first two are done for each step in turn.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "execute/report.hpp"
#include "execute/tasks.hpp"
#include "notation/concrete.hpp"
#include "process/process.hpp"

namespace spdistal {

class Execution {
 public:
  /// Sizes are known. `shares` are those of the result's home.
  Execution(Process& process, const notation::ConcreteStatement& statement, Shares shares);
  ~Execution();

  /// Collective. Prepares all for operands as they are; nothing happens where they have the patterns of the last time.
  void bind(const Homes& operands);
  /// Collective. Computes the result into its home: `result` is what it held before, if it held anything. `arguments` are
  /// the statement's numbers of the host.
  void compute(const Homes& operands, std::optional<Home>& result, const std::vector<Scalar>& arguments = {});

  const plan::Plan& plan() const;
  /// The text of the kernel.
  std::string kernel() const;
  /// Collective. Of the last run.
  Report report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace spdistal
