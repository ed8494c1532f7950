// Small statements over small tensors, interpreted or compiled, on one thread and on three, against the dense evaluator.
#pragma once
#include <gtest/gtest.h>

#include <random>

#include "execute/call.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "notation/arithmetic.hpp"
#include "reference/evaluate.hpp"
#include "runtime/device/host_context.hpp"
#include "support/formats.hpp"
#include "support/program_case.hpp"
#include "support/random_tensor.hpp"

namespace spdistal::test {

inline reference::DenseArray draw(std::mt19937_64& random, const std::vector<int64_t>& dims, ScalarType type) {
  reference::DenseArray out(type, dims);
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (size_t k = 0; k < out.values.size(); k++)
    // Some rows are empty.
    if (number(0, 2) == 0 && (k * size_t(dims[0]) / out.values.size()) % 3 != 1)
      out.values[k] = notation::convert(Scalar(double(number(1, 3))), type);
  return out;
}

/// A statement over tensors "A:ds B:sss" whose variables i, j, k have these sizes.
struct SmallStatement {
  std::string statement, formats;
  std::vector<int64_t> sizes = {5, 7, 4};
  ScalarType type = ScalarType::Float64;
  std::string schedule = {};
};

inline ProgramCase as_case(const SmallStatement& from, std::mt19937_64& random) {
  ProgramCase out{from.statement, {}, {}};
  if (!from.schedule.empty()) out.commands = {from.schedule};
  for (size_t at = 0; at < from.statement.size(); at++) {
    size_t open = at + 1, close = from.statement.find(')', at);
    if (!std::isupper(from.statement[at]) || from.statement[open] != '(') continue;
    std::vector<int64_t> dims;
    for (char c : from.statement.substr(open, close - open))
      if (std::isalpha(c)) dims.push_back(from.sizes[size_t(c - 'i')]);
    std::string name(1, from.statement[at]);
    out.tensors.emplace(name, TensorCase{format_of(from.formats, name, dims.size()), draw(random, dims, from.type),
                                         std::vector<bool>(dims.size())});
  }
  return out;
}

using Caller = std::function<void(const Leaf& leaf, spd_call& call)>;
inline void interpreted(const Leaf& leaf, spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); }

/// Right with one thread and with three; gives the kernel.
inline lower::Lowered expect_right(const SmallStatement& of, const Caller& caller = interpreted, uint64_t seed = 1) {
  std::mt19937_64 random{seed};
  ProgramCase described = as_case(of, random);
  SCOPED_TRACE(describe(described));
  BuiltProgram program = build(described);
  StoredProgram stored(program);
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  Leaf leaf(program.statement, stored.storages);
  SCOPED_TRACE(ir::print(leaf.kernel().function));
  EXPECT_TRUE(ir::verify(leaf.kernel().function));
  for (int64_t threads : {1, 3}) {
    runtime::HostContext context(threads);
    Storage result = compute(leaf, stored.storages, context, [&](spd_call& call) { caller(leaf, call); });
    EXPECT_TRUE(verify(result));
    EXPECT_TRUE(to_array(result) == wanted.at(program.assignment.lhs.tensor)) << threads << " threads";
  }
  return leaf.kernel();
}

}  // namespace spdistal::test
