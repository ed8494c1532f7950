// The state of one lowering. Statements are visited from the outside in; loops bind index variables, accesses go down
// their levels as their variables become known, and the innermost assignments write the result.
//
// Reading order: lower.cpp (what kind of result), assemble.cpp and scatter.cpp (results that are not known beforehand),
// loops.cpp, merge.cpp, positions.cpp and rows.cpp (which loop is emitted), emit.cpp (how), active.cpp (where there is
// anything to do), access.cpp (going down levels), values.cpp (expressions), result.cpp (writing). pieces.cpp: what differs
// where tensors are pieces.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/build.hpp"
#include "level/kernel.hpp"
#include "lower/formula.hpp"
#include "lower/lower.hpp"
#include "notation/print.hpp"

namespace spdistal::lower {

/// How far an access has gone down its levels.
struct AccessState {
  size_t level = 0;                      // the next level to go to
  ir::Expr position = ir::int64(0);      // at the level before
  std::optional<ir::Expr> present = {};  // a bool; empty: certainly stored
  std::optional<ir::Expr> group = {};    // of a level that repeats coordinates: positions up to here belong together
  std::vector<ir::Expr> path = {};       // positions at all levels before
  std::optional<ir::Expr> value = {};    // of an element that was read already, zero where it is not stored
};

/// An array that tells how the work before each index adds up; index `first` stands at its beginning.
struct Weight {
  ir::Var sums;
  ir::Expr first = ir::int64(0);
};

/// A temporary of a where: a scalar, a dense array, or an array with a list of what was touched.
struct Temporary {
  ir::Var values;                             // a mutable scalar or an array
  std::vector<ir::Expr> sizes;                // of its dimensions
  std::optional<ir::Var> marks, list, count;  // of a sparse one: touched or not, touched coordinates, how many
  /// Of one that may be hashed: `places` is how many places the arrays have.
  struct Hash {
    ir::Expr hashed, places;
    ir::Var keys, slots;  // whose place it is; the places of touched coordinates as they came
  };
  std::optional<Hash> hash = {};
  std::optional<ir::Expr> slot = {};           // of the coordinate at hand, while it is read
  std::optional<IndexVar> reader = {};         // the loop that reads all of it once, and nothing else does
  bool cleaned = false;                        // by that loop
  std::optional<notation::Stmt> made_by = {};  // of a scalar: what tells where it is made
};

/// Does a loop over a coordinate visit all its values, or a range of them?
enum class Reach : uint8_t { Whole, Part };

enum class Phase : uint8_t { Count, Fill };

/// Atoms of formulas: operands by their number, workspaces from here on.
inline constexpr int first_workspace_atom = 1 << 20;

/// An access's variables, outermost level first.
std::vector<IndexVar> storage_order(const notation::Access& access);

class Lowerer final : private KernelParams {
 public:
  Lowerer(const notation::ConcreteStatement& statement, const Options& options);
  Kernel run();

 private:
  // ---- lower.cpp ----
  void choose_assembly();
  bool loops_follow_result() const;
  bool comes_in_order() const;
  /// The directly nested and consumer-side loops down to the assignment of the result.
  std::vector<notation::Forall> loops_to_result() const;
  void visit_in_place();

