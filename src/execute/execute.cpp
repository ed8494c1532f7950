#include "execute/execute.hpp"

#include <algorithm>
#include <chrono>

#include "base/require.hpp"
#include "execute/launcher.hpp"
#include "execute/move/fetch.hpp"
#include "execute/move/homecoming.hpp"
#include "execute/notes.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;
using runtime::Arrival;
using runtime::ColourGrid;
using runtime::Transport;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

struct Execution::State {
  Process& process;
  Transport& transport;
  Printer names{ArgumentText::Name};
  lower::Distributed program;
  Shares result_shares;
  std::vector<int64_t> result_dims;
  bool reads_result = false;
  Located located;
  std::optional<Chunks> chunks;  // of the leaf; compiled kernels know their variable

  RunNotes notes;  // of the last run; exchanges count into them

  // Bound to the data:
  std::map<TensorVar, uint64_t> patterns;  // that this is bound to
  std::optional<Tasks> tasks;
  Tasks::Pieces pieces;  // by access; of those that steps cut, of the step at hand
  // Of accesses that steps cut: which step is at hand, and the fetches of all steps, without their values. There are as
  // many as index arrays fit into as much memory as the homes of the operands take; others are planned every time.
  std::vector<Step> at_hand;
  std::map<std::pair<size_t, Step>, std::shared_ptr<Fetch>> kept;
  size_t kept_bytes = 0, home_bytes = 0;
  struct Ordered {
    std::optional<Home> home;
    uint64_t version = 0;  // of the contents that it copies
  };
  std::map<size_t, Ordered> ordered;
  std::vector<Target> targets;
  std::optional<Homecoming> homecoming;
  bool writes = false;               // no two colours compute the same elements
  std::optional<bool> in_place;      // dense results; decided at the first run
  std::optional<bool> stays;         // sparse results, likewise: pieces that colours compute are those of the home
  std::optional<ReadyChunks> ready;  // found at the second run
  bool tried = false;                // has run once since it was bound
  Launcher launcher;

  State(Process& p, const ConcreteStatement& statement, Shares shares)
      : process(p),
        transport(p.transport()),
        program(lower::distribute(statement, names)),
        result_shares(std::move(shares)),
        result_dims(known_dims(statement.result)),
        located(find_located(program)),
        chunks(Chunks::of(program)),
        launcher(process, program, pieces, chunks ? &*chunks : nullptr) {
    for (size_t k = 1; k < accesses(); k++) reads_result |= is_result(k);
  }

  const TensorVar& result_var() const { return program.leaf.result; }
  const plan::Access& plan_of(size_t k) const { return program.plan.accesses[k]; }
  size_t accesses() const { return program.accesses.size(); }
  bool is_result(size_t k) const { return program.accesses[k].access.tensor == result_var(); }
  Range colours() const { return tasks->colours(); }

  // ---- binding ----

  void bind(const Homes& operands) {
    std::map<TensorVar, uint64_t> there;
    for (const auto& [tensor, home] : operands) there.emplace(tensor, home->pattern_version());
    if (tasks && there == patterns) return;
    homecoming.reset();
    pieces.clear();
    pieces.resize(accesses());
    at_hand.assign(accesses(), {});
    kept.clear();
    kept_bytes = home_bytes = 0;
    for (const auto& [tensor, home] : operands)
      for (int64_t q = home->colours().lo; q < home->colours().hi; q++) home_bytes += home->piece(q).bytes();
    ordered.clear();
    in_place.reset();
    stays.reset();
    tried = false;
    ready.reset();
    tasks.emplace(program, operands, result_shares, transport, located);
    launcher.bind(*tasks);
    notes.begin(colours().size());
    for (size_t k : program.plan.fetch_order)
      if (!tasks->by_steps(k)) plan_fetch(k, operands, {});
    if (!tasks->by_steps(0)) plan_targets({});
    writes = plan_of(0).privilege == plan::Privilege::Write && tasks->are_disjoint();
    patterns = std::move(there);
  }

  // Where an access is fetched from: the home of its tensor, or, where positions are dealt out that are not consecutive
  // in its pieces, a copy in which they are, kept while the contents stand.
  const Home& source(size_t k, const Homes& operands) {
    const Home& home = *operands.at(program.accesses[k].access.tensor);
    const std::optional<plan::Split>& split = plan_of(k).split;
    if (!split || home.ordered()) return home;
    Ordered& copy = ordered[k];
    if (!copy.home || copy.version != home.version()) {
      Shares shares{ColourGrid({transport.size()}), {}};
      for (int r = 0; r < transport.size(); r++) {
        shares.of.push_back(whole_share(home.dims()));
        shares.of.back().positions.push_back({split->level, r, transport.size()});
      }
      copy.home = redistribute(transport, home, home.format(), std::move(shares));
      copy.version = home.version();
      require(copy.home->ordered(), "blocks of positions are consecutive");
    }
    return *copy.home;
  }

