// Inside of row grids: shares that walk along rows, found in the loops of a kernel, and the blocks that take their positions.
#pragma once
#include <optional>
#include <vector>

#include "passes/grid.hpp"

namespace spdistal::passes {

/// A level between rows and positions, as of fibres in slices.
struct InnerLevel {
  ir::Var at;                       // the variable of its loop
  std::vector<ir::Stmt> constants;  // of each of its turns
  ir::Var segments;                 // where what is below each of its positions begins
};

/// An array of sums in the place of one: positions add to it, each to all of its elements.
struct RowOfSums {
  ir::Allocate array;                    // zero where a row begins
  ir::Expr whole;                        // are all positions of the row in the share?
  std::vector<ir::Stmt> of_cut;          // what is done with the sums of a row that are not all
  std::vector<InnerLevel> levels = {};   // from the outside
  std::optional<ir::Var> segments = {};  // where what is below each row begins, if there are levels between
};

/// What is done in a row.
struct RowTurns {
  std::vector<ir::Stmt> constants;
  std::optional<ir::Declare> sum;  // what positions are added up in, if they are
  ir::For positions;               // those of the row that are in the share
  std::vector<ir::Stmt> after;     // what is done with the sum
  std::optional<RowOfSums> sums = {};
};

/// A share's walk along the rows of its positions. Each share begins where the one before ends, and nothing else tells them
/// apart.
struct WalkedRows {
  std::vector<ir::Stmt> constants;  // of all shares
  ir::Var begin, end;               // positions of the share
  ir::Expr all_begin, all_end;      // of all shares together
  ir::Declare row;                  // where the walk begins
  std::vector<ir::Declare> inner;   // where it does in levels between, the innermost first
  ir::Expr goes_on;                 // has the share something of the row?
  RowTurns in_row;
};
std::optional<WalkedRows> walked_rows(const ParallelRegion& region);

/// Blocks in the place of shares: each takes so many positions.
struct RowBlocks {
  const WalkedRows& walk;
  int64_t room;

  ir::Expr count() const;
  ir::Expr begin_of(const ir::Expr& block) const;
  /// How many numbers tell where a block begins: the row with its first position in it, and what that is in of the levels
  /// between, the outermost first.
  int64_t starts() const { return int64_t(walk.inner.size()) + 1; }
  /// Leaves those of a block in an array.
  ir::Stmt look_up(const ir::Var& starts, const ir::Expr& block) const;
  /// What a block has to declare before it walks.
  std::vector<ir::Stmt> declarations(const ir::Expr& block) const;
};

/// Is the row of a position found by a search, which may be asked for any of them?
bool looks_up_rows(const WalkedRows& walk);
/// The row with a position in it, of which it is known that it is none before `first` and none behind `last`.
ir::Expr row_between(const WalkedRows& walk, const ir::Expr& position, const ir::Expr& first, const ir::Expr& last);
/// Statements behind those constants that they use.
std::vector<ir::Stmt> with_constants(const std::vector<ir::Stmt>& constants, std::vector<ir::Stmt> stmts);

/// What each thread of a block does, and of how many.
struct BlockBody {
  int threads;
  std::function<ir::Stmt(const ir::Var& rows, const ir::Var& block, const ir::Var& thread)> body;
};
/// Rows that are added up; nothing where they are not.
std::optional<BlockBody> summing_block(const RowBlocks& blocks);
/// Positions that are written one by one, each by some lanes; nothing where they are not.
std::optional<BlockBody> block_of_positions(const RowBlocks& blocks, const GridMapping& mapping);
/// Rows of sums, position by position: what takes a block's positions, all in order; nothing where there are none.
std::optional<ir::Stmt> run_of_positions(const RowBlocks& blocks, const ir::Var& rows, const ir::Var& block);

}  // namespace spdistal::passes
