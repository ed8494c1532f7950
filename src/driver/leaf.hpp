// Running one scheduled statement in this process: lower, optimise, compile (or interpret), call, and hold the result.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "codegen/jit.hpp"
#include "codegen/memory.hpp"
#include "lower/lower.hpp"
#include "notation/concrete.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// What the operands are. A tensor that is read and written stands here with what it held before.
using Storages = std::map<notation::TensorVar, const Storage*>;

/// A statement compiled for operands of certain widths; runs any number of times.
class Leaf {
 public:
  /// Index arrays of operands are as wide as in `storages`.
  Leaf(const notation::ConcreteStatement& statement, const Storages& storages);

  /// The optimised kernel.
  const ir::Function& function() const { return function_; }
  const lower::Kernel& kernel() const { return kernel_; }
  /// The statement with the workspaces that were put in.
  const notation::ConcreteStatement& statement() const { return statement_; }

  /// Computes the result. `run` calls the kernel: compiled, or interpreted. For a statement that adds (+=) to a dense
  /// result, `storages` has what it held before.
  Storage compute(const Storages& storages, spd_context& context, const std::function<void(spd_call&)>& run) const;

 private:
  notation::ConcreteStatement statement_;
  lower::Kernel kernel_;
  ir::Function function_;
};

}  // namespace spdistal
