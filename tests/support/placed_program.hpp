// Statements over pieces from text, with data of their own: what named tests of distributed computation run.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "execute/bound_plan.hpp"
#include "notation/concrete.hpp"
#include "reference/array.hpp"
#include "runtime/transport/transport.hpp"
#include "support/leaves.hpp"

namespace spdistal::test {

struct PlacedText {
  std::string statement;                        // "a(i) = B(i,j) * c(j)"
  std::string formats = {};                     // "B:ds A:ss"; tensors that are not listed are dense
  std::map<std::string, int64_t> sizes;         // of the variables; windows go as far as they need to
  std::string machine = "1";                    // "4", "2x2"
  std::vector<std::string> distributions = {};  // "B(x,y) -> M(x)"; tensors that are not listed live in blocks by rank
  std::string schedule = {};
  /// Tensors whose pieces go to the colours the other way round, the last one first.
  std::vector<std::string> reversed = {};
};

struct PlacedProgram {
  notation::Assignment assignment;
  notation::ConcreteStatement statement;  // scheduled
  std::map<std::string, notation::TensorVar> tensors;
  std::vector<std::string> reversed;
};
/// Throws UserError where the text is refused.
PlacedProgram parse_placed(const PlacedText& text);

/// Small whole numbers, exact in any order of sums. Of a sparse tensor one element in `one_in` is stored, and nothing at
/// all where every coordinate along the first dimension is a multiple of three: empty rows.
reference::Arrays draw_data(const PlacedProgram& program, uint64_t seed, int64_t one_in = 3);

/// What becomes of a plan before it is run.
using ChangePlan = std::function<plan::Plan(plan::Plan)>;

/// A program on its way: homes for its tensors, and the execution. All of it is collective.
class PlacedRun {
 public:
  PlacedRun(runtime::Transport& transport, const PlacedProgram& program, const reference::Arrays& data,
            Leaves leaves = Leaves::Interpreted, const ChangePlan& change = {});

  void compute();
  /// Other values for a dense operand.
  void fill(const std::string& tensor, double value);
  const Home& home(const std::string& tensor) const;
  const Home& result() const { return *result_; }
  reference::DenseArray gathered_result();
  Report report() const { return bound_->report(); }
  const plan::Plan& plan() const { return compiled_.plan(); }

 private:
  runtime::Transport& transport_;
  PlacedProgram program_;
  Process process_;
  std::map<notation::TensorVar, Home> homes_;
  Compiled compiled_;
  std::optional<BoundPlan> bound_;
  std::optional<Home> result_;
};

/// Runs a program twice over its data and compares with the dense evaluator: empty, or what is wrong.
std::string find_fault(runtime::Transport& transport, const PlacedText& text, uint64_t seed,
                       Leaves leaves = Leaves::Interpreted, const ChangePlan& change = {});

}  // namespace spdistal::test
