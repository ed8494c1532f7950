#include "driver/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/require.hpp"
#include "driver/fetch.hpp"
#include "driver/homecoming.hpp"
#include "driver/leaf.hpp"
#include "driver/overlap.hpp"
#include "lower/workspace.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;
using runtime::Arrival;
using runtime::ColourGrid;
using runtime::Transport;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A kernel for pieces of certain widths.
struct Compiled {
  Leaf leaf;
  codegen::Kernel kernel;
};

// The call of a colour, kept while the pieces stay where they are.
struct Launch {
  Compiled* code = nullptr;
  std::unique_ptr<LeafInputs> inputs = {};
  std::vector<const void*> pieces = {};
};

}  // namespace

struct Execution::State {
  Session& session;
  Transport& transport;
  Printer names;
  lower::Distributed program;
  Shares result_shares;
  std::vector<int64_t> result_dims;
  bool reads_result = false;
  std::vector<IndexVar> outer;             // the loops around the leaf
  std::optional<Chunks> chunks;            // of the leaf; compiled kernels know their variable
  std::vector<std::vector<bool>> located;  // by access and dimension: reached through stored coordinates only

  // Bound to the data:
  std::map<TensorVar, uint64_t> patterns;  // that this is bound to
  std::optional<Tasks> tasks;
  Tasks::Pieces pieces;  // by access; of those that steps cut, of the step at hand
  struct Ordered {
    std::optional<Home> home;
    uint64_t version = 0;  // of the contents that it copies
  };
  std::map<size_t, Ordered> ordered;
  std::map<std::string, std::unique_ptr<Compiled>> compiled;  // by widths and start
  std::map<std::pair<int64_t, int64_t>, Launch> launches;     // of a colour, and of a chunk or of all
  std::vector<Target> targets;
  std::optional<Homecoming> homecoming;
  bool writes = false;                   // no two colours compute the same elements
  std::optional<bool> in_place;          // dense results; decided at the first run
  std::optional<bool> stays;             // sparse results, likewise: pieces that colours compute are those of the home
  std::vector<std::vector<bool>> ready;  // of the colours of this rank: chunks that need nothing from other ranks
  bool tried = false;                    // has run once since it was bound
  bool looked_for_chunks = false;
  std::map<size_t, Shares> held_as;  // the shares of the homes of accesses, as bound

  // Of the last run:
  runtime::Traffic traffic;
  std::map<std::pair<size_t, int64_t>, int64_t> largest;  // by access and colour: bytes of the pieces of steps
  std::vector<int64_t> stored;                            // of the colours of this rank: elements of sparse operands
  std::vector<double> seconds;                            // likewise
  double exchange_seconds = 0;
  int64_t overlapped = 0;  // chunks that ran while data was under way

  State(Session& s, const ConcreteStatement& statement, Shares shares)
      : session(s),
        transport(s.transport()),
        program(lower::distribute(statement, names)),
        result_shares(std::move(shares)),
        result_dims(known_dims(statement.result)) {
    for (size_t k = 1; k < accesses(); k++) reads_result |= is_result(k);
    for (const Forall& loop : program.loops) outer.push_back(loop.var);
    if (!program.loops.empty()) chunks = Chunks::of(program);
    find_located();
  }

