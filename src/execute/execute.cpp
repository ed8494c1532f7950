#include "execute/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "compile/described.hpp"
#include "schedule/print.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

using namespace notation;

namespace {

bool distributes(const ConcreteStatement& loops) {
  bool out = false;
  each<Forall>(loops.body, [&](const Forall& loop) { out |= loop.tags.place == LoopPlace::Distributed; });
  return out;
}

// Whatever was sent to make a copy of a tensor.
runtime::Ledger as_redistribution(const runtime::Ledger& sent, const std::string& tensor) {
  using runtime::Cargo;
  runtime::Ledger out;
  for (const auto& [about, cargo, bytes, messages] : sent.entries())
    if (cargo == Cargo::Agreement) out.add(about, cargo, bytes, messages);
    else out.add(tensor, Cargo::Redistribution, bytes, messages);
  return out;
}

}  // namespace

Execution::Execution(Process& process, Compiled compiled)
    : process_(process), compiled_(std::move(compiled)), has_distributed_loops_(distributes(compiled_.loops())) {
  for (CompiledCopy& copy : compiled_.copies)
    copies_.push_back({copy.from, std::make_unique<Execution>(process, std::move(copy.loops))});
}

runtime::Ledger Execution::add_copies(Homes& operands) {
  runtime::Ledger converted;
  for (CopiedOperand& copy : copies_) {
    const Home& original = *operands.at(copy.from);
    const TensorVar& to = copy.execution->compiled().loops().result;
    if (!copy.home || copy.version != original.version()) {
      runtime::Ledger sent;
      {
        runtime::Recording recording(process_.transport().sent(), sent);
        copy.execution->compute({{copy.from, &original}}, homes_of(to, process_.transport().size()), copy.home);
      }
      converted.add(as_redistribution(sent, copy.from.symbol().name()));
      copy.version = original.version();
    }
    operands.emplace(to, &*copy.home);
  }
  return converted;
}

// Nothing is distributed: one process, one piece of everything, no distributed loop.
bool Execution::is_whole(const Homes& operands, const Shares& shares) const {
  return !has_distributed_loops_ && process_.transport().size() == 1 && shares.of.size() == 1 &&
         std::all_of(operands.begin(), operands.end(),
                     [](const auto& operand) { return operand.second->shares().of.size() == 1; });
}

DevicePlace Execution::device() const {
  if (compiled_.processor == CPU) return {};
  return process_.gpus().front();
}

const Leaf& Execution::whole_leaf(const Homes& operands) {
  auto pattern = [&](const notation::Access& access) { return &operands.at(access.tensor)->piece(0).pattern(); };
  if (whole_ && whole_->fits(pattern)) return *whole_;
  double begin = seconds_now();
  whole_ = &compiled_.leaf(LeafKind::Whole, pattern);
  whole_->code(process_, device());
  compile_seconds_ += seconds_now() - begin;
  return *whole_;
}

// Where results live may change with their sizes.
void Execution::prepare_pieces(const Homes& operands, const Shares& shares, const runtime::Ledger& sent) {
  if (!pieces_ || !(pieces_->shares() == shares)) pieces_ = std::make_unique<BoundPlan>(process_, compiled_, shares);
  pieces_->note_sent(sent);
  pieces_->note_sent(std::exchange(compiled_.sent, {}));
  pieces_->bind(operands);
}

void Execution::prepare(Homes operands, const Shares& shares) {
  runtime::Ledger sent = add_copies(operands);
  if (is_whole(operands, shares)) whole_leaf(operands);
  else prepare_pieces(operands, shares, sent);
}

