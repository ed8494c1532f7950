#include "compile/candidates.hpp"

#include <fmt/format.h>

#include "compile/positions.hpp"
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

  /// Keeps commands that are legal; gives the loops that they make.
  std::optional<ConcreteStatement> add(const std::string& label, const std::vector<Command>& commands) {
    Result<ConcreteStatement> made = schedule::apply(commands, loops_);
    if (!made) return {};
    found_.push_back({label, commands});
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
  return std::move(out).found();
}

}  // namespace spdistal
