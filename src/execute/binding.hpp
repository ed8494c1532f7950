// What a plan comes to for data: who walks it and who brings its result home share this. And a run of it on its way.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "execute/fetches.hpp"
#include "execute/launch.hpp"
#include "execute/move/homecoming.hpp"

namespace spdistal {

/// A run on its way.
struct PlanRun {
  const Homes& operands;
  std::optional<Home>& result;  // its home: what it held before, if it held anything
  StepValues step = {};         // the values of the loops whose steps are taken
  size_t launches = 0;
  std::optional<Home> before = {};  // what later steps read of the result while earlier ones write
};

/// An access, and the level of it whose positions are those of the result.
struct SharedPattern {
  size_t access, level;
};

struct Binding {
  /// What is compiled stays where it is. `shares` are those of the result's home.
  Binding(Process& process, Compiled& compiled, Shares shares);
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  Process& process;
  runtime::Transport& transport;
  Compiled& compiled;
  const plan::Plan& plan;
  const Shares shares;
  const std::vector<int64_t> dims;     // of the result
  const notation::AssignOp operation;  // by which values of one element of the result are put together,
  const Scalar background;             // and what they begin with
  bool reads_result = false;

  RunNotes notes;  // of the last run; exchanges count into them
  FirstRun first;

  // From the kernel, whatever its widths are:
  std::optional<LocatedDims> located;
  std::vector<NumberedGroup> numbered;
  std::optional<SharedPattern> shared;  // the operand whose pattern a sparse result has

  // From the data:
  std::optional<Tasks> tasks;
  Fetches fetches;
  Launcher launcher;
  std::vector<ResultTarget> targets;  // of the colours of this rank, of the step at hand
  bool writes = false;                // no two colours compute the same elements

  const notation::TensorVar& result() const { return plan.leaf.result; }
  Range colours() const { return tasks->colours(); }
  ResultTarget& target(int64_t colour) { return targets[size_t(colour - colours().lo)]; }
  /// Does the result go home in every step?
  bool by_steps() const { return tasks->by_steps(0); }
  /// Has a colour nothing to do? Where there are no steps, its target says so.
  bool rests(int64_t colour, const StepValues& step);

  void read(const lower::Lowered& kernel);
  /// Collective. Where what colours compute is to go.
  void plan_targets(const StepValues& step);
  /// Where the operands are read from.
  Homes sources(const PlanRun& run) const;
  /// Collective. What no step cuts is there.
  void await_operands(const PlanRun& run);
  /// Collective. What the next step has for itself is brought while this one computes.
  void fetch_ahead(const PlanRun& run);

  bool on_all_ranks(bool here) const { return transport.allreduce(int64_t(here), runtime::ReduceOp::Min) != 0; }
  /// Of elements between pieces, where leaves run on GPUs.
  runtime::DeviceMoves* moves();
  template <class F>
  void timed(int64_t colour, F&& f) {
    notes.timed(notes.seconds[size_t(colour - colours().lo)], f);
  }
  template <class F>
  void exchanging(F&& f) {
    notes.timed(notes.exchange_seconds, f);
  }
};

}  // namespace spdistal
