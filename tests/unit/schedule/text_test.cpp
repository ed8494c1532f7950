// Schedules as text: what is printed parses to the same command, for every command of the registry.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "notation/concretize.hpp"
#include "schedule/apply.hpp"
#include "schedule/parse.hpp"
#include "schedule/print.hpp"
#include "support/text_cases.hpp"
#include "unit/notation/statements.hpp"

namespace spdistal::schedule {
namespace {

using notation::TextStatement;

template <class... C>
std::vector<std::string> names_of(const std::variant<C...>*) {
  return {std::string(C::name)...};
}
std::vector<std::string> command_names() { return names_of(static_cast<const Command*>(nullptr)); }

struct Fixture {
  TextStatement statement{"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {"B:dss"}};
  Machine machine{Grid(2, 3, 4, 5), Grid(4, GPU)};
  KnownNames names{statement.scope, &machine};

  Command parse_one(const std::string& text) {
    std::vector<ParsedCommand> commands = parse(text, names);
    EXPECT_EQ(commands.size(), 1u) << text;
    return commands.at(0).command;
  }
  std::string shown(const Command& command) {
    notation::Printer printer;
    return print(command, printer);
  }
};

// One of each command, with every kind of parameter.
const std::vector<std::string> samples = {
    "divide(i, io, ii, 4)",
    "divide(i, io, ii, M.x)",
    "divide(i, io, ii, M.y)",
    "divide(i, io, ii, M.z)",
    "divide(i, io, ii, M.dim(3))",
    "divide(i, io, ii, M[1].x)",
    "split(i, io, ii, 32)",
    "fuse(i, j, f)",
    "pos(i, ip, B(i,j,k))",
    "reorder(i, k, j)",
    "reorder(i)",
    "precompute(B(i,j,k) * D(k,l), {l}, {lw}, w)",
    "precompute(-(B(i,j,k) + 2.5f) / sqrt(D(k,l)), {k, l}, {kw, lw}, work_space)",
    "parallelize(i, CPUThread)",
    "parallelize(i, CPUVector)",
    "parallelize(i, GPUBlock, NoRaces)",
    "parallelize(i, GPUWarp, Private)",
    "parallelize(i, GPUThread, Atomics)",
    "distribute(i)",
    "distribute(i, j)",
    "communicate({A}, i)",
    "communicate({A, B, C, D}, i)",
    "unroll(i, 8)",
    "bound(i, ib, 32)",
    "bound(i, ib, 32, MaxConstraint)",
    "substitute({i, j}, cusparse)",
    "rotate(k, {i, j}, ks)",
};

TEST(ScheduleText, CommandsThatArePrintedParseToTheSame) {
  Fixture f;
  for (const std::string& text : samples) {
    Command command = f.parse_one(text);
    EXPECT_EQ(f.shown(command), text);
    EXPECT_EQ(f.shown(f.parse_one(f.shown(command))), text);
    EXPECT_EQ(f.parse_one(text).index(), command.index());
  }
}

TEST(ScheduleText, EveryCommandOfTheRegistryIsAmongTheSamples) {
  for (const std::string& name : command_names())
    EXPECT_TRUE(std::any_of(samples.begin(), samples.end(), [&](const std::string& sample) {
      return sample.starts_with(name + "(");
    })) << name;
}

TEST(ScheduleText, OptionalWordsThatSayNothingAreNotPrinted) {
  Fixture f;
  EXPECT_EQ(f.shown(f.parse_one("parallelize(i, CPUThread, Auto)")), "parallelize(i, CPUThread)");
  EXPECT_EQ(f.shown(f.parse_one("bound(i, ib, 32, MaxExact)")), "bound(i, ib, 32)");
}

TEST(ScheduleText, ListsMayStandWithOrWithoutBraces) {
  Fixture f;
  EXPECT_EQ(f.shown(f.parse_one("reorder({i, k})")), "reorder(i, k)");
  EXPECT_EQ(f.shown(f.parse_one("distribute({i})")), "distribute(i)");
  EXPECT_EQ(f.shown(f.parse_one("communicate(A, i)")), "communicate({A}, i)");
}

TEST(ScheduleText, KnowsWhereEachCommandStands) {
  Fixture f;
  std::vector<ParsedCommand> commands = parse(" divide(i,io,ii,4) ;distribute(io);", f.names);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].begin, 1u);
  EXPECT_EQ(commands[1].begin, 20u);
  EXPECT_EQ(commands[1].end, 34u);
  EXPECT_TRUE(parse("", f.names).empty());
  EXPECT_TRUE(parse("  \n", f.names).empty());
}

TEST(ScheduleText, SignaturesNameEveryParameter) {
  std::vector<std::string> all = signatures();
  ASSERT_EQ(all.size(), command_names().size());
  EXPECT_EQ(all[0], "divide(i, outer, inner, pieces, [{weights, …}])");
  EXPECT_NE(std::find(all.begin(), all.end(), "reorder(order, …)"), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), "communicate({tensors, …}, at)"), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), "bound(i, bounded, size, [kind])"), all.end());
}

