// The leaves of a statement over pieces: compiled for index arrays of the widths that they meet, and called for one colour
// after the other.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/leaf.hpp"
#include "execute/overlap.hpp"
#include "execute/tasks.hpp"
#include "process/process.hpp"

namespace spdistal {

/// One call of a leaf.
struct Turn {
  int64_t colour;
  const Step& step;
  notation::Start start = notation::Start::Zero;
  std::optional<int64_t> chunk = {};  // of the colour's, all of them where there is none
};

class Launcher {
 public:
  /// `chunks` are null where leaves are never cut. What is given stays where it is.
  Launcher(Process& process, const lower::Distributed& program, const Tasks::Pieces& pieces, const Chunks* chunks);

  /// Other tasks and pieces from now on; kernels stay.
  void bind(const Tasks& tasks);

  /// The statement's numbers of the host in the runs to come; they stay where they are.
  void use(const std::vector<Scalar>& arguments) { arguments_ = addresses_of(arguments); }

  void compute_into(Storage& result, const Turn& turn);
  Storage compute(const std::vector<Range>& ranges, const Turn& turn);

  /// Compiles what a colour would run.
  void compile(int64_t colour) { code_for({colour, {}}); }
  void compile_chunks(int64_t colour) { code_for({colour, {}, notation::Start::Old, 0}); }
  /// The text of a kernel that was compiled; empty where none was.
  std::string kernel() const { return compiled_.empty() ? "" : compiled_.begin()->second->kernel.text(); }

 private:
  struct Compiled {
    Leaf leaf;
    codegen::Kernel kernel;
  };
  // A call, kept while the pieces stay where they are.
  struct Launch {
    Compiled* code = nullptr;
    std::unique_ptr<LeafInputs> inputs = {};
    std::vector<const void*> pieces = {};
  };

  Compiled& code_for(const Turn& turn);
  Launch& launch_for(const Turn& turn);
  const Storage& piece(size_t access, int64_t colour) const { return (*pieces_[access])[colour]; }
  LeafInputs::NumberOf numbers_for(const Leaf& leaf, const Turn& turn) const;
  Leaf::Run run(const Launch& launch) const;

  Process& process_;
  const lower::Distributed& program_;
  const Tasks::Pieces& pieces_;
  const Chunks* chunks_;
  const Tasks* tasks_ = nullptr;
  std::vector<const void*> arguments_;
  std::map<std::string, std::unique_ptr<Compiled>> compiled_;  // by widths and start
  std::map<std::pair<int64_t, int64_t>, Launch> launches_;     // of a colour, and of a chunk or of all
};

}  // namespace spdistal
