// Statements that a test names, with their formats: several sizes, entries and numbers of threads, against the dense evaluator.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compile/choose.hpp"
#include "execute/call.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "memory/poison.hpp"
#include "notation/arithmetic.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "runtime/device/host_context.hpp"
#include "support/formats.hpp"
#include "support/program_case.hpp"
#include "support/random_tensor.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

/// Every variable has a size of its own, or all have the same one: where a tensor is indexed in two ways.
enum class Sizes { Own, Same };

struct Named {
  std::string name;       // a sentence
  std::string statement;  // "A(i,j) = B(i,k) * C(k,j)"
  std::string formats;    // "A:ds B:ds:1,0"; tensors that are not listed are dense
  Sizes sizes = Sizes::Own;
};
inline void PrintTo(const Named& named, std::ostream* out) { *out << named.statement << "  " << named.formats; }

class Statements : public ::testing::TestWithParam<Named> {
 protected:
  // What is read and was never written shows as a wrong result.
  void SetUp() override { memory::set_poison(memory::Poison::On); }
  void TearDown() override { memory::set_poison(memory::Poison::Off); }

  // One run: sizes, entries and threads all come from the seed.
  void run(uint64_t seed) {
    std::mt19937_64 random{seed};
    auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
    std::map<std::string, int64_t> sizes;
    int64_t common = seed <= 2 ? int64_t(seed) - 1 : number(2, 6);  // the first two seeds: no elements, and one
    auto size = [&](const IndexVar& var) {
      if (GetParam().sizes == Sizes::Same || seed <= 2) return common;
      std::string name = Printer().name(var);
      if (!sizes.contains(name)) sizes[name] = number(0, 9) == 0 ? number(0, 1) : number(2, 6);
      return sizes[name];
    };
    ParseScope scope;
    scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
      std::vector<Extent> dims;
      for (const IndexVar& index : indices) dims.push_back(size(index));
      Format format = test::format_of(GetParam().formats, name.text, indices.size());
      return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, dims, format});
    };
    ScheduledStatement statement = make_statement(parse_assignment(GetParam().statement, scope));
    const Assignment& assignment = statement.assignment;

    reference::Arrays wanted;
    std::map<TensorVar, Storage> stored;
    Storages storages;
    std::string trace = "seed " + std::to_string(seed) + ":";
    for (const TensorVar& tensor : tensors(assignment)) {
      reference::DenseArray array = test::draw_array(random, tensor);
      for (int64_t n : array.dims) trace += " " + std::to_string(n);
      const Storage& storage = stored.emplace(tensor, test::to_storage(array, tensor.format())).first->second;
      wanted.emplace(tensor, test::to_array(storage));
      trace += ";";
    }
    Chosen chosen = choose(statement);
    for (const Conversion& copy : chosen.conversions)
      stored.emplace(copy.to, test::converted(copy, stored.at(copy.from)));
    for (const auto& [tensor, storage] : stored) storages.emplace(tensor, &storage);
    reference::evaluate(assignment, wanted);

    for (const ConcreteStatement& loops : {statement.initial, chosen.statement}) {
      SCOPED_TRACE(trace + "\n" + Printer()(loops));
      Leaf leaf(loops, storages);
      SCOPED_TRACE(ir::print(leaf.kernel().function));
      if (Result<> legal = ir::verify(leaf.kernel().function); !legal) FAIL() << legal.refusal().str();
      runtime::HostContext context(int64_t(1 + seed % 3));
      Storage result = compute(leaf, storages, context,
                               [&](spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); });
      if (Result<> sound = verify(result); !sound) FAIL() << sound.refusal().str();
      ASSERT_EQ(result.pattern().format(), assignment.lhs.tensor.format());
      std::set<std::vector<int64_t>> places;
      for_each_position(result.pattern(), [&](std::span<const int64_t> at, int64_t) {
        EXPECT_TRUE(places.emplace(at.begin(), at.end()).second) << "an element is stored twice";
      });
      ASSERT_TRUE(test::to_array(result) == wanted.at(assignment.lhs.tensor));
    }
  }
};

TEST_P(Statements, AreRight) {
  for (uint64_t seed = 1; seed <= 24 && !HasFailure(); seed++) try {
      run(seed);
    } catch (const std::exception& error) { FAIL() << "seed " << seed << ": " << error.what(); }
}

inline std::string sentence_of(const ::testing::TestParamInfo<Named>& info) { return info.param.name; }

}  // namespace spdistal
