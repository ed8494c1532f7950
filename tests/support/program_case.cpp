#include "support/program_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/session.hpp"
#include "base/text.hpp"
#include "compile/choose.hpp"
#include "execute/call.hpp"
#include "format/fill.hpp"
#include "io/files.hpp"
#include "ir/interpret.hpp"
#include "ir/verify.hpp"
#include "machine/parse.hpp"
#include "notation/arithmetic.hpp"
#include "notation/parse.hpp"
#include "runtime/device/host_context.hpp"
#include "schedule/parse.hpp"
#include "schedule/print.hpp"
#include "support/elements.hpp"
#include "support/random_tensor.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

// A word as a shell takes it.
std::string quoted(const std::string& word) {
  bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`*?()[]{}<>|&;~#!=") == word.npos;
  if (plain) return word;
  // A quote ends the quoted part, stands by itself, and another part begins.
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A machine of one piece stands for none.
Machine machine_of(const ProgramCase& program) {
  return parse_machine(program.machine.empty() ? "1" : program.machine);
}

Format placed_format(const TensorCase& tensor, const Machine& machine) {
  if (tensor.place.empty()) return tensor.format;
  return Format(tensor.format, parse_distribution(tensor.place, machine).distribution);
}

Assignment parsed(const ProgramCase& program, const Machine& machine, ParseScope& scope) {
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>&) {
    const TensorCase& tensor = program.tensors.at(std::string(name.text));
    std::vector<Extent> dims;
    for (size_t d = 0; d < tensor.array.dims.size(); d++) {
      Param size;
      size = tensor.array.dims[d];
      dims.push_back(tensor.literals[d] ? Extent(tensor.array.dims[d]) : Extent(size));
    }
    return TensorVar({Symbol(std::string(name.text)), tensor.array.type, dims, placed_format(tensor, machine)});
  };
  Assignment out = parse_assignment(program.statement, scope);
  scope.declare = nullptr;
  return out;
}

// As many as the tool would cut a statement into that has no schedule.
int64_t pieces_of(const ProgramCase& program, const Machine& machine) {
  bool placed = std::any_of(program.tensors.begin(), program.tensors.end(),
                            [](const auto& tensor) { return !tensor.second.place.empty(); });
  if (!placed) return program.setting.ranks;
  int64_t out = 1;
  for (const Grid& grid : machine.levels())
    for (const Extent& extent : grid.extents()) out *= *extent.value();
  return out;
}

std::string value_text(const Scalar& value) {
  return std::visit(
      [](auto v) {
        if constexpr (requires { v.real(); }) return fmt::format("({}, {})", v.real(), v.imag());
        else return fmt::format("{}", v);
      },
      static_cast<const ScalarVariant&>(value));
}

// As it stands in a file: one of blocks as the ordinary tensor that it stands for.
Storage ordinary(const TensorCase& tensor) {
  const std::vector<int64_t>& dims = tensor.array.dims;
  Storage stored = to_storage(tensor.array, filled_like(CSF(dims.size()), tensor.format));
  size_t order = tensor.format.blocks().size();
  if (order == 0) return stored;
  std::vector<int64_t> whole;
  for (size_t d = 0; d < order; d++) whole.push_back(dims[d] * dims[order + d]);
  Coordinates entries(whole, stored.type());
  with_type(stored.type(), [&](auto zero) {
    for_each<decltype(zero)>(stored, [&](std::span<const int64_t> at, auto value) {
      std::vector<int64_t> to;
      for (size_t d = 0; d < order; d++) to.push_back(at[d] * dims[order + d] + at[order + d]);
      entries.add(std::span<const int64_t>(to), value);
    });
  });
  return pack(std::move(entries), filled_like(CSF(order), tensor.format));
}

}  // namespace

Storage converted(const Conversion& conversion, const Storage& from, int64_t threads) {
  Storages storages{{conversion.from, &from}};
  Leaf leaf(conversion.statement, storages);
  ir::verify(leaf.kernel().function).value();
  runtime::HostContext context(threads);
  return compute(leaf, storages, context,
                 [&](spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); });
}

StoredProgram::StoredProgram(const BuiltProgram& program) {
  for (const auto& [tensor, array] : program.arrays) stored.emplace(tensor, to_storage(array, tensor.format()));
  for (const Conversion& copy : program.conversions) stored.emplace(copy.to, converted(copy, stored.at(copy.from)));
  for (const auto& [tensor, storage] : stored) storages.emplace(tensor, &storage);
}

ProgramCase write_down(const Assignment& assignment, const reference::Arrays& arrays, const ConcreteStatement& loops,
                       const std::vector<Command>& commands) {
  Printer names;
  ProgramCase out{names(assignment), {}, {}};
  for (const auto& [tensor, array] : arrays) {
    std::vector<bool> literals;
    for (const Extent& extent : tensor.dims()) literals.push_back(!extent.param());
    out.tensors.emplace(names.name(tensor), TensorCase{tensor.format(), array, literals});
  }
  // The loops first: schedules call them as they print.
  names(loops);
  for (const Command& command : commands) out.commands.push_back(schedule::print(command, names));
  return out;
}

std::vector<Command> as_it_stands(const ConcreteStatement& statement) {
  std::vector<IndexVar> loops = loop_variables(statement.body);
  if (loops.empty()) return {};
  return {Reorder{{loops[0]}}};
}

Assignment tree_of(const ProgramCase& program) {
  ParseScope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    const TensorCase& tensor = program.tensors.at(std::string(name.text));
    return TensorVar({Symbol(std::string(name.text)), tensor.array.type, std::vector<Extent>(indices.size(), Extent(1)),
                      dense_format(indices.size())});
  };
  return parse_assignment(program.statement, scope);
}

BuiltProgram build(const ProgramCase& program) {
  Machine machine = machine_of(program);
  ParseScope scope;
  ScheduledStatement state = make_statement(parsed(program, machine, scope));
  if (!program.commands.empty()) {
    schedule::Scheduled scheduled =
        schedule::apply_text(join(program.commands, "; "), {scope, &machine}, state.scheduled);
    state.commands = std::move(scheduled.commands);
    state.scheduled = std::move(scheduled.statement);
  }
  Chosen chosen = choose(Session::instance(), state, pieces_of(program, machine));
  Processor processor = is_for_gpus(state) ? GPU : CPU;
  BuiltProgram out{state.assignment, {}, chosen.statement, chosen.conversions, program.setting, processor};
  for (const TensorVar& tensor : tensors(state.assignment))
    out.arrays.emplace(tensor, program.tensors.at(tensor.symbol().name()).array);
  return out;
}

ProgramText as_text(const ProgramCase& program, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  ParseScope scope;
  Assignment assignment = parsed(program, machine_of(program), scope);
  ProgramText out{.statement = program.statement, .schedule = join(program.commands, "; ")};
  if (!program.machine.empty()) out.machine = program.machine;

  std::set<IndexVar> known, given;
  std::set<TensorVar> read;
  each<notation::Access>(assignment.rhs, [&](const notation::Access& access) {
    read.insert(access.tensor);
    known.insert(access.indices.begin(), access.indices.end());
  });
  if (assignment.op != AssignOp::Set) {
    read.insert(assignment.lhs.tensor);
    known.insert(assignment.lhs.indices.begin(), assignment.lhs.indices.end());
  }
  // Sizes are given where the kernel is to know them, and where no data has them.
  auto give = [&](const notation::Access& access) {
    const TensorCase& tensor = program.tensors.at(access.tensor.symbol().name());
    for (size_t d = 0; d < access.indices.size(); d++)
      if (!access.indices[d].window() && (tensor.literals[d] || !known.contains(access.indices[d])) &&
          given.insert(access.indices[d]).second)
        out.sizes.push_back(fmt::format("{}={}", access.indices[d].name(), tensor.array.dims[d]));
  };
  give(assignment.lhs);
  // Beside an open window, a variable has fewer values than an operand has coordinates.
  bool plain = windows(assignment).empty();
  if (plain) each<notation::Access>(assignment.rhs, give);
  for (const auto& [name, tensor] : program.tensors) {
    if (!tensor.format.is_dense() || tensor.format != dense_format(tensor.format.order()))
      out.formats.push_back(fmt::format("{}:{}", name, tensor.format.str()));
    if (tensor.array.type != ScalarType::Float64)
      out.types.push_back(fmt::format("{}:{}", name, name_of(tensor.array.type)));
    if (!tensor.place.empty()) out.distributions.push_back(tensor.place);
    if (!read.contains(scope.tensors.at(name))) continue;
    // Of what windows are taken of, the file alone tells the size.
    std::filesystem::path path = folder / (name + (plain ? ".tns" : ".spd"));
    write_storage(path.string(), ordinary(tensor));
    out.inputs.push_back(fmt::format("{}:{}", name, path.string()));
  }
  return out;
}

std::string command_line(const ProgramText& text) {
  std::string out = "spdistal " + quoted(text.statement);
  auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) out += fmt::format(" {} {}", option, quoted(value));
  };
  add("-f", text.formats);
  add("-t", text.types);
  add("-n", text.sizes);
  if (text.machine) add("-m", {*text.machine});
  add("-d", text.distributions);
  add("-i", text.inputs);
  if (!text.schedule.empty()) add("-s", {text.schedule});
  return out + " --check";
}

std::string prefix_of(const Setting& setting) {
  std::string out = setting.leaves == Leaves::Interpreted ? "SPDISTAL_COMPILER= " : "";
  out += fmt::format("SPDISTAL_THREADS={}", setting.threads);
  if (setting.gpus > 0) out += fmt::format(" SPDISTAL_GPU=interpreted:{}", setting.gpus);
  return setting.ranks == 1 ? out : out + fmt::format(" mpirun -n {}", setting.ranks);
}

std::string describe(const ProgramCase& program) {
  std::string out = program.statement + "\n";
  if (!program.machine.empty()) out += fmt::format("  machine {}\n", program.machine);
  for (const auto& [name, tensor] : program.tensors) {
    std::string sizes = join(tensor.array.dims, " x ", [](int64_t n) { return std::to_string(n); });
    std::string storage = sizes.empty() ? "" : fmt::format("{}, {}, ", tensor.format.str(), sizes);
    out += fmt::format("  {}: {}{}", name, storage, name_of(tensor.array.type));
    if (!tensor.place.empty()) out += ", " + tensor.place;
    auto add = [&, &name = name, &array = tensor.array](const std::vector<int64_t>& at, size_t position) {
      bool stored = array.absent.empty() ? !notation::is_zero(array.values[position]) : !array.absent[position];
      if (!stored) return;
      std::string where = join(at, ",", [](int64_t c) { return std::to_string(c); });
      out += fmt::format("; {}{} = {}", name, at.empty() ? "" : "(" + where + ")", value_text(array.values[position]));
    };
    each_element(tensor.array.dims, add);
    out += "\n";
  }
  for (const std::string& command : program.commands) out += fmt::format("  {}\n", command);
  return out;
}

}  // namespace spdistal::test
