// Trying schedules of a statement on its data.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/collective.hpp"
#include "api/session.hpp"
#include "api/state.hpp"
#include "api/tune_key.hpp"
#include "api/waiting.hpp"
#include "base/text.hpp"
#include "compile/candidates.hpp"
#include "compile/described.hpp"
#include "schedule/apply.hpp"
#include "schedule/print.hpp"

namespace spdistal {

using namespace notation;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Tried {
  double seconds;  // the fastest of several runs, of the slowest rank
  size_t candidate;
  std::string schedule;
};

class Tuner {
 public:
  Tuner(TensorState& result, StatementState& statement, const TuneOptions& options)
      : result_(result), statement_(statement), options_(options), begin_(Clock::now()) {
    for (const std::shared_ptr<TensorState>& operand : statement.operands)
      operands_.emplace(operand->var, &home_of(*operand));
    pieces_ = pieces_of(statement, transport().size());
    candidates_ = candidates(statement, operands_, pieces_, process().context.threads);
    if (!statement.commands.empty())
      candidates_.insert(candidates_.begin() + 1, Candidate{"as scheduled", statement.commands});
  }

  Tuned run() {
    std::string key = tune_key(process(), statement_, operands_, pieces_, candidates_);
    if (std::optional<Candidate> kept = options_.again ? std::nullopt : find(key)) try {
        Tuned out = take(*kept);
        out.found = true;
        return out;
      } catch (const UserError&) {}  // data of the same rough shape for which it cannot be run
    std::vector<Tried> tried;
    auto try_from = [&](size_t first) {
      for (size_t k = first; k < candidates_.size() && !is_late(tried.size()); k++)
        if (std::optional<Tried> one = time(k)) tried.push_back(std::move(*one));
      std::stable_sort(tried.begin(), tried.end(),
                       [](const Tried& a, const Tried& b) { return a.seconds < b.seconds; });
    };
    try_from(0);
    // Of the fastest cut that is spelled out, what is inside of it.
    auto spelled_out =
        std::ranges::find_if(tried, [&](const Tried& one) { return !candidates_[one.candidate].commands.empty(); });
    if (spelled_out != tried.end()) {
      size_t before = candidates_.size();
      for (Candidate& more : refinements(statement_, Candidate(candidates_[spelled_out->candidate])))
        candidates_.push_back(std::move(more));
      try_from(before);
    }
    if (tried.empty()) return take(candidates_.front());  // is refused, and says why
    const Candidate& best = candidates_[fastest(tried)];
    if (transport().rank() == 0) process().jit.cache().publish(key, best.label);
    Tuned out = take(best);
    for (const Tried& one : tried) out.trials.push_back({candidates_[one.candidate].label, one.schedule, one.seconds});
    return out;
  }

 private:
  static Process& process() { return Session::instance(); }
  static runtime::Transport& transport() { return process().transport(); }

  // The same on all ranks: what was measured on the first counts.
  template <class T>
  static T as_on_first(T value) {
    transport().broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
    return value;
  }
  bool is_late(size_t tried) const {
    return as_on_first(int64_t(tried > 1 && seconds_since(begin_) > options_.seconds));
  }

  // What is chosen where nobody says, where nothing is clearly faster.
  static size_t fastest(const std::vector<Tried>& tried) {
    constexpr double clearly = 1.03, noise = 5e-6;
    for (const Tried& one : tried)
      if (one.candidate == 0 && one.seconds < clearly * tried.at(0).seconds + noise) return 0;
    return tried.at(0).candidate;
  }

  std::optional<Candidate> find(const std::string& key) const {
    std::optional<std::string> label = process().jit.cache().bytes(key);
    if (!as_on_first(label.has_value())) return {};
    std::vector<Candidate> all = candidates_;
    for (const Candidate& candidate : candidates_)
      for (Candidate& more : refinements(statement_, candidate)) all.push_back(std::move(more));
    int64_t which = -1;
    for (size_t k = 0; k < all.size(); k++)
      if (label == all[k].label) which = int64_t(k);
    which = as_on_first(which);
    return which < 0 ? std::nullopt : std::optional(all[size_t(which)]);
  }

  StatementState trial(const Candidate& candidate) const {
    StatementState out = statement_;
    out.scheduled = schedule::apply(candidate.commands, statement_.initial).value();
    out.commands = candidate.commands;
    out.execution.reset();
    return out;
  }

