// What the colours of this rank have of the operands of a plan: fetched once for a pattern, or, where steps cut an access,
// in every step anew.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "execute/notes.hpp"
#include "execute/numbered.hpp"
#include "execute/tasks.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal {

/// What fails in the first run after binding fails on all ranks alike; later runs do the same again.
struct FirstRun {
  runtime::Transport& transport;
  bool over = false;

  template <class F>
  void together(F&& f) const {
    if (over) f();
    else runtime::together(transport, f);
  }
};

class Fetches {
 public:
  /// What is given stays where it is.
  Fetches(runtime::Transport& transport, const lower::Distributed& program, const FirstRun& first, RunNotes& notes);

  /// Collective. Plans what no step cuts; the leaf allows these groups to be numbered. `moves` where leaves read pieces on devices.
  void bind(Tasks& tasks, const Homes& operands, std::vector<NumberedGroup> groups, runtime::DeviceMoves* moves);

  /// By access; of those that steps cut, of the step at hand.
  const Tasks::Pieces& pieces() const { return pieces_; }
  /// The numbers that pieces are stored with, or found by.
  Numberings& numberings() { return numberings_; }
  const Numberings& numberings() const { return numberings_; }

  /// Collective. Brings what no step cuts: other work may be done in between.
  void start(const Homes& operands);
  void finish();
  /// Local. Is any of it under way?
  bool are_under_way() const;
  void poll();

  /// Notes down what pieces take, and numbers with them.
  void note_pieces();

  /// Collective. Brings what a step has for itself.
  void fetch(const Homes& operands, const StepValues& step);

 private:
  const plan::AccessPlan& plan_of(size_t access) const { return program_.plan.accesses[access]; }
  const Home& source(size_t access, const Homes& operands);
  std::vector<PieceNumbers> numbers_for(size_t access, const Homes& operands);
  void plan(size_t access, const Homes& operands, const StepValues& step);
  void let_go(const StepValues& step);
  void take(size_t access, const Homes& operands, const StepValues& step);
  void prepare(const Homes& operands);

  // A copy of a home in which positions are consecutive, kept while the contents stand.
  struct OrderedCopy {
    std::optional<Home> home;
    uint64_t version = 0;  // of the contents that it copies
  };

  runtime::Transport& transport_;
  const lower::Distributed& program_;
  const FirstRun& first_;
  RunNotes& notes_;
  Tasks* tasks_ = nullptr;
  runtime::DeviceMoves* moves_ = nullptr;
  Tasks::Pieces pieces_;
  Numberings numberings_;
  // Of accesses that steps cut: which step is at hand, and the fetches of all steps, without their values. There are as
  // many as index arrays fit into as much memory as the homes of the operands take; others are planned every time.
  std::vector<StepValues> at_hand_;
  std::map<std::pair<size_t, StepValues>, std::shared_ptr<Fetch>> kept_;
  size_t kept_bytes_ = 0, home_bytes_ = 0;
  std::map<size_t, OrderedCopy> ordered_;
};

}  // namespace spdistal
