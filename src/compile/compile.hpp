// From a statement to what runs: its plan, and kernels for the index arrays that they meet.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compile/choose.hpp"
#include "compile/leaf.hpp"
#include "lower/distribute.hpp"

namespace spdistal {

/// The kernels of loops. Chunks are parts of the outermost loop of the leaf, computed while data is under way.
enum class LeafKind : uint8_t {
  Whole,   // all loops, over whole tensors
  Piece,   // those inside the loops around the leaf, over pieces; the result starts from nothing
  Adding,  // likewise, adding to the result
  Chunk,   // one of the chunks of a leaf, adding to the result
  Values,  // as Piece, of a sparse result whose pattern stands: only its values, where the loops find their places
};

/// The leaf with its outermost loop cut into chunks.
struct ChunkedLeaf {
  static constexpr int64_t chunks = 8;
  notation::ConcreteStatement leaf;  // inside of the loop over chunks
  IndexVar var;                      // that counts them
};

struct CompiledCopy;

/// Loops compiled: what is known of them before their data. Kernels are made for the widths of index arrays that they
/// meet, each once.
class Compiled {
 public:
  explicit Compiled(notation::ConcreteStatement loops);
  explicit Compiled(Chosen chosen);
  ~Compiled();
  Compiled(Compiled&&) noexcept;

  const notation::ConcreteStatement& loops() const { return chosen_.statement; }
  /// With the commands that were chosen where nobody gave any, and why.
  const Chosen& chosen() const { return chosen_; }
  /// The distributed program: its plan, and the loops of the leaf.
  const plan::Plan& plan() const;
  /// For tests: another plan in its place, from now on.
  void replace_plan(plan::Plan plan) { plan_ = std::move(plan); }
  /// None where there are no loops around the leaf, or it does not begin with one over coordinates.
  const std::optional<ChunkedLeaf>& chunked() const;

  /// The kernel of a kind for the patterns of operands; one that is not there is taken to be stored as narrow as can be.
  const Leaf& leaf(LeafKind kind, const PatternOf& pattern);
  /// How many kernels there are: each was lowered once.
  size_t leaves() const { return leaves_.size(); }

  /// Converted operands that take the places of others.
  std::vector<CompiledCopy> copies;
  /// What kernels run on.
  Processor processor = CPU;
  /// Sizes of the statement's tensors, as they were found to fit (`check_sizes`).
  std::vector<int64_t> fitting;
  Residence residence = Residence::AsSaid;
  /// What replaces the loops of the leaf: "gemm (BLAS, libopenblas.so.0)"; empty: they run.
  std::string routine = {};
  /// What ranks sent each other to agree on it.
  runtime::Ledger sent;

 private:
  const notation::ConcreteStatement& loops_of(LeafKind kind) const;
  LeafOptions options_of(LeafKind kind) const;

  Chosen chosen_;
  mutable std::optional<plan::Plan> plan_ = {};
  mutable std::optional<std::optional<ChunkedLeaf>> chunked_ = {};
  std::vector<std::pair<LeafKind, std::unique_ptr<Leaf>>> leaves_ = {};
};

/// A copy of an operand, and what makes it.
struct CompiledCopy {
  notation::TensorVar from;
  Compiled loops;
};

/// Collective. Throws UserError where ranks mean different statements.
Compiled compile(Process& process, const ScheduledStatement& said, const Homes& homes);

}  // namespace spdistal