  // ---- assemble.cpp ----
  /// What the levels of a result that are not dense hold: the first of them, how many of each there are (for a list of
  /// coordinates: of its elements), and whether a piece may have places above them that the loops do not come to.
  struct ResultLevels {
    size_t dense = 0;
    std::vector<ir::Expr> counts;
    bool gaps = false;
  };
  void assemble();
  void assemble_at_once(const ResultLevels& made);
  void assemble_in_parts(const ResultLevels& made, const std::vector<int>& bounding);
  void assemble_in_phases(ResultLevels made, const ir::Expr& shares);
  void assemble_phase(Phase phase, const ir::Var& counts, const ir::Expr& shares, size_t cursors);
  /// Walks the loops in shares of the outermost one; `around` is what a share does, walking included.
  using Around = std::function<void(const ir::Expr& share, const std::function<void()>& walk)>;
  void walk_shares(Phase phase, const ir::Expr& shares, const Around& around);
  void each_share(
      const ir::Expr& shares, const std::function<void(const ir::Expr& share)>& fill,
      const std::function<void()>& setup = [] {});
  /// Coordinates of a result that is listed, by dimension.
  ir::Var list_array(size_t dim);
  bool narrow_positions(const ResultLevels& made);
  void make_room(const ResultLevels& made);
  void close_gaps(const ResultLevels& made);
  /// With what there is of each level.
  void finish_levels(const ResultLevels& made);
  void make_workspaces();
  std::optional<std::vector<int>> bounding_tensors(size_t dense);
  std::vector<ir::Expr> bounds_of_levels(const std::vector<int>& tensors, size_t dense,
                                         const std::function<Segment(int tensor)>& rows);
  /// The arrays that are filled: those of the result, or of a share's part of it.
  ir::Var made_weight(size_t level) { return functions(0, level).weight(level_of(0, level)); }
  std::vector<ir::Var> made_arrays(size_t level) { return functions(0, level).appended(level_of(0, level)); }
  ir::Var made_vals() { return in_part(vals_array(0)); }
  /// What stands for an array of the result in a share's part of it.
  ir::Var in_part(const ir::Var& whole) const;

  // ---- scatter.cpp ----
  /// How many entries come to each place of the dense levels, later where the next of them goes; each share has its own.
  struct Tally {
    ir::Var counts;
    ir::Expr places;                // of each share
    ir::Expr first = ir::int64(0);  // of the share at hand
  };
  bool can_scatter() const;
  std::optional<std::vector<IndexVar>> digits(const IndexVar& var) const;
  void scatter(ResultLevels made);
  ir::Expr shares_of_tally(const ir::Expr& places);
  void scan_tally(const ir::Var& pos, const ir::Expr& shares);
  void scatter_element(const std::optional<ir::Expr>& value);

  // ---- loops.cpp ----
  void visit(const notation::Stmt& stmt);
  void visit_loop(const notation::Forall& loop);
  void coordinate_loop(const notation::Forall& loop, const IndexVar& var, Segment range, Reach reach);
  void dense_loop(const notation::Forall& loop, const IndexVar& var, const Segment& range,
                  const std::vector<int>& walked);
  void sparse_loop(const notation::Forall& loop, const IndexVar& var, const Segment& range, Reach reach, int operand);
  void workspace_loop(const notation::Forall& loop, const IndexVar& var, const notation::TensorVar& workspace);
  void leave_zero(const notation::Forall& loop);

  // ---- merge.cpp ----
  void merge_loop(const notation::Forall& loop, const IndexVar& var, const Segment& range, Reach reach,
                  const Formula& where);
  struct Term {
    int operand;
    ir::BinaryOp sign;  // Add or Sub
  };
  std::optional<std::vector<Term>> plain_sum(const notation::Forall& loop, const std::set<int>& walked) const;
  class Merge;

  // ---- positions.cpp ----
  void position_loop(const notation::Forall& loop, const IndexVar& var, const Segment& range,
                     const notation::Levels& levels);
  ir::Expr stored_positions(int tensor, size_t level);
  std::optional<size_t> looked_up(const notation::Levels& levels) const;
  ir::Expr local_position(const notation::Levels& levels, size_t level, const ir::Expr& p);
  Segment positions_below(int operand, size_t level);
  ir::Expr count_positions(const notation::Levels& levels);
  ir::Expr search_parent(int tensor, size_t level, const ir::Expr& position);
  std::vector<std::pair<IndexVar, ir::Expr>> enter_position(
      const IndexVar& position_var, const notation::Levels& levels, const ir::Expr& p,
      const std::function<ir::Expr(size_t level, const ir::Expr& position)>& parent);
  /// From a position of a level up to the first of the levels: adds their coordinates to `found`, and their positions to
  /// the path.
  void climb(const notation::Levels& levels, size_t level, ir::Expr position, AccessState& reached,
             std::vector<std::pair<IndexVar, ir::Expr>>& found,
             const std::function<ir::Expr(size_t level, const ir::Expr& position)>& parent);
  /// The value of the variable that coordinates, the last level's first, together stand for; seldom read.
  ir::Expr fused(const std::vector<std::pair<IndexVar, ir::Expr>>& found);
  /// Where the levels above are at the first position of a share: searched once; those down to `walked` are then walked
  /// along.
  std::map<size_t, ir::Var> search_parents(const notation::Levels& levels, const ir::Expr& first, size_t walked);
  /// A divisor, also where there is nothing to divide.
  static ir::Expr nonzero(const ir::Expr& size);