  // A leaf for any pieces tells which dense levels it walks all of. Blocks of a result that one colour writes are places
  // for all of their elements: then they may be those of its home.
  void find_located() {
    lower::Kernel kernel = lower::lower(lower::insert_workspace(program.leaf, outer),
                                        {.operands = lower::Operands::Pieces, .outer = outer});
    for (size_t k = 0; k < accesses(); k++) {
      const Access& a = program.accesses[k].access;
      located.emplace_back();
      for (size_t d = 0; d < a.indices.size(); d++) {
        bool swept = std::find(kernel.swept.begin(), kernel.swept.end(), a.indices[d]) != kernel.swept.end();
        // What a sparse tensor stores elsewhere needs a place too, unless only what occurs elsewhere is fetched of it.
        bool fetched = std::holds_alternative<plan::Gather>(plan_of(k).projections[d]);
        bool block = k == 0 && plan_of(k).privilege == plan::Privilege::Write &&
                     std::holds_alternative<plan::Affine>(plan_of(k).projections[d]);
        located.back().push_back(!swept && !block && (fetched || a.tensor.format().is_dense()));
      }
    }
    for (const lower::LevelOfTensor& whole : kernel.whole_levels) {
      size_t k = whole.tensor == 0 ? 0 : number_of(kernel.operands[size_t(whole.tensor) - 1]);
      located[k][plan_of(k).dims[whole.level]] = false;
    }
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
    launches.clear();
    homecoming.reset();
    pieces.clear();
    pieces.resize(accesses());
    ordered.clear();
    in_place.reset();
    stays.reset();
    tried = looked_for_chunks = false;
    ready.clear();
    tasks.emplace(program, operands, result_shares, transport, located);
    seconds.assign(size_t(colours().size()), 0);
    stored.assign(size_t(colours().size()), 0);
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

  void plan_fetch(size_t k, const Homes& operands, const Step& step) {
    FetchRequest request{plan_of(k), tasks->grid(), {}, {}, is_result(k), &traffic};
    for (int64_t c = 0; c < tasks->grid().count(); c++) request.needs.push_back(tasks->need(k, c, step, pieces));
    for (int64_t c = colours().lo; c < colours().hi; c++) request.ranges.push_back(tasks->ranges(k, c, step, pieces));
    tasks->forget(k);
    held_as.insert_or_assign(k, source(k, operands).shares());
    pieces[k].emplace(transport, source(k, operands), std::move(request));
  }

  void plan_targets(const Step& step) {
    targets.clear();
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      Target target{tasks->need(0, c, step, pieces).coordinates, {}, tasks->is_idle(c, step)};
      for (const std::optional<Range>& r : tasks->ranges(0, c, step, pieces)) target.ranges.push_back(r.value());
      targets.push_back(std::move(target));
    }
  }

  // ---- leaves ----

  // Of a chunk: the statement is another one, and its number an outer value.
  enum class Of : uint8_t { All, Chunk };

  Compiled& code_for(int64_t colour, Start start, Of part) {
    std::string key = part == Of::Chunk ? "chunk+" : start == Start::Old ? "+" : "=";
    for (size_t k = 1; k < accesses(); k++)
      for (const LevelArrays& level : (*pieces[k])[colour].pattern().levels())
        key += fmt::format("{}{}", int(level.pos.width()), int(level.crd.width()));
    std::unique_ptr<Compiled>& found = compiled[key];
    if (!found) {
      std::vector<IndexVar> around = outer;
      if (part == Of::Chunk) around.push_back(chunks->var());
      Leaf leaf(
          part == Of::Chunk ? chunks->leaf() : program.leaf,
          [&](const Access& access) { return widths_of((*pieces[number_of(access)])[colour].pattern()); },
          LeafOptions{.outer = around, .operands = lower::Operands::Pieces, .start = start});
      codegen::Kernel kernel = session.jit.load(leaf.function());
      found = std::make_unique<Compiled>(Compiled{std::move(leaf), std::move(kernel)});
    }
    return *found;
  }

  size_t number_of(const Access& access) const {
    for (size_t k = 1; k < accesses(); k++) {
      const Access& a = program.accesses[k].access;
      if (a.tensor == access.tensor && a.indices == access.indices) return k;
    }
    require(false, "a kernel reads what the plan fetches");
    return 0;
  }

  Launch& launch_for(int64_t colour, const Step& step, Start start, std::optional<int64_t> chunk = {}) {
    Launch& launch = launches[{colour, chunk.value_or(start == Start::Old ? -1 : -2)}];
    std::vector<const void*> there;
    for (size_t k = 1; k < accesses(); k++) {
      const Storage& piece = (*pieces[k])[colour];
      there.push_back(&piece.pattern());
      there.push_back(piece.value_bytes());
    }
    if (launch.inputs && step.empty() && there == launch.pieces) return launch;
    launch.code = &code_for(colour, start, chunk ? Of::Chunk : Of::All);
    launch.pieces = std::move(there);
    const Leaf& leaf = launch.code->leaf;
    std::vector<const Storage*> operands;
    for (const Access& access : leaf.kernel().operands) operands.push_back(&(*pieces[number_of(access)])[colour]);
    LoopValues values = tasks->values(colour, step);
    if (chunk) values.emplace(chunks->var(), *chunk);
    launch.inputs = std::make_unique<LeafInputs>(
        leaf, operands, [this, &leaf, colour, values](const lower::RunTimeNumber& number) -> int64_t {
          if (auto* extent = std::get_if<Extent>(&number)) return extent->value().value();
          if (auto* loop = std::get_if<lower::OuterValue>(&number)) {
            auto value = values.find(loop->var);
            require(value != values.end(), "every loop around a leaf has a value when it is called");
            return value->second;
          }
          if (auto* count = std::get_if<lower::PositionCount>(&number))
            return tasks->positions(leaf.kernel().operands[size_t(count->operand)], count->level);
          const lower::PositionBase& base = std::get<lower::PositionBase>(number);
          size_t k = number_of(leaf.kernel().operands[size_t(base.operand)]);
          return program.accesses[k].split ? pieces[k]->base(colour) : 0;
        });
    return launch;
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
    seconds[size_t(colour - colours().lo)] += now() - begin;
  }