  // Collective.
  void plan_fetch(size_t k, const Homes& operands, const Step& step) {
    FetchRequest request{plan_of(k), tasks->grid(), {}, {}, is_result(k), &notes.traffic};
    together([&] {
      for (int64_t c = 0; c < tasks->grid().count(); c++) request.needs.push_back(tasks->need(k, c, step, pieces));
      for (int64_t c = colours().lo; c < colours().hi; c++) request.ranges.push_back(tasks->ranges(k, c, step, pieces));
    });
    tasks->forget(k);
    pieces[k] = std::make_shared<Fetch>(transport, source(k, operands), std::move(request));
    notes.planned++;
  }

  // Collective.
  void plan_targets(const Step& step) {
    targets.clear();
    together([&] {
      for (int64_t c = colours().lo; c < colours().hi; c++) {
        Target target{tasks->need(0, c, step, pieces).coordinates, {}, tasks->is_idle(c, step)};
        for (const std::optional<Range>& r : tasks->ranges(0, c, step, pieces)) target.ranges.push_back(r.value());
        targets.push_back(std::move(target));
      }
    });
  }

  // What fails the first time fails on all ranks alike; later runs do the same again.
  template <class F>
  void together(F&& launch_all) {
    if (tried) launch_all();
    else runtime::together(transport, launch_all);
  }

  template <class F>
  void timed(int64_t colour, F&& f) {
    double begin = now();
    f();
    notes.seconds[size_t(colour - colours().lo)] += now() - begin;
  }

  // ---- computing ----

  void compute(const Homes& operands, std::optional<Home>& result) {
    notes.begin(colours().size());
    double begin = now();
    for (size_t k : program.plan.fetch_order)
      if (!tasks->by_steps(k)) pieces[k]->start(source(k, operands));
    notes.exchange_seconds += now() - begin;
    if (result_var().format().is_dense()) {
      compute_dense(operands, result);
    } else {
      finish_fetches();
      compute_sparse(operands, result);
    }
    tried = true;
    notes.note_pieces(program, *tasks, pieces);
  }

  void finish_fetches() {
    double begin = now();
    for (size_t k : program.plan.fetch_order)
      if (!tasks->by_steps(k)) pieces[k]->finish();
    notes.exchange_seconds += now() - begin;
  }

  // Of pieces that belong to another step. None is left for those to be looked at that are planned next.
  void let_go(const Step& step) {
    for (size_t k = 1; k < accesses(); k++) {
      if (!tasks->by_steps(k) || !pieces[k] || at_hand[k] == tasks->step_of(k, step)) continue;
      if (kept.contains({k, at_hand[k]})) pieces[k]->release();
      pieces[k].reset();
      tasks->forget(k);
    }
  }

  // Collective. The fetch of a step: kept since it was planned, or planned now.
  void take(size_t k, const Homes& operands, const Step& step) {
    at_hand[k] = tasks->step_of(k, step);
    if (auto found = kept.find({k, at_hand[k]}); found != kept.end()) {
      pieces[k] = found->second;
      return;
    }
    plan_fetch(k, operands, step);
    size_t bytes = pieces[k]->pattern_bytes();
    bool fits = kept_bytes + bytes <= home_bytes;
    if (transport.allreduce(int64_t(fits), runtime::ReduceOp::Min) == 0) return;
    kept.emplace(std::pair(k, at_hand[k]), pieces[k]);
    kept_bytes += bytes;
  }

  void fetch_step(const Homes& operands, const Step& step) {
    double begin = now();
    let_go(step);
    for (size_t k : program.plan.fetch_order)
      if (tasks->by_steps(k)) {
        if (!pieces[k]) take(k, operands, step);
        pieces[k]->start(source(k, operands));
        pieces[k]->finish();
        notes.note_piece(k, *tasks, pieces);
      }
    notes.exchange_seconds += now() - begin;
  }