  // ---- rows.cpp ----
  /// The rows of a position loop.
  struct Rows {
    enum class Kind : uint8_t { Positions, Runs };
    size_t level;   // the last whose coordinate a row has
    size_t stored;  // the last with positions of its own: the levels below have one coordinate each
    Kind kind;
  };
  struct RowWalk;
  using Coordinates = std::vector<std::pair<IndexVar, ir::Expr>>;  // the last level's first
  std::optional<Rows> rows_of(const notation::Forall& loop, const notation::Levels& levels) const;
  bool owns_rows(const notation::Forall& loop, const notation::Levels& levels, const Rows& rows) const;
  bool row_is_complete(const notation::Levels& levels) const;
  void row_loop(const notation::Forall& loop, const IndexVar& var, const Segment& range, const notation::Levels& levels,
                const Rows& rows);
  void walk_positions(const RowWalk& walk);
  void walk_runs(const RowWalk& walk);
  ir::Expr first_below(const RowWalk& walk, const ir::Expr& row, size_t level);
  std::map<size_t, Segment> parts_of_row(const RowWalk& walk, const ir::Expr& row,
                                         const std::map<size_t, ir::Expr>& begins, const Segment& part);
  void levels_in_row(const RowWalk& walk, size_t level, const ir::Expr& parent, const std::map<size_t, Segment>& parts,
                     const Coordinates& above);
  void positions_in_row(const RowWalk& walk, const Segment& part, const Coordinates& above);
  void write_row(const RowWalk& walk, const ir::Expr& whole, const std::function<void()>& inside);
  void write_row(const RowWalk& walk, const ir::Expr& whole, const std::function<void()>& all,
                 const std::function<void()>& part);

  // ---- emit.cpp ----
  /// for (name = range…), divided among threads where the loop is parallel and nothing speaks against it. `before` runs
  /// once per thread with the first index.
  void range_loop(const notation::Forall& loop, const std::string& name, const Segment& range,
                  const std::optional<Weight>& weight, const std::function<void(const ir::Expr& first)>& before,
                  const std::function<void(const ir::Var&)>& fill);
  /// The same with what each share does left open: `walk` runs over its part of the range.
  using Walk = std::function<void(const Segment& mine, const ir::LoopOptions& options)>;
  void range_loop(const notation::Forall& loop, const std::string& name, const Segment& range,
                  const std::optional<Weight>& weight, const Walk& walk);
  /// Where a part of a range begins, of so many; the first begins where the range does. None: by length.
  using Cut = std::function<ir::Expr(const Segment& range, const ir::Expr& part, const ir::Expr& parts)>;
  static ir::Expr evenly(const Segment& range, const ir::Expr& part, const ir::Expr& parts);
  /// Walks a range: a share of it where a result is assembled, all shares by threads, or all of it.
  void divide(const notation::Forall& loop, const std::string& name, const Segment& range, const Cut& cut,
              const std::function<void(const Segment& mine, bool divided)>& walk);
  /// Binds variables, finds what follows from them (guarded), takes accesses down, then fills.
  void bind(std::vector<std::pair<IndexVar, ir::Expr>> found, const std::function<void()>& fill);
  void derive(const std::function<void()>& fill);
  bool can_run_in_parallel(const notation::Forall& loop) const;
  const ir::Var& shares();
  bool writes_in_place(const notation::Forall& loop) const;
  bool temporary_sum(const notation::Assign& assign) const;
  void once_for_all_shares(const std::function<void()>& fill);
  std::vector<std::pair<IndexVar, ir::Expr>> with_below(const IndexVar& top, const ir::Expr& value) const;