  // ---- computing ----

  void compute(const Homes& operands, std::optional<Home>& result) {
    traffic.clear();
    largest.clear();
    std::fill(seconds.begin(), seconds.end(), 0);
    exchange_seconds = 0;
    double begin = now();
    overlapped = 0;
    for (size_t k : program.plan.fetch_order)
      if (!tasks->by_steps(k)) pieces[k]->start(source(k, operands));
    exchange_seconds += now() - begin;
    if (result_var().format().is_dense()) {
      compute_dense(operands, result);
    } else {
      finish_fetches();
      compute_sparse(operands, result);
    }
    tried = true;
    count_stored();
  }

  // Now: who asks for a report may have other operands by then.
  void count_stored() {
    std::fill(stored.begin(), stored.end(), 0);
    for (size_t k = 1; k < accesses(); k++)
      if (!program.accesses[k].access.tensor.format().is_dense())
        for (int64_t c = colours().lo; c < colours().hi; c++) stored[size_t(c - colours().lo)] += (*pieces[k])[c].nnz();
  }

  void finish_fetches() {
    double begin = now();
    for (size_t k : program.plan.fetch_order)
      if (!tasks->by_steps(k)) pieces[k]->finish();
    exchange_seconds += now() - begin;
  }

  void fetch_step(const Homes& operands, const Step& step) {
    double begin = now();
    for (size_t k : program.plan.fetch_order)
      if (tasks->by_steps(k)) {
        plan_fetch(k, operands, step);
        pieces[k]->start(source(k, operands));
        pieces[k]->finish();
        for (int64_t c = colours().lo; c < colours().hi; c++)
          largest[{k, c}] = std::max(largest[{k, c}], fetched_bytes(k, c));
      }
    exchange_seconds += now() - begin;
  }

