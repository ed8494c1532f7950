// Statements in pieces by name: small sizes, drawn at random, cut by the machine of a schedule.
#pragma once
#include <gtest/gtest.h>

#include <random>

#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"
#include "oracle/in_pieces.hpp"
#include "schedule/parse.hpp"
#include "support/formats.hpp"

namespace spdistal::test {

/// Every variable has a size of its own, or all have the same one: where a tensor is indexed in two ways.
enum class Sizes { Own, Same };

struct Named {
  std::string name;       // a sentence
  std::string statement;  // "A(i,j) = B(i,k) * C(k,j)"
  std::string formats;    // "A:ds B:ds:1,0"; tensors that are not listed are dense
  std::string schedule;
  size_t outer = 1;  // so many loops run around the kernel
  Sizes sizes = Sizes::Own;
};
inline void PrintTo(const Named& named, std::ostream* out) { *out << named.statement << "  " << named.formats; }
inline std::string name_of(const ::testing::TestParamInfo<Named>& info) { return info.param.name; }

/// Is the size of the machine known when compiling, or perhaps only when running?
enum class MachineSize { Any, Known };

inline void check_named(const Named& named, uint64_t seed, const Caller& caller, MachineSize known = MachineSize::Any) {
  std::mt19937_64 random{seed};
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  std::map<std::string, Extent> sizes;
  int64_t common = seed <= 2 ? int64_t(seed) - 1 : number(2, 9);  // the first two seeds: no elements, and one
  auto size = [&](const IndexVar& var) {
    std::string name = Printer().name(var);
    if (!sizes.contains(name)) {
      Param param;
      int64_t n = named.sizes == Sizes::Same || seed <= 2 ? common : number(1, 9);
      param = n;
      sizes.emplace(name, number(0, 1) ? Extent(n) : Extent(param));
    }
    return sizes.at(name);
  };
  ParseScope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    std::vector<Extent> dims;
    for (const IndexVar& index : indices) dims.push_back(size(index));
    Format format = format_of(named.formats, name.text, indices.size());
    return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, dims, format});
  };
  Assignment assignment = parse_assignment(named.statement, scope);
  reference::Arrays arrays;
  std::string trace = "seed " + std::to_string(seed) + ":";
  for (const TensorVar& tensor : tensors(assignment)) {
    reference::DenseArray array = draw_array(random, tensor);
    for (int64_t n : array.dims) trace += " " + std::to_string(n);
    arrays.emplace(tensor, std::move(array));
    trace += ";";
  }
  int64_t parts = number(1, 5);
  Machine machine =
      number(0, 1) || known == MachineSize::Known ? Machine{Grid(parts, parts)} : Machine{Grid(Param("p"), Param("q"))};
  ConcreteStatement statement = concretize(assignment).value();
  statement = schedule::apply_text(named.schedule, {scope, &machine}, statement).statement;
  SCOPED_TRACE(trace + "\n" + Printer()(statement));
  InPieces(assignment, statement, first_loops(statement, named.outer), arrays, random, int64_t(1 + seed % 3), parts)
      .check(caller);
}

}  // namespace spdistal::test