  void compute_dense(const Homes& operands, std::optional<Home>& result) {
    bool fresh = !result;
    if (fresh)
      result.emplace(
          pack(transport, Coordinates(result_dims, result_var().type()), result_var().format(), result_shares));
    bool adds = program.leaf.start == Start::Old, by_steps = tasks->by_steps(0);
    // In place: colours share nothing, nobody else holds copies, and nothing of the old result is read.
    if (!in_place) {
      bool here = writes && !tasks->everywhere() && !by_steps && !reads_result && !adds &&
                  are_home_pieces(*result, tasks->grid(), colours(), targets);
      in_place = transport.allreduce(int64_t(here), runtime::ReduceOp::Min) != 0;
    }
    std::optional<Home> old;  // what later steps read while earlier ones write
    Homes sources = operands;
    if (by_steps && reads_result) {
      old.emplace(result->clone(transport));
      sources[result_var()] = &*old;
    }
    // What can be computed while data is under way is, chunk by chunk; all chunks add to zeros then.
    bool in_chunks = tried && overlaps();
    if (in_chunks) {
      if (*in_place) zero(*result);
      else homecoming->zero();
      launch_chunks(*result, When::Ready);
    }
    finish_fetches();
    bool zeroed = fresh || adds || *in_place;
    auto take_home = [&] {
      double begin = now();
      if (!zeroed) zero(*result);
      zeroed = true;
      if (tasks->everywhere()) homecoming->keep_here(*result);
      else homecoming->run(*result);
      notes.exchange_seconds += now() - begin;
    };
    for (size_t number = 0; number < tasks->steps().size(); number++) {
      const Step& step = tasks->steps()[number];
      fetch_step(sources, step);
      if (by_steps) {
        plan_targets(step);
        homecoming.reset();
      }
      if (!*in_place && !homecoming)
        runtime::together(transport, [&] {
          homecoming.emplace(transport, home_region(program.plan), *result, tasks->grid(), colours(), targets,
                             writes && !adds && !by_steps ? Arrival::Assign : Arrival::Add, &notes.traffic);
        });
      if (in_chunks) launch_chunks(*result, When::Others);
      else
        together([&] {
          for (int64_t c = colours().lo; c < colours().hi; c++)
            launch_dense({c, step, number == 0 || by_steps ? Start::Zero : Start::Old},
                         *in_place ? result->piece(c) : (*homecoming)[c]);
        });
      if (by_steps) take_home();
    }
    if (!by_steps && !*in_place) take_home();
    result->changed();
  }

