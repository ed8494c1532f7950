#include "compile/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compile/positions.hpp"
#include "format/questions.hpp"
#include "notation/print.hpp"
#include "schedule/apply.hpp"

namespace spdistal {

using namespace notation;

namespace {

/// A way to cut the loops into pieces, and what threads then take in blocks of these sizes.
struct Way {
  std::string label;
  std::vector<Command> commands;
  std::vector<int64_t> blocks;
};

std::vector<Way> ways_to_cut(const ScheduledStatement& statement, const Homes& homes, int64_t pieces) {
  const ConcreteStatement& loops = statement.initial;
  std::vector<Way> out{{"rows", {}, {16, 256}}};
  if (pieces > 1) out[0].commands = over_pieces({loops}, pieces).commands;
  if (std::optional<LoopToCut> cut = loop_to_cut(loops); cut && pieces > 1)
    if (std::vector<TensorRef> weights = weights_of(loops, cut->var, homes); !weights.empty())
      out.push_back({"weights", over_pieces({loops}, pieces, weights).commands, {16, 256}});
  std::optional<Walked> walked = walked_operand(loops, homes);
  if (!walked || !can_follow(loops, pieces > 1 ? statement.residence : Residence::Anywhere, walked->access)) return out;
  size_t order = walked->access.tensor.order();
  auto by_positions = [&](const char* label, size_t levels) {
    IndexVar position("fp"), outer("fo"), inner("fi");
    std::vector<Command> commands = into_positions(loops, walked->access, levels, position);
    if (pieces > 1) {
      commands.push_back(Divide{position, outer, inner, pieces});
      commands.push_back(Distribute{{outer}});
    }
    out.push_back({label, std::move(commands), {512, 2048, 8192}});
  };
  by_positions("non-zeros", order);
  if (walked->common >= 2 && walked->common < order) by_positions("fibres", walked->common);
  return out;
}

class Collector {
 public:
  explicit Collector(const ConcreteStatement& loops) : loops_(loops) {}

  /// Keeps commands that are legal, if there are any; gives the loops that they make.
  std::optional<ConcreteStatement> add(const std::string& label, const std::vector<Command>& commands) {
    Result<ConcreteStatement> made = schedule::apply(commands, loops_);
    if (!made) return {};
    if (!commands.empty()) found_.push_back({label, commands});
    return *made;
  }
  /// The same with the innermost loop in vectors too.
  void add_with_vectors(const std::string& label, std::vector<Command> commands) {
    std::optional<ConcreteStatement> made = add(label, commands);
    if (!made) return;
    IndexVar inner = outer_loops(made->body).back().var;
    if (first_local(*made) == inner) return;
    commands.push_back(Parallelize{inner, CPUVector, Race::Auto});
    add(label + ", in vectors", commands);
  }

  std::vector<Candidate> found() && { return std::move(found_); }

