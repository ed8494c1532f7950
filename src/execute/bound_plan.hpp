// A plan bound to data, and run: walks the actions of the plan, in order, and calls the runtime. What is known of the data once
// its patterns stand (partitions, exchanges, kernels) is made when it is bound, of actions inside of steps at the first run, and
// kept.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "execute/fetches.hpp"
#include "execute/launch.hpp"
#include "execute/move/homecoming.hpp"
#include "execute/move/sparse_homecoming.hpp"
#include "execute/move/taken_over.hpp"
#include "execute/overlap.hpp"

namespace spdistal {

class BoundPlan {
 public:
  /// Sizes are known. `shares` are those of the result's home. What is compiled stays where it is.
  BoundPlan(Process& process, Compiled& compiled, Shares shares);
  BoundPlan(const BoundPlan&) = delete;
  BoundPlan& operator=(const BoundPlan&) = delete;

  const Shares& shares() const { return result_shares_; }

  /// Collective. Prepares all for operands as they are; nothing happens where they have the patterns of the last time.
  void bind(const Homes& operands);
  /// Collective. Computes the result into its home: `result` is what it held before, if it held anything. `arguments` are
  /// the statement's numbers of the host.
  void compute(const Homes& operands, std::optional<Home>& result, const std::vector<Scalar>& arguments = {});

  /// The text of the kernel.
  std::string kernel();
  /// Collective. What is known of the plan now that it is bound.
  plan::PlanFacts facts();
  /// What colours of this rank have of the operands, by access; of those that steps cut, in the last step.
  const Tasks::Pieces& pieces() const { return fetches_.pieces(); }
  const Tasks& tasks() const { return *tasks_; }
  /// Adds to the run to come what was sent elsewhere to prepare it.
  void note_sent(const runtime::Ledger& sent);
  /// Collective. Of the last run.
  Report report() const;

 private:
  const notation::TensorVar& result_var() const { return plan_.leaf.result; }
  /// Where the result lives after a run.
  const Shares& home_shares() const;
  bool by_steps() const { return tasks_->by_steps(0); }  // does the result go home in every step?
  Range colours() const { return tasks_->colours(); }
  ResultTarget& target(int64_t colour) { return targets_[size_t(colour - colours().lo)]; }
  template <class F>
  void timed(int64_t colour, F&& f);
  template <class F>
  void exchanging(F&& f);

  // A run on its way.
  struct PlanRun {
    const Homes& operands;
    std::optional<Home>& result;
    StepValues step = {};  // the values of the loops whose steps are taken
    size_t launches = 0;
    notation::Start start = notation::Start::Zero;  // of the next launch: later ones add to what is there
    // Dense results:
    bool begun = false;               // is there at home what is added to?
    std::optional<Home> before = {};  // what later steps read while earlier ones write
    // Sparse results:
    bool stands = false;                    // does the home store what the last run found?
    std::vector<Storage> made = {};         // pieces as they were computed
    std::optional<Coordinates> found = {};  // their elements, where these are to be merged
  };
  void begin(PlanRun& run);
  void perform(const std::vector<plan::Action>& actions, PlanRun& run);
  void partition(size_t access, PlanRun& run);
  void fetch(size_t access, PlanRun& run);
  void take_steps(const plan::ForSteps& steps, PlanRun& run);
  void launch(PlanRun& run);
  void take_home(PlanRun& run);
  Homes sources(const PlanRun& run) const;

  /// Of elements between pieces, where leaves run on GPUs.
  runtime::DeviceMoves* moves();
  void read(const lower::Lowered& kernel);
  std::vector<NumberedGroup> numbered_by_all();
  void plan_pieces(const Homes& operands);
  void plan_targets(const StepValues& step);
  bool on_all_ranks(bool here);
  plan::Returns returns() const;

  // Dense results (bound_plan_dense.cpp).
  void begin_dense(PlanRun& run);
  void launch_dense(PlanRun& run);
  void take_home_dense(PlanRun& run);
  bool can_be_in_place() const;
  bool assigns() const;
  Storage& place_of(Home& result, int64_t colour);
  void fill(Home& result);
  void fill(Storage& piece, const DevicePlace& device);
  void prepare_homecoming(const Home& result);
  bool rests(int64_t colour, const StepValues& step);
  void launch_step(PlanRun& run);
  void fetch_ahead(const PlanRun& run);
  bool steps_in_chunks();
  void find_chunks();
  bool overlaps();
  enum class When : uint8_t { Ready, Others };
  void launch_chunks(Home& result, When when);
  void launch_chunk(Storage& into, const Turn& turn);

  // Sparse results (bound_plan_sparse.cpp).
  /// Where a sparse result ends up: its pieces are those of its home; they become its home, as blocks of coordinates or with
  /// the positions of an operand; they are merged there.
  enum class Way : uint8_t { Stays, Settles, TakesOver, Moves };
  void begin_sparse(PlanRun& run);
  void launch_sparse(PlanRun& run);
  void take_home_sparse(PlanRun& run);
  Way choose_way();
  bool matches(const Shares& shares);
  std::vector<size_t> dense_rows() const;
  bool cuts_dense_rows(const Shares& shares) const;
  bool is_cut_by_weight() const;
  bool matches_positions() const;
  bool follows_operand() const;
  std::vector<Storage> compute_pieces();
  void compute_again(Home& result);
  void compute_elements(PlanRun& run);
  Home merged(Coordinates elements);
  Home leave_pieces(std::vector<Storage> made);
  void move_values(std::vector<Storage>& made, Home& result);
  bool moves_values() const;
  bool at_once() const;
  void keep(std::optional<Home>& result, Home fresh);

  // An access, and the level of it whose positions are those of the result.
  struct SharedPattern {
    size_t access, level;
  };

  Process& process_;
  runtime::Transport& transport_;
  Compiled& compiled_;
  const plan::Plan& plan_;
  Shares result_shares_;
  std::vector<int64_t> result_dims_;
  bool reads_result_ = false;
  notation::AssignOp operation_;  // by which values of one element of the result are put together,
  Scalar background_;             // and what they begin with
  std::optional<LocatedDims> located_;
  std::vector<NumberedGroup> numbered_;

  RunNotes notes_;  // of the last run; exchanges count into them
  FirstRun first_;

  // Bound to the data:
  std::map<notation::TensorVar, uint64_t> patterns_;  // that this is bound to
  std::optional<Tasks> tasks_;
  Fetches fetches_;
  Launcher launcher_;
  std::vector<ResultTarget> targets_;
  std::optional<Homecoming> homecoming_;
  bool writes_ = false;                  // no two colours compute the same elements
  bool in_place_ = false;                // dense results: are they computed at home?
  std::optional<SharedPattern> shared_;  // the operand whose pattern a sparse result has
  Way way_ = Way::Moves;                 // sparse results
  std::optional<TakenOver> taken_over_;
  std::optional<Shares> settled_;  // the home of a sparse result that stays where blocks of it were computed
  std::optional<SparseHomecoming> values_home_;
  uint64_t made_ = 0;                 // the pattern of the result that the last run made from these operands
  std::optional<ReadyChunks> ready_;  // found at the second run
};

template <class F>
void BoundPlan::timed(int64_t colour, F&& f) {
  notes_.timed(notes_.seconds[size_t(colour - colours().lo)], f);
}

template <class F>
void BoundPlan::exchanging(F&& f) {
  notes_.timed(notes_.exchange_seconds, f);
}

}  // namespace spdistal
