// The random programs that tests run are made of everything that the languages have.
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include "format/registry.hpp"
#include "schedule/print.hpp"

namespace spdistal::test {
namespace {

TEST(RandomCase, DrawsEveryFeatureOfTheLanguages) {
  constexpr int cases = 1500;
  std::map<std::string, int> times;
  for (int seed = 1; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    for (const std::string& feature : features_of(draw_case(random, {.without = {}, .compiled_one_in = 50})))
      times[feature]++;
  }
  std::vector<std::string> wanted = {"tensor twice",
                                     "tensor three times",
                                     "reads its result",
                                     "adds to its result",
                                     "literal",
                                     "literal zero",
                                     "diagonal",
                                     "division",
                                     "explicit sum",
                                     "function abs",
                                     "function min",
                                     "function max",
                                     "name with a prime",
                                     "name spoken for",
                                     "names alike",
                                     "dimensions in another order",
                                     "blocks",
                                     "size 0",
                                     "stored zero",
                                     "inf",
                                     "nan",
                                     "empty tensor",
                                     "nested machine",
                                     "grid of pieces",
                                     "place",
                                     "fused place",
                                     "fixed place",
                                     "place by non-zeros",
                                     "replicated place",
                                     "no schedule",
                                     "several pos",
                                     "fuse after pos",
                                     "distribute positions",
                                     "divide by weight",
                                     "distribute by weight",
                                     "pos after distribute",
                                     "communicate after distribute",
                                     "compiled",
                                     "interpreted"};
  for (size_t order = 0; order <= 5; order++) wanted.push_back("order " + std::to_string(order));
  for (ScalarType type : all_scalar_types) wanted.push_back("type " + std::string(name_of(type)));
  for (const LevelFormat& level : all_levels()) wanted.push_back(std::string("level ") + level.letter());
  for (int ranks = 1; ranks <= 4; ranks++) wanted.push_back("ranks " + std::to_string(ranks));
  for (int threads = 1; threads <= 3; threads++) wanted.push_back("threads " + std::to_string(threads));
  for (const std::string& command : schedule::signatures()) wanted.push_back(command.substr(0, command.find('(')));
  for (const std::string& feature : wanted) EXPECT_GE(times[feature], 1) << feature;
}

TEST(RandomCase, LeavesOutWhatIsAskedFor) {
  for (int seed = 1; seed <= 300; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    std::set<std::string> features = features_of(draw_case(random, {.without = {"divide", "type double"}}));
    EXPECT_FALSE(features.contains("divide"));
    EXPECT_FALSE(features.contains("type double"));
  }
}

TEST(RandomCase, IsTheSameForTheSameSeed) {
  for (uint64_t seed = 1; seed <= 50; seed++) {
    std::mt19937_64 one{seed}, other{seed};
    EXPECT_EQ(describe(draw_case(one)), describe(draw_case(other)));
  }
}

}  // namespace
}  // namespace spdistal::test
