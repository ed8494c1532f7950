#include "execute/runner.hpp"

#include <fmt/format.h>

#include <utility>

#include "compile/described.hpp"
#include "lower/distribute.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

using namespace notation;

namespace {

// All widths of the operands' index arrays: a kernel is for one combination.
std::string widths_of(const Storages& storages) {
  std::string out;
  for (const auto& [tensor, stored] : storages)
    for (const LevelArrays& level : stored->pattern().levels())
      out += fmt::format("{}{}", int(level.pos.width()), int(level.crd.width()));
  return out;
}

Storages storages_of(const Homes& homes) {
  Storages out;
  for (const auto& [tensor, home] : homes) out.emplace(tensor, &home->piece(0));
  return out;
}

}  // namespace

// Nothing is distributed: one process, one piece of everything, no distributed loop.
bool Runner::is_local(const Homes& operands, const Shares& shares) const {
  bool distributed = process_->transport().size() > 1 || shares.of.size() > 1;
  for (const auto& [tensor, home] : operands) distributed |= home->shares().of.size() > 1;
  each<Forall>(statement_.body, [&](const Forall& loop) { distributed |= loop.tags.place == Place::Distributed; });
  return !distributed;
}

const Runner::Compiled& Runner::compiled_for(const Storages& storages) {
  std::string widths = widths_of(storages);
  if (!compiled_ || compiled_->widths != widths) {
    Leaf leaf(statement_, storages);
    codegen::Kernel kernel = process_->jit.load(leaf.function());
    compiled_.emplace(Compiled{std::move(leaf), std::move(kernel), std::move(widths)});
  }
  return *compiled_;
}

void Runner::prepare(const Homes& operands, const Shares& shares) {
  if (is_local(operands, shares)) {
    compiled_for(storages_of(operands));
    return;
  }
  if (!execution_) execution_ = std::make_unique<Execution>(*process_, statement_, shares);
  execution_->bind(operands);
}

void Runner::compute(const Homes& operands, const Shares& shares, std::optional<Home>& result,
                     const std::vector<Scalar>& arguments) {
  auto what = [&] { return described(statement_.result); };
  memory::Purpose purpose(what);
  if (result && result->is_borrowed()) *result = result->clone(process_->transport());
  if (!is_local(operands, shares)) {
    prepare(operands, shares);
    return execution_->compute(operands, result, arguments);
  }
  Storages storages = storages_of(operands);
  const Compiled& compiled = compiled_for(storages);
  std::vector<const void*> numbers = addresses_of(arguments);
  auto run = [&](spd_call& call) {
    call.arguments = numbers.data();
    compiled.kernel(call);
  };
  // What nobody reads any more makes room for what comes: the same memory, mapped and often still in a cache.
  std::optional<Home> before;
  if (!storages.contains(statement_.result)) before = std::exchange(result, std::nullopt);
  if (before && compiled.leaf.overwrites() && before->shares() == shares) {
    compiled.leaf.compute_into(before->piece(0), storages, process_->context, run);
    before->changed();
    result = std::move(before);
    return;
  }
  before.reset();
  result = scatter(process_->transport(), compiled.leaf.compute(storages, process_->context, run), shares);
}

std::string Runner::kernel() const { return execution_ ? execution_->kernel() : compiled_->kernel.text(); }

plan::Plan Runner::plan(Printer& names) const {
  return execution_ ? execution_->plan() : lower::distribute(statement_, names).plan;
}

std::string Runner::report() const {
  return execution_ ? execution_->report().str() : "one piece in one process: nothing moved\n";
}

}  // namespace spdistal
