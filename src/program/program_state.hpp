// What a program from text consists of.
#pragma once
#include <complex>
#include <map>
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
  std::map<std::string, int64_t> sizes = {};          // of variables, as given
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
/// Dimensions whose sizes nothing tells are as small as windows of them allow: b(i+1) with 9 values of i, be they given, is
/// of size 10.
void fit_sizes(const notation::Assignment& assignment, const std::map<std::string, int64_t>& given);

/// A value of any type.
std::complex<double> as_complex(const Storage& storage, int64_t position);

}  // namespace spdistal
