// Statements as text over tensors in memory: what other languages build on.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spdistal/tensor.hpp"

namespace spdistal {

/// What is said besides a statement and the tensors that are there, each in its own language, as on the command line.
struct EvaluateText {
  std::vector<std::string> formats = {};        // "A:ds"; of a result without one: see evaluate
  std::vector<std::string> types = {};          // "A:float"; without: what its operands promote to
  std::vector<std::string> sizes = {};          // "i=1000", where no operand tells
  std::optional<std::string> machine = {};      // "4"
  std::vector<std::string> distributions = {};  // "A(x,y) -> M(x)"
  std::string schedule = {};                    // "divide(i,io,ii,M.x); distribute(io)"
};

/// A statement that was evaluated.
class Evaluation {
 public:
  const TensorBase& result() const { return result_; }
  template <Number T>
  operator Tensor<T>() const {
    return Tensor<T>(result_);
  }

  /// Local. The statement, its loops, and its loops after the schedule.
  std::string statement() const;
  /// Local. The text of the kernel.
  std::string kernel() const;
  /// Collective. How it is distributed.
  std::string plan() const;
  /// Collective. What the last run of the statement did.
  Report report() const;

  struct State;
  Evaluation(std::shared_ptr<State> state, TensorBase result) : state_(std::move(state)), result_(std::move(result)) {}

 private:
  std::shared_ptr<State> state_;
  TensorBase result_;
};

/// Collective. Computes a statement at once:
///
///   Tensor<double> a = evaluate("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", c}});
///
/// Its result is a new tensor, unless it is among those given, which is then assigned to. Where every term has a sparse
/// factor for each of its variables (the product of sparse matrices, their sum, one at the places of another), a new one is
/// stored sparse, its first level dense and the others compressed; else it is dense, as the product of a sparse matrix and
/// a dense one is, and a vector unless the factors are sparse vectors; `formats` says otherwise. The statement is
/// compiled once for tensors of the same types, formats and sizes, whichever they are. Throws UserError with the text
/// underlined.
Evaluation evaluate(const std::string& statement, const std::vector<std::pair<std::string, TensorBase>>& tensors,
                    const EvaluateText& how = {});

/// Collective. Tries schedules for such a statement on these tensors, which stay as they are (`TensorBase::tune`); evaluating it
/// takes the fastest from now on.
Tuned tune(const std::string& statement, const std::vector<std::pair<std::string, TensorBase>>& tensors,
           const EvaluateText& how = {}, const TuneOptions& options = {});

}  // namespace spdistal
