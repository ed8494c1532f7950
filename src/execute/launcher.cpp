#include "execute/launcher.hpp"

#include <fmt/format.h>

#include "base/require.hpp"

namespace spdistal {

using namespace notation;

Launcher::Launcher(Process& process, const lower::Distributed& program, const Tasks::Pieces& pieces,
                   const Chunks* chunks)
    : process_(process), program_(program), pieces_(pieces), chunks_(chunks) {}

void Launcher::bind(const Tasks& tasks) {
  tasks_ = &tasks;
  launches_.clear();
}

// Of a chunk the statement is another one, and its number an outer value.
Launcher::Compiled& Launcher::code_for(const Turn& turn) {
  std::string key = turn.chunk ? "chunk+" : turn.start == Start::Old ? "+" : "=";
  for (size_t k = 1; k < program_.accesses.size(); k++)
    for (const LevelArrays& level : piece(k, turn.colour).pattern().levels())
      key += fmt::format("{}{}", int(level.pos.width()), int(level.crd.width()));
  std::unique_ptr<Compiled>& found = compiled_[key];
  if (!found) {
    std::vector<IndexVar> outer;
    for (const Forall& loop : program_.loops) outer.push_back(loop.var);
    if (turn.chunk) outer.push_back(chunks_->var());
    Leaf leaf(
        turn.chunk ? chunks_->leaf() : program_.leaf,
        [&](const Access& access) { return widths_of(piece(number_of(program_, access), turn.colour).pattern()); },
        LeafOptions{.outer = outer, .operands = lower::Operands::Pieces, .start = turn.start});
    codegen::Kernel kernel = process_.jit.load(leaf.function());
    found = std::make_unique<Compiled>(Compiled{std::move(leaf), std::move(kernel)});
  }
  return *found;
}

Launcher::Launch& Launcher::launch_for(const Turn& turn) {
  Launch& launch = launches_[{turn.colour, turn.chunk.value_or(turn.start == Start::Old ? -1 : -2)}];
  std::vector<const void*> there;
  for (size_t k = 1; k < program_.accesses.size(); k++) {
    there.push_back(&piece(k, turn.colour).pattern());
    there.push_back(piece(k, turn.colour).value_bytes());
  }
  if (launch.inputs && turn.step.empty() && there == launch.pieces) return launch;
  launch.code = &code_for(turn);
  launch.pieces = std::move(there);
  const Leaf& leaf = launch.code->leaf;
  std::vector<const Storage*> operands;
  for (const Access& access : leaf.kernel().operands)
    operands.push_back(&piece(number_of(program_, access), turn.colour));
  launch.inputs = std::make_unique<LeafInputs>(leaf, operands, numbers_for(leaf, turn));
  return launch;
}

LeafInputs::NumberOf Launcher::numbers_for(const Leaf& leaf, const Turn& turn) const {
  LoopValues values = tasks_->values(turn.colour, turn.step);
  if (turn.chunk) values.emplace(chunks_->var(), *turn.chunk);
  return [this, &leaf, colour = turn.colour, values](const lower::RunTimeNumber& number) -> int64_t {
    if (auto* extent = std::get_if<Extent>(&number)) return extent->value().value();
    if (auto* loop = std::get_if<lower::OuterValue>(&number)) {
      auto value = values.find(loop->var);
      require(value != values.end(), "every loop around a leaf has a value when it is called");
      return value->second;
    }
    if (auto* count = std::get_if<lower::PositionCount>(&number))
      return tasks_->positions(leaf.kernel().operands[size_t(count->operand)], count->level);
    const lower::PositionBase& base = std::get<lower::PositionBase>(number);
    size_t k = number_of(program_, leaf.kernel().operands[size_t(base.operand)]);
    return program_.accesses[k].split ? pieces_[k]->base(colour) : 0;
  };
}

Leaf::Run Launcher::run(const Launch& launch) const {
  return [this, &launch](spd_call& call) {
    call.arguments = arguments_.data();
    launch.code->kernel(call);
  };
}

void Launcher::compute_into(Storage& result, const Turn& turn) {
  Launch& launch = launch_for(turn);
  View view(result);
  launch.code->leaf.compute_into(view, *launch.inputs, process_.context, run(launch));
}

Storage Launcher::compute(const std::vector<Range>& ranges, const Turn& turn) {
  Launch& launch = launch_for(turn);
  return launch.code->leaf.compute(*launch.inputs, ranges, process_.context, run(launch));
}

}  // namespace spdistal