void Execution::compute_whole(const Homes& operands, const Shares& shares, std::optional<Home>& result,
                              const std::vector<Scalar>& arguments) {
  const Leaf& leaf = whole_leaf(operands);
  const codegen::Kernel& code = leaf.code(process_, device());
  Storages storages;
  for (const auto& [tensor, home] : operands) storages.emplace(tensor, &home->piece(0));
  std::vector<const void*> numbers = addresses_of(arguments);
  last_ = {0, 0, std::exchange(compile_seconds_, 0)};
  for (const auto& [tensor, home] : operands)
    if (!tensor.format().is_dense()) last_.non_zeros += home->nnz();
  auto run = [&](spd_call& call) {
    call.arguments = numbers.data();
    double begin = seconds_now();
    code(call);
    last_.seconds += seconds_now() - begin;
  };
  // What nobody reads any more makes room for what comes: the same memory, mapped and often still in a cache.
  std::optional<Home> before;
  if (!operands.contains(compiled_.loops().result)) before = std::exchange(result, std::nullopt);
  if (before && leaf.overwrites() && before->shares() == shares) {
    compute_into(before->piece(0), leaf, storages, process_.context, run, device());
    before->changed();
    result = std::move(before);
    return;
  }
  before.reset();
  result = scatter(process_.transport(), spdistal::compute(leaf, storages, process_.context, run, device()), shares);
}

void Execution::compute(Homes operands, const Shares& shares, std::optional<Home>& result,
                        const std::vector<Scalar>& arguments) {
  auto what = [&] { return described(compiled_.loops().result); };
  memory::Purpose purpose(what);
  runtime::Ledger sent = add_copies(operands);
  if (result && result->is_borrowed()) *result = result->clone(process_.transport());
  if (is_whole(operands, shares)) return compute_whole(operands, shares, result, arguments);
  prepare_pieces(operands, shares, sent);
  pieces_->compute(operands, result, arguments);
}

std::string Execution::own_kernel() const {
  return pieces_ ? pieces_->kernel() : whole_->code(process_, device()).text();
}

std::string Execution::kernel() const {
  if (copies_.empty()) return own_kernel();
  Printer names(ArgumentText::Name);
  names(compiled_.loops());
  std::string out;
  auto add = [&](const Execution& execution) {
    const ConcreteStatement& loops = execution.compiled_.loops();
    each<Assign>(loops.body, [&](const Assign& assign) {
      if (assign.lhs.tensor != loops.result) return;
      out += fmt::format("{}// {}\n{}", out.empty() ? "" : "\n", names(Assignment{assign.lhs, assign.op, assign.rhs}),
                         execution.own_kernel());
    });
  };
  for (const CopiedOperand& copy : copies_) add(*copy.execution);
  add(*this);
  return out;
}

std::string Execution::plan() {
  std::string out;
  if (const Chosen& chosen = compiled_.chosen(); !chosen.commands.empty()) {
    Printer names(ArgumentText::Name);
    names(chosen.statement);
    std::string commands = join(chosen.commands, "\n", [&](const Command& c) { return schedule::print(c, names); });
    out = fmt::format("schedule\n{}\n  because {}\n\n", indent(commands, 2), chosen.reason);
  }
  return out + "plan\n" + indent(plan::print(compiled_.plan(), pieces_ ? pieces_->facts() : whole_facts()), 2);
}

// All is where the one kernel runs.
plan::PlanFacts Execution::whole_facts() const {
  bool dense = compiled_.loops().result.format().is_dense();
  return {
      .travels = std::vector<std::optional<plan::Travels>>(compiled_.plan().accesses.size(), plan::Travels::Nothing),
      .returns = dense ? plan::Returns::InPlace : plan::Returns::Stays};
}

Report Execution::whole_report() const {
  Report out{.pieces = {{last_.non_zeros, last_.seconds}}};
  for (const plan::AccessPlan& access : compiled_.plan().accesses) out.accesses.push_back(access.text);
  out.leaf = compiled_.routine;
  out.compile_seconds = last_.compile_seconds;
  return out;
}

Report Execution::report() const { return pieces_ ? pieces_->report() : whole_report(); }

}  // namespace spdistal
