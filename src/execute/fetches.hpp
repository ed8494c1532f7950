// What the colours of this rank have of the operands of a plan: fetched once for a pattern, or, where steps cut an access,
// in every step anew. What the next step has may be on its way while one computes.
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
  Fetches(runtime::Transport& transport, const plan::Plan& plan, const FirstRun& first, RunNotes& notes);

  /// Nothing is planned yet; the leaf allows these groups to be numbered. `moves` where leaves read pieces on devices.
  void bind(Tasks& tasks, const Homes& operands, std::vector<NumberedGroup> groups, runtime::DeviceMoves* moves);

  /// By access; of those that steps cut, of the step at hand.
  const Tasks::Pieces& pieces() const { return pieces_; }
  /// The numbers that pieces are stored with, or found by.
  Numberings& numberings() { return numberings_; }
  const Numberings& numberings() const { return numberings_; }

  // What no step cuts is planned once, when a plan is bound, and brought in each run.
  /// Collective. Finds what colours have of an access, and who brings it.
  void plan(size_t access, const Homes& operands);
  /// Local. A run begins: all that is planned has memory before anything is on its way to it.
  void begin(const Homes& operands);
  /// Collective. Brings pieces: other work may be done in between.
  void start(size_t access, const Homes& operands);
  void finish();
  /// Local. Is anything under way, and how much of it comes from other ranks?
  bool are_under_way() const;
  int64_t bytes_under_way() const;
  void poll();

  // What steps cut is planned and brought in each step.
  /// Collective. A step begins, of the innermost of the loops whose values are given: pieces of the one before are let go of, and
  /// those that are on their way for it arrive.
  void enter(const StepValues& step);
  /// Collective. Finds what colours have of an access in a step, where that is not known.
  void plan(size_t access, const Homes& operands, const StepValues& step);
  /// Collective. Brings its pieces.
  void bring(size_t access, const Homes& operands);
  /// Collective. Begins to bring what the step after the one at hand has for itself, where that does not depend on what comes with
  /// it and is known already or planned without it, and there is memory for two steps. On the host: devices have memory for one.
  void fetch_ahead(const Homes& operands, const StepValues& next);

  /// Local. What the pieces of this rank come to, of an access that no step cuts.
  plan::Travels travels(size_t access) const;

  /// Notes down what pieces take, and numbers with them.
  void note_pieces();

 private:
  using Planned = std::shared_ptr<Fetch>;
  // The fetch of a step, which stays planned.
  struct Kept {
    Planned fetch;
    bool beside_others;  // on all ranks there is memory for its pieces while another step's are at hand
  };

  const plan::AccessPlan& plan_of(size_t access) const { return plan_.accesses[access]; }
  const Home& source(size_t access, const Homes& operands);
  std::vector<PieceNumbers> numbers_for(size_t access, const Homes& operands);
  void prepare(const Homes& operands);
  Planned make(size_t access, const Homes& operands, const StepValues& step);
  void keep(size_t access, const StepValues& step, const Planned& fetch);

  // A copy of a home in which positions are consecutive, kept while the contents stand.
  struct OrderedCopy {
    std::optional<Home> home;
    uint64_t version = 0;  // of the contents that it copies
  };

  runtime::Transport& transport_;
  const plan::Plan& plan_;
  std::vector<size_t> operands_;  // in the order in which they are brought
  const FirstRun& first_;
  RunNotes& notes_;
  Tasks* tasks_ = nullptr;
  runtime::DeviceMoves* moves_ = nullptr;
  Tasks::Pieces pieces_;
  Numberings numberings_;
  // Of accesses that steps cut: which step is at hand, and the fetches of all steps, without their values. There are as
  // many as index arrays fit into as much memory as the homes of the operands take; others are planned every time. `ahead_` are
  // on their way for the next step.
  std::vector<StepValues> at_hand_;
  std::map<std::pair<size_t, StepValues>, Kept> kept_;
  std::map<size_t, Planned> ahead_;  // by access
  int64_t kept_bytes_ = 0, home_bytes_ = 0;
  bool full_ = false;  // there was no room for a plan
  std::map<size_t, OrderedCopy> ordered_;
};

}  // namespace spdistal
