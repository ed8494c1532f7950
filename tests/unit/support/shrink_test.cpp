#include "support/shrink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "compile/choose.hpp"
#include "notation/arithmetic.hpp"
#include "notation/print.hpp"
#include "support/program.hpp"
#include "support/random_case.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/text_cases.hpp"

namespace spdistal::test {
namespace {

using namespace notation;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder of its own for each test.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("spdistal-shrink-" + std::to_string(getpid()))) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A random program that a pretended fault is in.
ProgramCase draw_faulty(const FindFault& find) {
  for (uint64_t seed = 1; seed < 100000; seed++) {
    std::mt19937_64 random{seed};
    RandomProgram c = draw_program(random);
    ConcreteStatement loops = make_statement(c.assignment).scheduled;
    RandomSchedule schedule = draw_schedule(random, loops, 12);
    ProgramCase program = write_down(c.assignment, c.arrays, loops, schedule.commands);
    if (has_any(program, {"precompute"})) continue;  // commands after it speak of what it made
    if (schedule.commands.size() > 4 && c.arrays.size() > 2 && find(program)) return program;
  }
  throw std::runtime_error("no random program has this fault");
}

// Pretends that products with a tensor that is compressed somewhere go wrong where it stores something.
const FindFault sparse_products = once_built([](const BuiltProgram& program) -> std::optional<std::string> {
  bool found = false;
  each<Binary>(program.assignment.rhs, [&](const Binary& product) {
    for (const Expr& factor : {product.a, product.b}) {
      auto* access = factor.as<notation::Access>();
      if (product.op != BinaryOp::Mul || !access || access->tensor.format().is_dense()) continue;
      for (const Scalar& value : program.arrays.at(access->tensor).values) found |= !notation::is_zero(value);
    }
  });
  return found ? std::optional("a product with a sparse tensor") : std::nullopt;
});

// Pretends that loops over positions go wrong.
const FindFault position_loops = once_built([](const BuiltProgram& program) -> std::optional<std::string> {
  bool found = print(program.statement).find(" at ") != std::string::npos;
  return found ? std::optional("a loop over positions") : std::nullopt;
});

TEST(Shrink, LeavesOnlyWhatAFaultNeeds) {
  std::optional<Shrunk> small = shrink(draw_faulty(sparse_products), sparse_products);
  ASSERT_TRUE(small);
  EXPECT_LT(small->tried, 1000);
  EXPECT_EQ(small->fault, "a product with a sparse tensor");
  const ProgramCase& program = small->program;
  EXPECT_TRUE(program.commands.empty()) << describe(program);
  // A product of two tensors, one compressed level, and one stored element.
  int levels = 0, elements = 0, dimensions = 0;
  for (const auto& [name, tensor] : program.tensors) {
    dimensions = std::max(dimensions, int(tensor.format.order()));
    for (const LevelFormat& level : tensor.format.levels()) levels += level != LevelFormat(Dense);
    for (const Scalar& value : tensor.array.values) elements += !notation::is_zero(value);
    EXPECT_EQ(tensor.array.type, ScalarType::Float64);
    for (int64_t size : tensor.array.dims) EXPECT_EQ(size, 1);
  }
  EXPECT_LE(program.tensors.size(), 3u) << describe(program);
  EXPECT_EQ(levels, 1) << describe(program);
  EXPECT_EQ(elements, 1) << describe(program);
  EXPECT_EQ(dimensions, 1) << describe(program);
}

TEST(Shrink, KeepsTheCommandsThatAFaultNeeds) {
  std::optional<Shrunk> small = shrink(draw_faulty(position_loops), position_loops);
  ASSERT_TRUE(small);
  ASSERT_EQ(small->program.commands.size(), 1u) << describe(small->program);
  EXPECT_THAT(small->program.commands[0], HasSubstr("pos("));
  EXPECT_LE(small->program.tensors.size(), 2u) << describe(small->program);
  for (const auto& [name, tensor] : small->program.tensors)
    for (const Scalar& value : tensor.array.values) EXPECT_TRUE(notation::is_zero(value));
}

TEST(Shrink, IsBoundedAndRefusesProgramsWithoutAFault) {
  ProgramCase program = draw_faulty(sparse_products);
  std::optional<Shrunk> small = shrink(program, sparse_products, 5);
  ASSERT_TRUE(small);
  EXPECT_LE(small->tried, 5);
  EXPECT_FALSE(shrink(program, [](const ProgramCase&) { return std::nullopt; }));
}

TEST(Shrink, ReportsTheSeedTheProgramAndACommandLineThatRuns) {
#ifndef SPDISTAL_CLI
  GTEST_SKIP() << "there is no command line tool";
#else
  for (const FindFault& find : {sparse_products, position_loops}) {
    ProgramCase drawn = draw_faulty(find);
    std::string text = report("shrink_test", uint64_t(getpid()), drawn, find);
    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("spdistal-shrink_test-" + std::to_string(getpid()));
    EXPECT_THAT(text, HasSubstr("seed " + std::to_string(getpid())));
    EXPECT_THAT(text, HasSubstr(drawn.statement));
    size_t begin = text.find(" spdistal ");
    ASSERT_NE(begin, text.npos) << text;
    std::vector<std::string> words = testing::split_command(text.substr(begin + 1, text.find('\n', begin) - begin - 1));
    EXPECT_EQ(words.back(), "--check");
    testing::Outcome ran =
        testing::run_program(SPDISTAL_CLI, {words.begin() + 1, words.end()}, ".", std::chrono::minutes(2));
    std::filesystem::remove_all(folder);
    EXPECT_EQ(ran.exit_code, 0) << text << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("check: right")) << text;
  }
#endif
}

// Whichever test makes the session.
[[maybe_unused]] const int gpu_units_are_interpreted = setenv("SPDISTAL_GPU", "interpreted", 1);

// What is written down is the same program: run from its text and its files it passes the check of the command line.
TEST(ProgramCase, EveryRandomProgramRunsFromItsText) {
  setenv("SPDISTAL_COMPILER", "", 1);
  setenv("SPDISTAL_THREADS", "1", 1);
  Folder folder;
  Features without = open_faults();
  without.insert({"inf", "nan", "division"});
  int cases = std::getenv("FULL_TESTS") ? 3000 : 150;
  for (int seed = 1; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    Features only;
    if (seed % 5 == 0) only.insert("blocks");  // of the ordinary tensors that their files hold
    ProgramCase program = draw_case(random, {.without = without, .only = only});
    ProgramText text = as_text(program, folder.path());
    SCOPED_TRACE(command_line(text));
    try {
      Program run(text);
      run.load();
      run.compute();
      EXPECT_TRUE(run.check().agrees()) << describe(program);
    } catch (const UserError& error) {
      // Of what windows are taken of, the file alone tells the size, which some commands ask for.
      if (!has_any(program, {"offset", "stride", "window", "coordinate"})) ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace spdistal::test
