#include "execute/launch.hpp"

#include <algorithm>

#include "base/require.hpp"

namespace spdistal {

using namespace notation;

Launcher::Launcher(Process& process, Compiled& compiled, Fetches& fetches, RunNotes& notes)
    : process_(process), compiled_(compiled), plan_(compiled.plan()), fetches_(fetches), notes_(notes) {}

void Launcher::bind(const Tasks& tasks) {
  tasks_ = &tasks;
  kept_.clear();
}

const PatternHandle& Launcher::seen(size_t access, int64_t colour) {
  return fetches_.numberings().seen(access, colour, fetches_.pieces());
}

DevicePlace Launcher::device(int64_t colour, Range here) const {
  if (compiled_.processor == CPU) return {};
  const std::vector<memory::Place>& gpus = process_.gpus();
  return gpus[size_t(runtime::Mapping(here.size(), int(gpus.size())).rank_of(colour - here.lo))];
}

const Leaf& Launcher::leaf_for(const LeafRun& wanted) {
  return compiled_.leaf(wanted.kind(), [&](const notation::Access& access) {
    size_t k = number_of(plan_, access);
    const PatternHandle& numbered = seen(k, wanted.colour);
    return numbered ? numbered.get() : &piece(k, wanted.colour).pattern();
  });
}

bool Launcher::takes_numbers(const LeafRun& wanted) {
  std::vector<NumberedGroup> used = fetches_.numberings().in_use();
  if (used.empty()) return true;
  std::vector<NumberedGroup> allowed =
      notes_.compiling([&] { return find_numbered(plan_, leaf_for(wanted).kernel()); });
  return std::ranges::all_of(
      used, [&](const NumberedGroup& group) { return std::ranges::find(allowed, group) != allowed.end(); });
}

bool Launcher::keeps(const Storage& result, const LeafRun& wanted) {
  return notes_.compiling([&] { return leaf_for(wanted).keeps(result.pattern()); }) && takes_numbers(wanted);
}

const codegen::Kernel& Launcher::code_for(const LeafRun& wanted) {
  const codegen::Kernel& code = notes_.compiling([&]() -> const codegen::Kernel& {
    return leaf_for(wanted).code(process_, device(wanted.colour, tasks_->colours()));
  });
  if (kernel_.empty()) kernel_ = code.text();
  return code;
}

LeafCall& Launcher::call_for(const LeafRun& wanted) {
  KeptCall& kept = kept_[{wanted.colour, wanted.kind(), wanted.chunk.value_or(0)}];
  std::vector<const void*> there;
  for (size_t k = 1; k < plan_.accesses.size(); k++) {
    there.push_back(&piece(k, wanted.colour).pattern());
    there.push_back(piece(k, wanted.colour).value_address());
  }
  if (kept.call && wanted.step.empty() && there == kept.pieces) return *kept.call;
  code_for(wanted);
  const Leaf& leaf = leaf_for(wanted);
  require(takes_numbers(wanted), "a leaf finds places by the numbers that pieces have");
  std::vector<SeenPiece> operands;
  for (const notation::Access& access : leaf.kernel().operands) {
    size_t k = number_of(plan_, access);
    operands.push_back({&piece(k, wanted.colour), seen(k, wanted.colour)});
  }
  kept.call.emplace(leaf, operands, numbers_for(leaf, wanted), device(wanted.colour, tasks_->colours()));
  kept.pieces = std::move(there);
  return *kept.call;
}

namespace {

int64_t number_of(const lower::BlocksLeft& asked, const Bounds::Blocks& left) {
  switch (asked.which) {
    case lower::BlocksLeft::Which::FirstBlock: return left.numbers.lo;
    case lower::BlocksLeft::Which::EndBlock: return left.numbers.hi;
    case lower::BlocksLeft::Which::FirstValue: return left.values.lo;
    case lower::BlocksLeft::Which::EndValue: return left.values.hi;
  }
  return 0;
}

}  // namespace

LeafCall::NumberOf Launcher::numbers_for(const Leaf& leaf, const LeafRun& wanted) const {
  LoopValues values = tasks_->values(wanted.colour, wanted.step);
  if (wanted.chunk) values.emplace(compiled_.chunked()->var, *wanted.chunk);
  const Provenance& loops = wanted.chunk ? compiled_.chunked()->leaf.provenance : plan_.leaf.provenance;
  return [this, &leaf, &loops, colour = wanted.colour, values](const lower::RunTimeNumber& number) -> int64_t {
    if (auto* extent = std::get_if<Extent>(&number)) return extent->value().value();
    if (auto* loop = std::get_if<lower::OuterValue>(&number)) {
      auto value = values.find(loop->var);
      require(value != values.end(), "every loop around a leaf has a value when it is called");
      return value->second;
    }
    if (auto* count = std::get_if<lower::PositionCount>(&number))
      return tasks_->positions(leaf.kernel().operands[size_t(count->operand)], count->level);
    if (auto* left = std::get_if<lower::BlocksLeft>(&number))
      return number_of(*left, tasks_->bounds_of(loops).blocks(left->var, values));
    if (auto* block = std::get_if<lower::PositionsOfBlock>(&number)) {
      Range positions = tasks_->bounds_of(loops).positions_of_block(block->part, values);
      return block->which == lower::PositionsOfBlock::Which::Begin ? positions.lo : positions.hi;
    }
    const lower::PositionBase& base = std::get<lower::PositionBase>(number);
    size_t k = number_of(plan_, leaf.kernel().operands[size_t(base.operand)]);
    return plan_.accesses[k].split ? fetches_.pieces()[k]->base(colour) : 0;
  };
}

RunKernel Launcher::run(const LeafCall& call) {
  return [this, &code = call.leaf().code(process_, call.device())](spd_call& c) {
    c.arguments = arguments_.data();
    code(c);
  };
}

void Launcher::compute_into(Storage& result, const LeafRun& wanted) {
  LeafCall& call = call_for(wanted);
  View view(result, call.device());
  call.compute_into(view, process_.context, run(call));
  if (onlooker_) onlooker_(wanted, result);
}

Storage Launcher::compute(const std::vector<Range>& ranges, const LeafRun& wanted) {
  LeafCall& call = call_for(wanted);
  Storage made = call.compute(ranges, process_.context, run(call));
  if (onlooker_) onlooker_(wanted, made);
  return made;
}

}  // namespace spdistal
