// The leaves of a plan called for one colour after the other, with pieces as they are there.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "execute/call.hpp"
#include "execute/fetches.hpp"
#include "execute/notes.hpp"

namespace spdistal {

/// One run of a leaf: for which colour, and what of its work.
struct LeafRun {
  int64_t colour;
  const StepValues& step;
  notation::Start start = notation::Start::Zero;
  std::optional<int64_t> chunk = {};  // of the colour's, all of them where there is none
  lower::ResultPattern pattern = lower::ResultPattern::Made;

  LeafKind kind() const {
    if (chunk) return LeafKind::Chunk;
    if (pattern == lower::ResultPattern::Stands) return LeafKind::Values;
    return start == notation::Start::Old ? LeafKind::Adding : LeafKind::Piece;
  }
};

/// Who looks on while leaves run: told of each run, once it is over, and of what it made.
using Onlooker = std::function<void(const LeafRun&, const Storage& result)>;

class Launcher {
 public:
  /// What is given stays where it is.
  Launcher(Process& process, Compiled& compiled, Fetches& fetches, RunNotes& notes);

  /// Other tasks and pieces from now on.
  void bind(const Tasks& tasks);

  /// The statement's numbers of the host in the runs to come; they stay where they are.
  void use(const std::vector<Scalar>& arguments) { arguments_ = addresses_of(arguments); }

  void show_to(Onlooker onlooker) { onlooker_ = std::move(onlooker); }

  void compute_into(Storage& result, const LeafRun& wanted);
  Storage compute(const std::vector<Range>& ranges, const LeafRun& wanted);

  /// The GPU that a colour's leaves run on, where they do: the colours `here` of this rank are dealt out to its GPUs in blocks.
  DevicePlace device(int64_t colour, Range here) const;
  /// Would it write values alone into a piece of a sparse result?
  bool keeps(const Storage& result, const LeafRun& wanted);
  /// Can it be run with the numbers that pieces have?
  bool takes_numbers(const LeafRun& wanted);
  /// The kernel that a colour would run, compiled.
  const codegen::Kernel& code_for(const LeafRun& wanted);
  /// The text of a kernel that was compiled; empty where none was.
  std::string kernel() const { return kernel_; }

 private:
  // A call, kept while the pieces stay where they are.
  struct KeptCall {
    std::optional<LeafCall> call = {};
    std::vector<const void*> pieces = {};
  };

  const Leaf& leaf_for(const LeafRun& wanted);
  LeafCall& call_for(const LeafRun& wanted);
  const Storage& piece(size_t access, int64_t colour) const { return (*fetches_.pieces()[access])[colour]; }
  const PatternHandle& seen(size_t access, int64_t colour);
  LeafCall::NumberOf numbers_for(const Leaf& leaf, const LeafRun& wanted) const;
  RunKernel run(const LeafCall& call);

  Process& process_;
  Compiled& compiled_;
  const plan::Plan& plan_;
  Fetches& fetches_;
  RunNotes& notes_;
  const Tasks* tasks_ = nullptr;
  std::vector<const void*> arguments_;
  Onlooker onlooker_;
  std::string kernel_;
  std::map<std::tuple<int64_t, LeafKind, int64_t>, KeptCall> kept_;  // of a colour, a kernel, a chunk
};

}  // namespace spdistal