  static void zero(Home& home) {
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++) home.piece(q).zero();
  }

  // Collective the first time: whether there are chunks, and their kernels, which ranks have for themselves.
  void find_chunks() {
    runtime::together(transport, [&] {
      ready = chunks ? chunks->ready(program, *tasks, pieces, transport, process.overlap_bytes) : ReadyChunks();
      for (size_t k = 0; k < ready->size(); k++)
        if (!tasks->is_idle(colours().lo + int64_t(k), {})) launcher.compile_chunks(colours().lo + int64_t(k));
    });
  }

  // Is anything under way, and anything to do meanwhile?
  bool overlaps() {
    if (!ready) find_chunks();
    return !ready->empty() && std::any_of(program.plan.fetch_order.begin(), program.plan.fetch_order.end(),
                                          [&](size_t k) { return !pieces[k]->is_there(); });
  }

  enum class When : uint8_t { Ready, Others };

  void launch_chunks(Home& result, When when) {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      if (rests(c, {})) continue;
      Storage& into = *in_place ? result.piece(c) : (*homecoming)[c];
      for (int64_t chunk = 0; chunk < Chunks::per_colour; chunk++) {
        if ((*ready)[size_t(c - colours().lo)][size_t(chunk)] != (when == When::Ready)) continue;
        timed(c, [&] { launcher.compute_into(into, {c, {}, Start::Old, chunk}); });
        if (when == When::Others) continue;
        notes.overlapped++;
        for (size_t k : program.plan.fetch_order) pieces[k]->poll();
      }
    }
  }

  // Has a colour nothing to do? Where there are no steps, its target says so.
  bool rests(int64_t colour, const Step& step) const {
    return targets[size_t(colour - colours().lo)].idle || (!step.empty() && tasks->is_idle(colour, step));
  }

  void launch_dense(const Turn& turn, Storage& into) {
    if (rests(turn.colour, turn.step)) {
      if (turn.start == Start::Zero) into.zero();
      return;
    }
    timed(turn.colour, [&] { launcher.compute_into(into, turn); });
  }

  void compute_sparse(const Homes& operands, std::optional<Home>& result) {
    Coordinates entries(result_dims, result_var().type());
    std::vector<Storage> made;
    if (!stays)
      stays = tasks->steps().size() == 1 && !tasks->by_steps(0) && writes && !tasks->everywhere() && matches_home();
    for (const Step& step : tasks->steps()) {
      fetch_step(operands, step);
      if (tasks->by_steps(0)) plan_targets(step);
      together([&] {
        for (int64_t c = colours().lo; c < colours().hi; c++) {
          const std::vector<Range>& ranges = targets[size_t(c - colours().lo)].ranges;
          if (tasks->is_idle(c, step)) {
            if (*stays)
              made.push_back(pack(Coordinates(result_dims, result_var().type()), result_var().format(), ranges));
            continue;
          }
          timed(c, [&] {
            Storage piece = launcher.compute(ranges, {c, step});
            if (*stays) made.push_back(std::move(piece));
            else entries.append(unpack(piece));
          });
        }
      });
    }
    double begin = now();
    const Format& format = result_var().format();
    if (*stays && keeps_patterns(result, made)) {
      take_values(*result, std::move(made));
    } else if (*stays) {
      result.emplace(transport, format, result_dims, result_var().type(), result_shares, std::move(made));
    } else {
      Home fresh = tasks->everywhere() ? scatter(transport, pack(std::move(entries), format), result_shares)
                                       : pack(transport, std::move(entries), format, result_shares);
      for (int64_t q = fresh.colours().lo; q < fresh.colours().hi; q++) made.push_back(std::move(fresh.piece(q)));
      if (keeps_patterns(result, made)) {
        take_values(*result, std::move(made));
      } else {
        for (size_t k = 0; k < made.size(); k++) fresh.piece(fresh.colours().lo + int64_t(k)) = std::move(made[k]);
        result.emplace(std::move(fresh));
      }
    }
    notes.exchange_seconds += now() - begin;
  }

  // Collective. Does the result store what it stored before? Then who reads it need not look again.
  bool keeps_patterns(const std::optional<Home>& old, const std::vector<Storage>& made) {
    bool same = old && old->shares() == result_shares && size_t(old->colours().size()) == made.size();
    for (size_t k = 0; k < made.size() && same; k++)
      same = same_pattern(made[k].pattern(), old->piece(old->colours().lo + int64_t(k)).pattern());
    return transport.allreduce(int64_t(same), runtime::ReduceOp::Min) != 0;
  }

  static void take_values(Home& home, std::vector<Storage> made) {
    for (size_t k = 0; k < made.size(); k++) {
      Storage& piece = home.piece(home.colours().lo + int64_t(k));
      ScalarType type = made[k].type();
      piece = Storage(piece.shared_pattern(), type, std::move(made[k]).take_values());
    }
    home.changed();
  }

  // Collective. Are the pieces that colours compute just those of the result's home?
  bool matches_home() {
    bool same = result_shares.grid.count() == tasks->grid().count();
    for (int64_t c = colours().lo; c < colours().hi && same; c++) {
      const Share& share = result_shares.of[size_t(c)];
      same = share.fused.empty() && share.positions.empty();
      for (size_t d = 0; d < share.coordinates.size() && same; d++)
        same = share.coordinates[d] == interval(targets[size_t(c - colours().lo)].ranges[d]);
    }
    return transport.allreduce(int64_t(same), runtime::ReduceOp::Min) != 0;
  }
};

Execution::Execution(Process& process, const ConcreteStatement& statement, Shares shares)
    : state_(std::make_unique<State>(process, statement, std::move(shares))) {}
Execution::~Execution() = default;

void Execution::bind(const Homes& operands) { state_->bind(operands); }
void Execution::compute(const Homes& operands, std::optional<Home>& result, const std::vector<Scalar>& arguments) {
  state_->notes.planned = 0;
  state_->launcher.use(arguments);
  state_->bind(operands);
  state_->compute(operands, result);
}
const plan::Plan& Execution::plan() const { return state_->program.plan; }
std::string Execution::kernel() const {
  // Before the first run: that of the first colour here which has something to do. Pieces of steps are not there yet.
  State& s = *state_;
  bool there = std::all_of(s.pieces.begin() + 1, s.pieces.end(), [](const auto& piece) { return piece != nullptr; });
  for (int64_t c = s.colours().lo; there && s.launcher.kernel().empty() && c < s.colours().hi; c++)
    if (!s.tasks->is_idle(c, {})) s.launcher.compile(c);
  return s.launcher.kernel();
}
Report Execution::report() const {
  return collect(state_->transport, state_->notes, state_->program.plan, *state_->tasks, state_->result_shares);
}

}  // namespace spdistal
