// What is the same everywhere in one lowering: the statement, the function that is being built with its names and
// parameters, and what is noted of it for whoever calls it. What differs from place to place is a Scope.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/build.hpp"
#include "level/kernel.hpp"
#include "lower/lower.hpp"
#include "notation/print.hpp"

namespace spdistal::lower {

/// An access's variables, outermost level first.
std::vector<IndexVar> storage_order(const notation::Access& access);

/// Tensors are numbered as in the call: the result is 0, operand k is tensor k + 1.
struct Context final : KernelParams {
  Context(const notation::ConcreteStatement& of, const Options& with);

  const notation::ConcreteStatement& statement;
  const notation::Provenance& provenance;
  const Options& options;
  notation::Start start;         // what a result with a place for every element holds before
  notation::AssignOp operation;  // by which values of one element are put together
  Scalar background;             // what an element is that no value has come to yet
  bool infinite;                 // numbers or fill values of the statement are: sums may be swallowed
  notation::Access lhs;
  ir::FunctionBuilder f{"kernel"};
  Lowered kernel;

  // ---- tensors ----
  const notation::Access& access(int tensor) const;
  const notation::TensorVar& tensor_var(int tensor) const { return access(tensor).tensor; }
  int operands() const { return int(kernel.operands.size()); }
  int find_operand(const notation::Access& access) const;
  /// What a level of a tensor can do, and the level itself for these functions.
  const KernelFunctions& functions(int tensor, size_t level) const;
  KernelLevel level_of(int tensor, size_t level);
  bool on_pieces() const { return options.operands == Operands::Pieces; }
  ScalarType result_type() const { return lhs.tensor.type(); }
  /// The type that the values of an element are put together in, and what they begin with.
  ScalarType total_type() const { return notation::reduced_type(operation, result_type()); }
  ir::Expr first_total() const;

  // ---- names ----
  std::string name(const IndexVar& var) { return print.name(var); }
  std::string name(const notation::TensorVar& tensor) { return print.name(tensor); }
  /// Two accesses to one tensor have arrays of their own: B and B2. For people: what is printed tells names apart.
  std::string tensor_name(int tensor);
  /// B2 for the second level of B.
  std::string level_name(int tensor, size_t level);

  // ---- parameters ----
  ir::Body& body() override { return f; }
  ir::Var array(int tensor, size_t level, std::string_view name) override;
  ir::Var vals_array(int tensor);
  ir::Expr first_coordinate(int tensor, size_t level) override;
  ir::Expr stride(int tensor, size_t level) override;
  /// How many coordinates a dense level covers.
  ir::Expr dense_size(int tensor, size_t level);
  /// How many positions a level has in the arrays.
  ir::Expr stored_positions(int tensor, size_t level);
  ir::Expr number(const std::string& name, const RunTimeNumber& number);
  /// The position of a coordinate of a level with a place for each, below a position of the level above.
  ir::Expr position_of(int tensor, size_t level, const ir::Expr& parent, const ir::Expr& coordinate);

  // ---- what callers must know ----
  /// Loops visit values of these variables whatever is stored.
  void sweep(const std::vector<IndexVar>& vars);
  /// Does a dense level cover its whole dimension? Then the caller must see to it.
  bool is_whole(int tensor, size_t level);

  notation::Printer print;

 private:
  IndexWidths widths_of(int tensor) const;
};

}  // namespace spdistal::lower