 private:
  const ConcreteStatement& loops_;
  std::vector<Candidate> found_{{"as chosen", {}}};
};

}  // namespace

namespace {

/// The loops that are not distributed, where they are nested in each other and nothing else is in between.
std::vector<Forall> local_loops(const ConcreteStatement& statement) {
  std::vector<Forall> out = outer_loops(statement.body);
  std::optional<IndexVar> first = first_local(statement);
  auto begin = std::find_if(out.begin(), out.end(), [&](const Forall& loop) { return first == loop.var; });
  return {begin, out.end()};
}

// Are two loops parts of one variable of the statement? Whatever cut it chose their sizes.
bool are_of_one(const ConcreteStatement& statement, const IndexVar& a, const IndexVar& b) {
  std::vector<IndexVar> of_a = statement.provenance.roots_of(a), of_b = statement.provenance.roots_of(b);
  return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
}

// Do loops over the variable visit all values, whatever is stored?
bool goes_over_a_range(const ConcreteStatement& statement, const IndexVar& loop) {
  if (statement.provenance.positions_of(loop)) return false;
  std::vector<IndexVar> roots = statement.provenance.roots_of(loop);
  bool range = true;
  each<notation::Access>(statement.body, [&](const notation::Access& access) {
    const Format& format = access.tensor.format();
    for (size_t k = 0; k < format.order(); k++) {
      std::optional<IndexVar> var = variable_of(access.indices[size_t(format.mode_order()[k])]);
      bool walked = var && std::find(roots.begin(), roots.end(), *var) != roots.end();
      range &= !walked || stores_all(format.levels()[k]);
    }
  });
  return range;
}

/// Rows over pieces, which have so many batches of a dense range one after the other: a batch of what is gathered travels while the
/// one before is computed, and one is there at a time.
struct Batches {
  std::string label;
  std::vector<Command> commands;
  IndexVar local;  // the loop inside of a batch that threads take
};

// Of a dimension of the result that operands have too, beside coordinates that are gathered: not those that rows cut.
std::vector<Batches> in_batches(const ConcreteStatement& loops, int64_t pieces) {
  std::optional<LoopToCut> cut = loop_to_cut(loops);
  if (!cut || pieces == 1) return {};
  Printer names;
  names(loops);
  std::vector<Batches> out;
  for (const Forall& loop : outer_loops(loops.body)) {
    if (loop.var == cut->var || !goes_over_a_range(loops, loop.var)) continue;
    std::set<TensorVar> gathered;
    bool of_result = false;
    auto has = [](const notation::Access& access, const IndexVar& var) {
      return std::ranges::find(access.indices, var) != access.indices.end();
    };
    each<Assign>(loops.body, [&](const Assign& assign) {
      of_result |= assign.lhs.tensor == loops.result && has(assign.lhs, loop.var);
    });
    each<notation::Access>(loops.body, [&](const notation::Access& operand) {
      if (operand.tensor.format().is_dense() && operand.indices.size() > 1 && has(operand, loop.var) &&
          !has(operand, cut->var))
        gathered.insert(operand.tensor);
    });
    if (gathered.empty() || !of_result) continue;
    std::vector<TensorRef> tensors;
    for (const TensorVar& tensor : gathered) tensors.emplace_back(std::make_shared<const TensorVar>(tensor));
    for (int64_t batches : {2, 4}) {
      std::string name = names.name(loop.var), cut_name = names.name(cut->var);
      IndexVar outer(cut_name + "o"), inner(cut_name + "i"), batch(name + "o"), within(name + "i");
      std::vector<IndexVar> order{outer, batch};
      for (const Forall& each : outer_loops(loops.body))
        order.push_back(each.var == cut->var ? inner : each.var == loop.var ? within : each.var);
      out.push_back({fmt::format("rows, {} batches of {}", batches, name),
                     {Divide{cut->var, outer, inner, pieces}, Divide{loop.var, batch, within, batches}, Reorder{order},
                      Distribute{{outer}}, Communicate{tensors, batch}},
                     inner});
    }
  }
  return out;
}

}  // namespace

std::vector<Candidate> refinements(const ScheduledStatement& statement, const Candidate& of) {
  std::vector<Candidate> out;
  Result<ConcreteStatement> made = schedule::apply(of.commands, statement.initial);
  if (!made) return out;
  Printer names;
  names(*made);
  std::vector<Forall> loops = local_loops(*made);
  auto add = [&](const std::string& what, std::vector<Command> more) {
    std::vector<Command> commands = of.commands;
    commands.insert(commands.end(), more.begin(), more.end());
    if (schedule::apply(commands, statement.initial)) out.push_back({of.label + ", " + what, std::move(commands)});
  };
  for (size_t k = 0; k + 1 < loops.size(); k++)
    if (!are_of_one(*made, loops[k].var, loops[k + 1].var))
      add(fmt::format("{} outside of {}", names.name(loops[k + 1].var), names.name(loops[k].var)),
          {Reorder{{loops[k + 1].var, loops[k].var}}});
  // The first local loop is what is cut: the others are inside.
  for (size_t k = 1; k < loops.size(); k++) {
    const IndexVar& var = loops[k].var;
    if (are_of_one(*made, loops[0].var, var) || !goes_over_a_range(*made, var)) continue;
    for (int64_t size : {8, 32, 128}) {
      IndexVar outer("jo"), inner("ji");
      std::vector<IndexVar> order{outer};
      for (size_t above = 1; above < k; above++) order.push_back(loops[above].var);
      std::vector<Command> tiles{Split{var, outer, inner, size}};
      if (order.size() > 1) tiles.push_back(Reorder{order});
      add(fmt::format("{} in tiles of {}", names.name(var), size), tiles);
      order.insert(order.begin() + 1, loops[0].var);
      add(fmt::format("all of a tile of {} of {} first", size, names.name(var)), {tiles[0], Reorder{order}});
    }
  }
  if (loops.size() > 1)
    for (int64_t turns : {2, 4, 8}) add(fmt::format("{} turns written out", turns), {Unroll{loops.back().var, turns}});
  return out;
}

std::vector<Candidate> candidates(const ScheduledStatement& statement, const Homes& homes, int64_t pieces,
                                  int64_t threads) {
  Collector out(statement.initial);
  for (const Way& way : ways_to_cut(statement, homes, pieces)) {
    Result<ConcreteStatement> cut = schedule::apply(way.commands, statement.initial);
    std::optional<IndexVar> local = cut ? first_local(*cut) : std::nullopt;
    if (!local) continue;
    if (threads == 1) {
      out.add_with_vectors(way.label, way.commands);
      continue;
    }
    std::vector<Command> commands = way.commands;
    commands.push_back(Parallelize{*local, CPUThread, Race::Auto});
    out.add_with_vectors(way.label + " over threads", commands);
    for (int64_t size : way.blocks) {
      IndexVar outer("to"), inner("ti");
      commands = way.commands;
      commands.push_back(Split{*local, outer, inner, size});
      commands.push_back(Parallelize{outer, CPUThread, Race::Auto});
      out.add(fmt::format("{} over threads, {} at a time", way.label, size), commands);
    }
  }
  for (Batches& batches : in_batches(statement.initial, pieces)) {
    if (threads > 1) batches.commands.push_back(Parallelize{batches.local, CPUThread, Race::Auto});
    out.add(batches.label, batches.commands);
  }
  return std::move(out).found();
}

}  // namespace spdistal
