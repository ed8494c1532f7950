// A kernel of a statement: its loops lowered, once, for index arrays of certain widths; optimised and compiled when that is
// first asked for. It is called for whole tensors, or for pieces of them in a launch of many calls.
#pragma once
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/jit.hpp"
#include "lower/lower.hpp"
#include "notation/concrete.hpp"
#include "passes/launches.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// What the operands are. A tensor that is read and written stands here with what it held before.
using Storages = std::map<notation::TensorVar, const Storage*>;

/// How wide the index arrays are that an access reads: two accesses to one tensor may read different pieces.
using Widths = std::function<lower::IndexWidths(const notation::Access&)>;
lower::IndexWidths widths_of(const Pattern& pattern);
/// Of arrays that are made as narrow as the tensor's dimensions allow, with positions of this type.
lower::IndexWidths narrowest_widths(const notation::TensorVar& tensor, ScalarType positions = ScalarType::Int32);

/// What an access reads is stored as; null where that is not there.
using PatternOf = std::function<const Pattern*(const notation::Access&)>;

/// How a leaf is called.
struct LeafOptions {
  /// Variables whose loops run around the leaf; their values come with each call.
  std::vector<IndexVar> outer = {};
  lower::Operands operands = lower::Operands::Whole;
  /// What the result holds before a call, where that is not what the statement says.
  std::optional<notation::Start> start = {};
  /// What a result that is assembled stores before a call.
  lower::ResultPattern pattern = lower::ResultPattern::Made;
  /// Results that are assembled have positions of 32 bits up to this many entries: tests take fewer than 2^31 - 1.
  int64_t largest_position = std::numeric_limits<int32_t>::max();
  /// What the kernel runs on, and how loops are mapped to a GPU.
  Processor processor = CPU;
  passes::GridMapping mapping = {};
  /// Workspaces of larger dimensions may be hashed.
  int64_t largest_dense_workspace = lower::Options{}.largest_dense_workspace;
};

/// How much is stored below a place of the level above the last, on average: of the access where that is most.
double average_row(std::span<const notation::Access> accesses, const PatternOf& pattern);
/// Do loops of the statement run on a GPU?
bool runs_on_gpu(const notation::ConcreteStatement& statement);

class Process;
namespace routine {
struct LeafLoops;
}

/// The device that something runs on; none: the host.
using DevicePlace = std::optional<memory::Place>;

class Leaf {
 public:
  /// Loops over outer variables are taken out of the statement.
  Leaf(const notation::ConcreteStatement& statement, const Widths& widths, LeafOptions options = {});
  /// Index arrays of operands are as wide as in `storages`.
  Leaf(const notation::ConcreteStatement& statement, const Storages& storages, const LeafOptions& options = {});

  const lower::Lowered& kernel() const { return kernel_; }
  /// The statement with the workspaces that were put in.
  const notation::ConcreteStatement& statement() const { return statement_; }
  /// The optimised kernel. Of a result that is assembled, the one that is run instead of it has positions of 64 bits.
  const ir::Function& function() const;
  /// What a device runs of it.
  ir::Launches launches() const;
  /// The kernel compiled for the processor that it runs on, or interpreted where there is no compiler; or what calls the routine that
  /// replaces its loops. Of a GPU: for the one where that is.
  const codegen::Kernel& code(Process& process, DevicePlace device = {}) const;
  Processor processor() const { return options_.processor; }

  /// By which values of one element of the result are put together.
  notation::AssignOp operation() const { return operation_; }
  /// What the result holds before a call.
  notation::Start start() const { return options_.start.value_or(statement_.start); }
  int64_t largest_position() const { return options_.largest_position; }
  /// Has the result a place for every element before the call? Otherwise the kernel assembles it.
  bool is_placed() const;
  /// Does it write values alone of a result that is assembled else, where this pattern has them?
  bool keeps(const Pattern& result) const;
  /// Does it write every element of a dense result, whatever was there before?
  bool overwrites() const;
  /// Are a piece's index arrays as wide as those that operand k was lowered for?
  bool fits(size_t k, const Pattern& piece) const;
  /// Are those of all operands? One that is not there fits.
  bool fits(const PatternOf& pieces) const;

 private:
  static std::vector<lower::IndexWidths> widths_of_operands(const notation::ConcreteStatement& statement,
                                                            const Widths& widths);
  static lower::Options lowering(const notation::ConcreteStatement& statement,
                                 const std::vector<lower::IndexWidths>& widths, const LeafOptions& options,
                                 ScalarType positions);

  std::shared_ptr<const routine::LeafLoops> find_routine();

  LeafOptions options_;
  notation::AssignOp operation_;
  notation::ConcreteStatement statement_;
  std::vector<lower::IndexWidths> widths_;  // of the operands
  lower::Lowered kernel_;
  std::shared_ptr<const routine::LeafLoops> routine_;  // that one replaces: the function tells what it is to compute
  mutable std::optional<ir::Function> function_ = {};
  codegen::Kernel make_code(Process& process, DevicePlace device) const;

  mutable std::map<DevicePlace, codegen::Kernel> code_ = {};
};

}  // namespace spdistal