TEST(ScheduleText, DamagedTextNeverCrashesTheParser) {
  Fixture f;
  std::mt19937 random(5);
  size_t refused = 0;
  for (int round = 0; round < 20000; round++) {
    std::string text = samples[random() % samples.size()] + "; " + samples[random() % samples.size()];
    for (size_t damage = 0; damage <= random() % 3; damage++) {
      size_t at = random() % text.size();
      if (random() % 3 == 0) text.resize(at + 1);
      else text[at] = char(random() % 256);
    }
    try {
      parse(text, f.names);
    } catch (const UserError&) { refused++; }
  }
  EXPECT_GT(refused, 10000u);
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The text cases below a folder whose schedule uses a command; with `refused`, those whose error is the command's own.
size_t cases_of(const std::string& command, const char* folder, bool refused) {
  size_t count = 0;
  for (const auto& file : testing::find_text_cases(std::filesystem::path(SPDISTAL_TEXT_CASES) / folder))
    for (const testing::TextCase& c : testing::parse_text_cases(read(file))) {
      bool used = std::any_of(c.arguments.begin(), c.arguments.end(),
                              [&](const std::string& word) { return word.find(command + "(") != word.npos; });
      count += used && (!refused || c.answer.starts_with("error: " + command + ": "));
    }
  return count;
}

TEST(TextCases, EveryCommandOfTheRegistryHasGoldenCasesAndRefusals) {
  for (const std::string& name : command_names()) {
    EXPECT_GE(cases_of(name, "golden", false), 2u) << name << " has no case in tests/golden";
    EXPECT_GE(cases_of(name, "error", true), 3u) << name << " has no refusal in tests/error";
  }
}

TEST(Commands, RefusalsNeverChangeAnythingAndLegalCommandsKeepStatementsWellFormed) {
  // Random short schedules from the samples and their likes: whatever is accepted passes verify inside apply.
  std::mt19937 random(11);
  size_t accepted = 0, refused = 0;
  for (int round = 0; round < 3000; round++) {
    Fixture f;
    notation::ConcreteStatement statement = notation::concretize(f.statement.assignment).value();
    for (int k = 0; k < 5; k++) {
      Command command = f.parse_one(samples[random() % samples.size()]);
      std::string before = notation::print(statement);
      Result<notation::ConcreteStatement> next = schedule::apply(command, statement);
      EXPECT_EQ(notation::print(statement), before);
      if (next) {
        statement = *next, accepted++;
      } else {
        refused++;
        EXPECT_FALSE(next.refusal().excerpts.empty()) << next.refusal().message;
      }
    }
  }
  EXPECT_GT(accepted, 3000u);
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace spdistal::schedule
