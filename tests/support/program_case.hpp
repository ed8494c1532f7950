// A program with its data as plain values: what a random program is written down as when it went wrong, so that it can
// be made smaller part by part, printed, and run again by the command line tool.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compile/conversion.hpp"
#include "compile/leaf.hpp"
#include "notation/concrete.hpp"
#include "reference/array.hpp"
#include "spdistal/program.hpp"
#include "spdistal/schedule/commands.hpp"
#include "support/leaves.hpp"

namespace spdistal::test {

struct TensorCase {
  Format format;
  reference::DenseArray array;  // its type and sizes are the tensor's
  std::vector<bool> literals;   // of the dimensions: a number in the kernel, or else a size that comes with the data
  std::string place = {};       // "B(x,y) -> M(x)"; none: blocks by rank
};

/// How a program is run.
struct Setting {
  int ranks = 1;
  int64_t threads = 1;
  Leaves leaves = Leaves::Interpreted;
  int gpus = 0;  // of a machine of GPUs: how many a node has, interpreted
};

struct ProgramCase {
  std::string statement;
  std::map<std::string, TensorCase> tensors;  // all of the statement, the result with what it held before
  std::vector<std::string> commands;          // of the schedule; without any, what runs is chosen
  std::string machine = {};                   // "2x2"; none where nothing speaks of one
  Setting setting = {};
};

/// The statement as a tree; formats and sizes play no part.
notation::Assignment tree_of(const ProgramCase& program);

/// A case as the compiler sees it.
struct BuiltProgram {
  notation::Assignment assignment;
  reference::Arrays arrays;
  notation::ConcreteStatement statement;  // what runs: scheduled, or chosen
  std::vector<Conversion> conversions;    // that were chosen
  Setting setting = {};
  Processor processor = CPU;  // that runs what loops there are for it
};

/// What a conversion makes of a tensor, through the interpreter.
Storage converted(const Conversion& conversion, const Storage& from, int64_t threads = 2);

/// Its tensors in their formats, conversions too.
struct StoredProgram {
  explicit StoredProgram(const BuiltProgram& program);
  std::map<notation::TensorVar, Storage> stored;
  Storages storages;
};

/// Writes a program down; the commands are those that were applied to its loops.
ProgramCase write_down(const notation::Assignment& assignment, const reference::Arrays& arrays,
                       const notation::ConcreteStatement& loops, const std::vector<Command>& commands);
/// A command that changes nothing, so that loops run as they stand instead of as chosen; none where there are no loops.
std::vector<Command> as_it_stands(const notation::ConcreteStatement& statement);

/// Throws UserError where something is refused.
BuiltProgram build(const ProgramCase& program);

/// The case for the command line tool, its data written into `folder`.
ProgramText as_text(const ProgramCase& program, const std::filesystem::path& folder);
/// "spdistal 'a(i) = b(i)' -f a:d -i b:folder/b.tns --check"
std::string command_line(const ProgramText& text);
/// What stands before that: "SPDISTAL_COMPILER= SPDISTAL_THREADS=1 SPDISTAL_GPU=interpreted:2 mpirun -n 2".
std::string prefix_of(const Setting& setting);
/// The statement, the tensors with all their elements, the schedule.
std::string describe(const ProgramCase& program);

}  // namespace spdistal::test
