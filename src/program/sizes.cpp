// Sizes of tensors that follow from those of others, as data comes.
#include <algorithm>
#include <map>

#include "notation/element.hpp"
#include "program/program_state.hpp"

namespace spdistal {

using namespace notation;

namespace {

struct SizedUse {
  IndexVar index;
  Extent extent;
  Side side;

  bool is_open() const { return index.window() && index.window()->of && !index.window()->end; }
  std::optional<int64_t> room() const {
    const Window* window = index.window();
    if (window && window->end) return window->count(*window->end);
    return extent.value() && window ? window->count(*extent.value()) : extent.value();
  }
};

std::vector<SizedUse> uses_of(const Assignment& assignment) {
  std::vector<SizedUse> out;
  auto look = [&](const notation::Access& access, Side side) {
    for (size_t d = 0; d < access.indices.size(); d++)
      out.push_back({access.indices[d], access.tensor.dims()[d], side});
  };
  look(assignment.lhs, Side::Left);
  each<notation::Access>(assignment.rhs, [&](const notation::Access& access) { look(access, Side::Right); });
  return out;
}

// Those of one variable. Beside b(i+1) other accesses on the right need only have room for its values.
struct UsesOfVariable {
  std::vector<SizedUse> uses;

  bool is_exact(const SizedUse& use) const {
    if (use.index.window()) return !use.is_open();
    return std::none_of(uses.begin(), uses.end(), [&](const SizedUse& other) {
      return other.is_open() && (use.side == Side::Right || other.side == Side::Left);
    });
  }
  /// The number of its values, where it is known by now.
  std::optional<int64_t> count() const {
    bool all = true;
    for (const SizedUse& use : uses) {
      if (use.room() && is_exact(use)) return use.room();
      all &= use.room() || use.side == Side::Left;
    }
    return all ? most() : std::nullopt;
  }
  /// As many as fit what is known by now.
  std::optional<int64_t> most() const {
    std::optional<int64_t> out;
    for (const SizedUse& use : uses)
      if (std::optional<int64_t> room = use.room()) out = std::min(*room, out.value_or(*room));
    return out;
  }
};

std::map<IndexVar, UsesOfVariable> by_variable(const Assignment& assignment) {
  std::map<IndexVar, UsesOfVariable> out;
  for (const SizedUse& use : uses_of(assignment))
    if (std::optional<IndexVar> var = variable_of(use.index)) out[*var].uses.push_back(use);
  return out;
}

}  // namespace

void spread_sizes(const Assignment& assignment) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [var, all] : by_variable(assignment))
      for (const SizedUse& use : all.uses) {
        std::optional<int64_t> count = all.count();
        bool follows = !use.index.window() && all.is_exact(use);
        if (follows && count && !use.extent.value()) Param(*use.extent.param()).bind(*count), changed = true;
      }
  }
}

void fit_sizes(const Assignment& assignment, const std::map<std::string, int64_t>& given) {
  std::map<IndexVar, UsesOfVariable> variables = by_variable(assignment);
  std::vector<std::pair<Param, int64_t>> needed;
  for (const SizedUse& use : uses_of(assignment)) {
    if (use.extent.value()) continue;
    const Window* window = use.index.window();
    std::optional<IndexVar> var = variable_of(use.index);
    auto said = var ? given.find(var->name()) : given.end();
    std::optional<int64_t> count = said != given.end() ? said->second : var ? variables.at(*var).most() : 1;
    if (!count && !(window && window->end)) continue;
    int64_t size = window && window->end ? *window->end
                   : !window             ? *count
                   : *count == 0         ? 0
                                         : window->offset + window->stride * (*count - 1) + 1;
    needed.emplace_back(*use.extent.param(), size);
  }
  for (auto& [param, size] : needed) param.bind(std::max(size, param.value().value_or(0)));
}

}  // namespace spdistal