  // Of the piece at hand, 0 where it is one of a home.
  int64_t fetched_bytes(size_t k, int64_t colour) const {
    return !pieces[k] || pieces[k]->is_home(colour) ? 0 : int64_t((*pieces[k])[colour].bytes());
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
      launch_chunks(*result, Ready::Before);
    }
    finish_fetches();
    bool zeroed = fresh || adds || *in_place;
    auto take_home = [&] {
      double begin = now();
      if (!zeroed) zero(*result);
      zeroed = true;
      if (tasks->everywhere()) homecoming->keep_here(*result);
      else homecoming->run(*result);
      exchange_seconds += now() - begin;
    };
    for (size_t number = 0; number < tasks->steps().size(); number++) {
      const Step& step = tasks->steps()[number];
      fetch_step(sources, step);
      if (by_steps) {
        plan_targets(step);
        homecoming.reset();
      }
      if (!*in_place && !homecoming)
        homecoming.emplace(transport, home_region(), *result, tasks->grid(), colours(), targets,
                           writes && !adds && !by_steps ? Arrival::Assign : Arrival::Add, &traffic);
      if (in_chunks) launch_chunks(*result, Ready::After);
      else
        together([&] {
          for (int64_t c = colours().lo; c < colours().hi; c++)
            launch_dense(c, step, *in_place ? result->piece(c) : (*homecoming)[c],
                         number == 0 || by_steps ? Start::Zero : Start::Old);
        });
      if (by_steps) take_home();
    }
    if (!by_steps && !*in_place) take_home();
    result->changed();
  }

  static void zero(Home& home) {
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++)
      std::memset(home.piece(q).value_bytes(), 0, size_t(home.piece(q).nnz()) * size_of(home.type()));
  }

  // Decided after the first run: is there enough under way, and anything to do meanwhile?
  bool overlaps() {
    if (!looked_for_chunks) find_chunks();
    looked_for_chunks = true;
    return !ready.empty() && std::any_of(program.plan.fetch_order.begin(), program.plan.fetch_order.end(),
                                         [&](size_t k) { return !pieces[k]->is_there(); });
  }

  void find_chunks() {
    if (!chunks || tasks->steps().size() != 1 || !tasks->steps()[0].empty() || tasks->everywhere()) return;
    std::vector<std::vector<bool>> found;
    int64_t bytes = 0;
    bool any = false;
    for (size_t k = 1; k < accesses(); k++) {
      bytes += pieces[k]->bytes_received();
      if (pieces[k]->bytes_received() > 0 && !pieces[k]->local_values_come_first()) return;
    }
    if (bytes == 0 || bytes < session.overlap_bytes) return;
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      std::vector<std::optional<Received>> received(accesses());
      for (size_t k = 1; k < accesses(); k++) {
        if (pieces[k]->bytes_received() == 0) continue;
        received[k] = elsewhere(k, tasks->need(k, c, {}, pieces));
        if (!received[k]) return;
      }
      found.push_back(tasks->is_idle(c, {}) ? std::vector<bool>(size_t(Chunks::per_colour), false)
                                            : chunks->ready(c, program, *tasks, pieces, received));
      any |= std::find(found.back().begin(), found.back().end(), true) != found.back().end();
    }
    if (any) ready = std::move(found);
  }

  // What no piece of this rank holds, where homes are cut along one dimension; none where they are cut otherwise.
  std::optional<Received> elsewhere(size_t k, const Need& need) const {
    const Shares& homes = held_as.at(k);
    Range here = runtime::Mapping(homes.grid.count(), transport.size()).colours_of(transport.rank());
    std::optional<size_t> cut;
    std::vector<runtime::Space> held;
    for (int64_t q = here.lo; q < here.hi; q++) {
      const Share& share = homes.of[size_t(q)];
      if (!share.fused.empty() || !share.positions.empty()) return {};
      for (size_t d = 0; d < share.coordinates.size(); d++) {
        if (runtime::contains(share.coordinates[d], need.coordinates[d])) continue;
        if (cut && *cut != d) return {};
        cut = d;
      }
    }
    if (!cut) return {};
    for (int64_t q = here.lo; q < here.hi; q++) held.push_back(homes.of[size_t(q)].coordinates[*cut]);
    return Received{*cut, need.coordinates[*cut] - runtime::unite(1, held)};
  }

  enum class Ready : uint8_t { Before, After };

  void launch_chunks(Home& result, Ready when) {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      if (targets[size_t(c - colours().lo)].idle || tasks->is_idle(c, {})) continue;
      View view(*in_place ? result.piece(c) : (*homecoming)[c]);
      for (int64_t chunk = 0; chunk < Chunks::per_colour; chunk++) {
        if (ready[size_t(c - colours().lo)][size_t(chunk)] != (when == Ready::Before)) continue;
        Launch& launch = launch_for(c, {}, Start::Old, chunk);
        timed(c, [&] {
          launch.code->leaf.compute_into(view, *launch.inputs, session.context,
                                         [&](spd_call& call) { launch.code->kernel(call); });
        });
        if (when == Ready::After) continue;
        overlapped++;
        for (size_t k : program.plan.fetch_order) pieces[k]->poll();
      }
    }
  }

  void launch_dense(int64_t colour, const Step& step, Storage& into, Start start) {
    if (targets[size_t(colour - colours().lo)].idle || tasks->is_idle(colour, step)) {
      if (start == Start::Zero) std::memset(into.value_bytes(), 0, size_t(into.nnz()) * size_of(into.type()));
      return;
    }
    Launch& launch = launch_for(colour, step, start);
    View view(into);
    timed(colour, [&] {
      launch.code->leaf.compute_into(view, *launch.inputs, session.context,
                                     [&](spd_call& call) { launch.code->kernel(call); });
    });
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
          Launch& launch = launch_for(c, step, Start::Zero);
          timed(c, [&] {
            Storage piece = launch.code->leaf.compute(*launch.inputs, ranges, session.context,
                                                      [&](spd_call& call) { launch.code->kernel(call); });
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
    exchange_seconds += now() - begin;
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

  // ---- looking ----

  Report report() const {
    // What arrived at pieces of this rank is counted here.
    struct Arrived {
      int64_t from, to;
      int64_t access;
      runtime::Count count;
    };
    std::vector<Arrived> arrived;
    runtime::Mapping task_ranks(tasks->grid().count(), transport.size());
    runtime::Mapping home_ranks(result_shares.grid.count(), transport.size());
    for (size_t k = 0; k < accesses(); k++) {
      auto pairs = traffic.regions().find(k == 0 ? home_region() : plan_of(k).text);
      if (pairs == traffic.regions().end()) continue;
      for (const auto& [pair, count] : pairs->second)
        if ((k == 0 ? home_ranks : task_ranks).rank_of(pair.second) == transport.rank())
          arrived.push_back({pair.first, pair.second, int64_t(k), count});
    }
    runtime::Writer w;
    w.put(exchange_seconds);
    w.put(overlapped);
    w.put(colours().size());
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      w.put(stored[size_t(c - colours().lo)]);
      w.put(seconds[size_t(c - colours().lo)]);
      for (size_t k = 1; k < accesses(); k++) {
        auto found = largest.find({k, c});
        w.put(found == largest.end() ? fetched_bytes(k, c) : found->second);
      }
    }
    w.put_all(std::span<const Arrived>(arrived));
    Report out;
    for (size_t k = 0; k < accesses(); k++) out.accesses.push_back(plan_of(k).text);
    out.pieces.resize(size_t(std::max(tasks->grid().count(), result_shares.grid.count())));
    int64_t next = 0;
    for (const runtime::Bytes& bytes : runtime::share(transport, w.take())) {
      runtime::Reader r(bytes);
      out.exchange_seconds = std::max(out.exchange_seconds, r.take<double>());
      out.overlapped += r.take<int64_t>();
      for (int64_t n = r.take<int64_t>(); n > 0; n--) {
        PieceReport& p = out.pieces[size_t(next++)];
        p.non_zeros = r.take<int64_t>();
        p.seconds = r.take<double>();
        for (size_t k = 1; k < accesses(); k++)
          if (int64_t held = r.take<int64_t>()) p.moved[plan_of(k).text].piece = held;
      }
      while (!r.at_end()) {
        Arrived a = r.take<Arrived>();
        const std::string& access = plan_of(size_t(a.access)).text;
        int64_t all = a.count.bytes + a.count.copied;
        PieceReport::Moved& m = out.pieces[size_t(a.to)].moved[access];
        (a.from == a.to ? m.copied : m.received) += all;
        m.between_ranks += a.count.bytes;
        m.reduced += a.count.added;
        out.messages += a.count.messages;
        if (size_t(a.from) < out.pieces.size() && a.from != a.to) out.pieces[size_t(a.from)].moved[access].sent += all;
      }
    }
    return out;
  }

  // The name under which what goes home is counted, apart from what is fetched of the same tensor.
  std::string home_region() const { return plan_of(0).text + " home"; }
};

Execution::Execution(Session& session, const ConcreteStatement& statement, Shares shares)
    : state_(std::make_unique<State>(session, statement, std::move(shares))) {}
Execution::~Execution() = default;

void Execution::bind(const Homes& operands) { state_->bind(operands); }
void Execution::compute(const Homes& operands, std::optional<Home>& result) {
  state_->bind(operands);
  state_->compute(operands, result);
}
const plan::Plan& Execution::plan() const { return state_->program.plan; }
std::string Execution::kernel() const {
  // Before the first run: that of the first colour here which has something to do. Pieces of steps are not there yet.
  State& s = *state_;
  bool there = std::all_of(s.pieces.begin() + 1, s.pieces.end(), [](const auto& piece) { return piece.has_value(); });
  for (int64_t c = s.colours().lo; there && s.compiled.empty() && c < s.colours().hi; c++)
    if (!s.tasks->is_idle(c, {})) s.code_for(c, Start::Zero, State::Of::All);
  return state_->compiled.empty() ? "" : state_->compiled.begin()->second->kernel.text();
}
Report Execution::report() const { return state_->report(); }

}  // namespace spdistal
