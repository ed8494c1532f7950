// What a program from text consists of.
#pragma once
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/state.hpp"
#include "spdistal/program.hpp"

namespace spdistal {

struct Program::State {
  ProgramText text;
  std::shared_ptr<StatementState> statement;
  std::vector<notation::TensorVar> placed;            // tensors with a distribution, in the order given
  std::vector<std::shared_ptr<TensorState>> tensors;  // all of the statement, by first use
  std::optional<Home> before = {};                    // what the result held, where the statement reads it

  std::shared_ptr<TensorState> find(const notation::TensorVar& var) const {
    for (const auto& tensor : tensors)
      if (tensor->var == var) return tensor;
    return nullptr;
  }
  std::shared_ptr<TensorState> find(const std::string& name) const {
    for (const auto& tensor : tensors)
      if (tensor->var.symbol().name() == name) return tensor;
    return nullptr;
  }
  TensorState& result() const { return *find(statement->assignment.lhs.tensor); }
};

/// Sizes that data gave to one use of a variable hold for all its uses.
void spread_sizes(const notation::Assignment& assignment);

/// A value of any type.
std::complex<double> as_complex(const Storage& storage, int64_t position);

}  // namespace spdistal
