// The frame of a kernel: the first strategy that suits makes it.
#include "lower/lower.hpp"

#include <algorithm>
#include <iterator>

#include "lower/result/strategy.hpp"

namespace spdistal::lower {

namespace {

// In order of preference; the last suits all.
constexpr const Strategy* strategies[] = {&in_place, &sharing, &appended, &scattered, &listed};

}  // namespace

const Strategy& choose_strategy(Context& c) {
  auto suits = [&](const Strategy* strategy) { return strategy->suits(c); };
  const Strategy& chosen = **std::find_if(std::begin(strategies), std::end(strategies), suits);
  c.kernel.assembly = chosen.assembly;
  return chosen;
}

const Strategy& strategy_of(const Context& c) {
  auto is_it = [&](const Strategy* strategy) { return strategy->assembly == c.kernel.assembly; };
  return **std::find_if(std::begin(strategies), std::end(strategies), is_it);
}

std::optional<notation::Access> shared_operand(const notation::ConcreteStatement& statement) {
  Options options;
  Context c(statement, options);
  if (choose_strategy(c).assembly != Assembly::Shared) return {};
  return c.access(c.kernel.shared_tensor);
}

Lowered lower(const notation::ConcreteStatement& statement, const Options& options) {
  Context c(statement, options);
  choose_strategy(c).emit(c);
  c.kernel.function = c.f.build();
  return std::move(c.kernel);
}

}  // namespace spdistal::lower