  // ---- pieces.cpp ----
  bool on_pieces() const { return options_.operands == Operands::Pieces; }
  /// Runs `fill` where the variables of the loops around the kernel are known.
  void inside_outer_loops(const std::function<void()>& fill);
  void sweep(const std::vector<IndexVar>& vars);
  bool depends_on_outer(const IndexVar& var) const;
  bool outer_may_lie_beyond() const;
  bool size_varies(const IndexVar& var) const;
  bool visits_whole_range(const IndexVar& var) const;
  bool is_whole(int tensor, size_t level);
  ir::Expr first_coordinate(int tensor, size_t level) override;
  ir::Expr stride(int tensor, size_t level) override;
  /// The position of a coordinate of a level with a place for each, below a position of the level above.
  ir::Expr position_of(int tensor, size_t level, const ir::Expr& parent, const ir::Expr& coordinate);
  Segment where_dense_levels_are(const IndexVar& var, Segment range);
  std::optional<Segment> covered(const IndexVar& var);
  std::optional<ir::Expr> covers_result();
  void zero_all();
  ir::Expr number(const std::string& name, const RunTimeNumber& number);

  // ---- hashed.cpp ----
  /// How many places the workspace of a where has at most, where that may be far fewer than there are coordinates.
  struct Room {
    ir::Expr hashed, places;
  };
  std::optional<Room> hashed_room(const notation::Where& where, const notation::Assign& made);
  /// The place of a coordinate: its own, or the first that is free.
  ir::Expr find_slot(const Temporary& temporary, const std::string& name, const ir::Expr& coordinate);

  // ---- active.cpp ----
  /// Where the statement has an effect, as a formula over the operands (and workspaces) that `atoms` names.
  Formula where_active(const notation::Stmt& stmt, const std::set<int>& atoms);
  Formula where_active(const notation::Expr& expr, const std::set<int>& atoms);

  // ---- access.cpp ----
  const IndexVar& level_var(int operand) const;
  /// What a level of a tensor can do, and the level itself for these functions.
  const KernelFunctions& functions(int tensor, size_t level) const;
  KernelLevel level_of(int tensor, size_t level);
  /// Of the next level of an operand.
  const KernelFunctions& next_functions(int operand) const;
  KernelLevel next_level(int operand) { return level_of(operand + 1, states_[size_t(operand)].level); }
  bool at_end(int operand) const;
  /// Goes down levels whose variables are known.
  void settle();
  void settle(int operand);
  Above above(int operand) const;
  Segment segment(int operand);
  ir::Expr coordinate(int operand, const ir::Expr& position);
  /// The first position of a segment of the next level at or after a coordinate.
  ir::Expr seek(int operand, const Segment& range, const ir::Expr& coordinate);
  void enter(int operand, const ir::Expr& position, std::optional<ir::Expr> present, const ir::Expr& segment_end);
  ir::Expr dense_size(int tensor, size_t level);
  IndexWidths widths_of(int tensor) const;
  ir::Var array(int tensor, size_t level, std::string_view name) override;
  ir::Var whole_array(int tensor, size_t level, std::string_view name);
  ir::Body& body() override { return f_; }
  ir::Var vals_array(int tensor);
  std::string tensor_name(int tensor);
  const notation::Access& access(int tensor) const;
  const notation::TensorVar& tensor_var(int tensor) const { return access(tensor).tensor; }

  // ---- values.cpp ----
  std::optional<ir::Expr> where_present(const notation::Expr& expr) const;
  ir::Expr value(const notation::Expr& expr);
  ir::Expr argument(const notation::Argument& n);
  ir::Expr load_operand(int operand);
  ir::Expr index(const notation::IndexExpr& expr);
  ir::Expr size(const IndexVar& var);
  ir::Expr extent(const Pieces& pieces, const std::string& name);
  ir::Expr temporary_position(const Temporary& temporary, const std::vector<IndexVar>& indices);
  int find_operand(const notation::Access& access) const;
  std::string name(const IndexVar& var) { return print_.name(var); }