  static std::string text(const ConcreteStatement& scheduled, const std::vector<Command>& commands) {
    Printer names;
    names(scheduled);
    return schedule::print(commands, names);
  }
  // As it can be given; where it was chosen while it was compiled, what that was.
  static std::string text(const StatementState& run) {
    if (!run.commands.empty()) return text(run.scheduled, run.commands);
    const Chosen& chosen = run.execution->compiled().chosen();
    std::vector<Command> commands = chosen.commands;
    commands.insert(commands.end(), chosen.inside.begin(), chosen.inside.end());
    return chosen.conversions.empty() ? text(chosen.statement, commands) : "";
  }

  // As from one turn of a solver to the next, where vectors have other values: what pieces gather of them travels in every run.
  void say_changed() {
    for (const std::shared_ptr<TensorState>& operand : statement_.operands)
      if (operand->home && operand->var.format().is_dense()) operand->home->changed();
  }

  // Nothing where it cannot be run.
  std::optional<Tried> time(size_t candidate) {
    constexpr int most = 50;  // of short ones: a few may all be interrupted
    constexpr double enough = 0.2;
    StatementState tried = trial(candidates_[candidate]);
    try {
      spdistal::run(result_, tried);  // compiles, plans and brings what stays
    } catch (const UserError&) { return {}; }
    double best = 0, spent = 0;
    for (int k = 0; k < most && as_on_first(spent) < enough; k++) {
      say_changed();
      transport().allreduce(int64_t(0), runtime::ReduceOp::Sum);  // all begin at the same time
      Clock::time_point begin = Clock::now();
      spdistal::run(result_, tried);
      double here = transport().allreduce(seconds_since(begin), runtime::ReduceOp::Max);
      best = k == 0 ? here : std::min(best, here);
      spent += here;
    }
    return Tried{as_on_first(best), candidate, text(tried)};
  }

  Tuned take(const Candidate& candidate) {
    StatementState chosen = trial(candidate);
    spdistal::run(result_, chosen);
    statement_.scheduled = chosen.scheduled;
    statement_.commands = chosen.commands;
    statement_.execution = chosen.execution;
    Tuned out;
    out.schedule = text(chosen);
    out.by_itself = chosen.commands.empty();
    for (const Conversion& c : chosen.execution->compiled().chosen().conversions)
      out.converted.push_back(shown(c.from));
    return out;
  }

  TensorState& result_;
  StatementState& statement_;
  TuneOptions options_;
  Clock::time_point begin_;
  Homes operands_;
  int64_t pieces_ = 1;
  std::vector<Candidate> candidates_;
};

void check_can_tune(const TensorState& result, const StatementState& statement) {
  if (statement.reads_result)
    throw UserError(fmt::format("{} is read by its own statement: every try would change it", shown(result.var)),
                    "tune a statement that computes it anew");
  if (is_for_gpus(statement))
    throw UserError("schedules are tried on processors, not on GPUs", "leave the schedule to be chosen, or give one");
}

}  // namespace

Tuned tune(TensorState& result, StatementState& statement, const TuneOptions& options) {
  check_can_tune(result, statement);
  return Tuner(result, statement, options).run();
}

Tuned tune(TensorState& result, const TuneOptions& options) {
  std::shared_ptr<StatementState> statement = current_statement(result);
  check_can_tune(result, *statement);
  waiting().compute(result);
  return tune(result, *statement, options);
}

Tuned TensorBase::tune(const TuneOptions& options) {
  return collectively([&] { return spdistal::tune(*state_, options); });
}

std::string Tuned::str() const {
  std::string name = schedule.empty() ? "nothing is to be said" : schedule;
  if (!converted.empty()) name = fmt::format("no schedule, as none says that {} is converted", enumerate(converted));
  std::vector<std::string> marks;
  if (by_itself) marks.push_back("chosen by itself");
  if (found) marks.push_back("found before");
  std::string out = fmt::format("tuned: {}{}\n", name, marks.empty() ? "" : " (" + join(marks, ", ") + ")");
  for (const Trial& trial : trials)
    out += fmt::format("  {:10.3f} ms  {}{}{}\n", trial.seconds * 1e3, trial.label, trial.schedule.empty() ? "" : ": ",
                       trial.schedule);
  return out;
}

}  // namespace spdistal
