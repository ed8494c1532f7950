#include "support/random_case.hpp"

#include <algorithm>
#include <optional>

#include "compile/choose.hpp"
#include "machine/print.hpp"
#include "notation/print.hpp"
#include "support/random_distribution.hpp"
#include "support/random_number.hpp"
#include "support/random_program.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

// A schedule for the statement: none, of this process alone, or over pieces.
std::vector<Command> draw_commands(std::mt19937_64& random, const ConcreteStatement& loops, const Machine* machine) {
  switch (weighted(random, machine ? std::vector{30, 10, 60} : std::vector{40, 45, 15})) {
    case 0: return {};
    case 1: {
      RandomSchedule drawn{as_it_stands(loops), loops};
      add_commands(random, drawn, int(number(random, 0, 14)), machine);
      if (one_in(random, 3)) add_vectors(random, drawn);
      return drawn.commands;
    }
    default: {
      RandomSchedule drawn = draw_distributed(random, loops, machine);
      if (one_in(random, 4)) add_vectors(random, drawn);
      return drawn.commands;
    }
  }
}

// Tensors live on GPUs: of a machine of several levels its innermost grids are of them.
void add_gpus(std::mt19937_64& random, ProgramCase& program) {
  bool placed = std::any_of(program.tensors.begin(), program.tensors.end(),
                            [](const auto& tensor) { return !tensor.second.place.empty(); });
  // Routines of the CPU are refused there.
  bool substituted = std::any_of(program.commands.begin(), program.commands.end(),
                                 [](const std::string& command) { return command.starts_with("substitute"); });
  if (!placed || substituted) return;
  program.machine += ",gpu";
  program.setting.gpus = int(number(random, 1, 4));
}

std::optional<ProgramCase> try_case(std::mt19937_64& random, const CaseOptions& options) {
  RandomProgram drawn = draw_program(random, {});
  ConcreteStatement loops = make_statement(drawn.assignment).scheduled;
  std::optional<Machine> machine;
  if (one_in(random, 2)) machine = draw_machine(random);
  std::vector<Command> commands = draw_commands(random, loops, machine ? &*machine : nullptr);
  ProgramCase out = write_down(drawn.assignment, drawn.arrays, loops, commands);
  if (machine) {
    out.machine = print(*machine);
    for (const TensorVar& tensor : tensors(drawn.assignment)) {
      if (one_in(random, 3)) continue;
      TensorVar placed = draw_placed(random, tensor, *machine);
      if (const auto& distribution = placed.format().distribution())
        out.tensors.at(tensor.symbol().name()).place =
            DistributionPrinter(*distribution).statement(tensor.symbol().name());
    }
  }
  out.setting.ranks = int(machine || one_in(random, 4) ? number(random, 1, 4) : 1);
  out.setting.threads = number(random, 1, 3);
  if (machine && one_in(random, 4)) add_gpus(random, out);
  if (options.compiled_one_in > 0 && one_in(random, options.compiled_one_in)) out.setting.leaves = Leaves::Compiled;

  if (has_any(out, options.without) || !has_all(out, options.only)) return {};
  // Workspaces and sums of nothing store zeros where there was nothing: times infinity they are no numbers.
  if (has_any(out, {"precompute", "size 0"}) && has_any(out, {"inf", "nan", "division"})) return {};
  build(out);  // some commands speak of temporaries, which text cannot
  return out;
}

}  // namespace

ProgramCase draw_case(std::mt19937_64& random, const CaseOptions& options) {
  while (true) try {
      if (std::optional<ProgramCase> program = try_case(random, options)) return *program;
    } catch (const UserError&) {}  // not accepted: another draw
}

}  // namespace spdistal::test