  // ---- result.cpp ----
  void visit_where(const notation::Where& where);
  void visit_assign(const notation::Assign& assign);
  void write_temporary(const notation::Assign& assign);
  void write_result(const notation::Assign& assign);
  bool assigned_once() const;
  void write_element(const ir::Expr& value, notation::AssignOp op);
  void store(const ir::Var& array, const ir::Expr& at, const ir::Expr& value, ir::StoreMode mode);
  void where_element_is(const std::function<void()>& fill);
  ir::Expr result_position();
  void append(const std::optional<ir::Expr>& value);
  void open_level(const IndexVar& var, const std::function<void()>& fill);
  /// The result's variables that are not known here. None: a part of one is bound outside.
  std::optional<std::vector<IndexVar>> open_variables() const;
  void each_open_element(const std::vector<IndexVar>& open, const std::function<void()>& fill);
  void zero_rest();
  /// Runs `fill` with its additions going to an array of this thread's, then adds that to the result.
  void sum_apart(const std::function<void()>& fill);
  bool holds_result(const notation::Stmt& stmt) const;
  bool indexes_result(const IndexVar& var) const;
  bool is_reduction(const IndexVar& var) const;
  bool revisits(const IndexVar& var) const;
  bool element_known() const;
  ScalarType result_type() const { return lhs_.tensor.type(); }
  ScalarType sum_type() const { return promote(result_type(), ScalarType::Int32); }
  void zeroed_here();
  std::optional<ir::Expr> presence(const notation::Expr& expr);

  const notation::ConcreteStatement& statement_;
  const notation::Provenance& provenance_;
  const Options& options_;
  notation::Start start_;
  notation::Access lhs_;
  notation::Printer print_;
  ir::FunctionBuilder f_{"kernel"};
  Kernel kernel_;

  std::map<IndexVar, ir::Expr> values_;  // of the variables known here
  std::vector<AccessState> states_;      // one per operand
  std::map<notation::TensorVar, Temporary> temporaries_;
  std::map<notation::TensorVar, Room> rooms_;  // of workspaces that may be hashed
  std::optional<ir::Var> shares_;
  std::map<notation::TensorVar, Formula> made_where_;  // while a formula is built: where temporaries are made
  std::vector<std::set<int>> some_present_;            // operands of which at least one is stored here
  std::vector<std::pair<IndexVar, ir::Expr>> below_;   // of the loop at hand: variables a known distance below it

  Phase phase_ = Phase::Fill;
  std::vector<ir::Var> cursors_;      // of the result's compressed levels, or of the list
  std::optional<Tally> tally_;        // of a result that is scattered
  std::optional<ir::Var> sum_, any_;  // of the element that a reduction is working on
  struct Apart {
    Temporary sums;
    std::vector<IndexVar> indices;
  };
  std::optional<Apart> apart_;           // where additions to the result go for now
  bool covering_ = true;                 // the loops so far visit every element of the result
  bool zeroed_ = false;                  // the elements that follow were zeroed by the kernel
  bool revisiting_ = false;              // the loops outside come to the same elements more than once
  bool racing_ = false;                  // other threads write the same elements
  std::optional<IndexVar> racing_loop_;  // the loop whose iterations these threads run
  bool in_parallel_ = false;
  std::optional<ir::Var> summed_;  // the right side of the statement at hand, added up already
  bool sum_in_threads_ = false;    // each thread sums the element for itself
  bool plain_range_ = false;       // the loop at hand runs over a range with nothing walking along
  bool in_producer_ = false;
  std::optional<ir::Expr> chunk_, chunks_;  // assembly: which share of the outermost loop this is, and of how many
  struct Part {
    std::vector<std::pair<ir::Var, ir::Var>> arrays;  // of the result, and what stands for them
  };
  std::optional<Part> part_;  // of the result, made by a share for itself
  /// What a share does around its part of the outermost loop.
  std::function<void(const Segment& mine, const std::function<void()>& walk)> around_share_;
};

}  // namespace spdistal::lower
