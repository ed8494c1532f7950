// How many values variables have. Whoever indexes a dimension as it is gives its size; a window that says where it ends
// gives the number of its coordinates. Beside b(i+1), which says neither, the other accesses on the right need only have
// room for all values too: a(i) = b(i+1) - b(i) has one value less than b.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "notation/check.hpp"
#include "notation/element.hpp"
#include "notation/print.hpp"

namespace spdistal::notation {
namespace {

struct IndexUse {
  Access access;
  size_t dim;
  Side side;

  const IndexVar& index() const { return access.indices[dim]; }
  const Extent& extent() const { return access.tensor.dims()[dim]; }
  bool has_end() const { return index().window() && index().window()->end; }
  /// How many values of its variable there is room for.
  std::optional<int64_t> room() const {
    if (has_end()) return index().window()->count(*index().window()->end);
    if (!extent().value() || !index().window()) return extent().value();
    return index().window()->count(*extent().value());
  }
};

class Extents {
 public:
  explicit Extents(const Assignment& assignment) : assignment_(assignment) {
    print_(assignment);
    look(assignment.lhs, Side::Left);
    each<Access>(assignment.rhs, [&](const Access& access) { look(access, Side::Right); });
  }

  Result<std::map<IndexVar, Extent>> infer() {
    for (const IndexUse& use : all_)
      if (std::optional<Diagnostic> outside = check_inside(use)) return *outside;
    std::map<IndexVar, Extent> out;
    for (const IndexVar& var : variables(assignment_)) {
      std::vector<IndexUse> exact, roomy;
      for (const IndexUse& use : all_)
        if (variable_of(use.index()) == var) (is_exact(use, var) ? exact : roomy).push_back(use);
      Result<Extent> extent = exact.empty() ? Result<Extent>(most_that_fits(roomy)) : common(var, exact);
      if (!extent) return extent.refusal();
      if (std::optional<Diagnostic> crowded = check_room(var, exact, roomy)) return *crowded;
      out.emplace(var, *extent);
    }
    return out;
  }

 private:
  void look(const Access& access, Side side) {
    for (size_t d = 0; d < access.indices.size() && d < access.tensor.order(); d++) all_.push_back({access, d, side});
  }

  bool is_exact(const IndexUse& use, const IndexVar& var) const {
    if (use.index().window()) return use.has_end();
    // All of a result is assigned, unless an open window says otherwise.
    return std::none_of(all_.begin(), all_.end(), [&](const IndexUse& other) {
      bool open = other.index().window() && !other.has_end() && variable_of(other.index()) == var;
      return open && (use.side == Side::Right || other.side == Side::Left);
    });
  }

  // Coordinates that a window says itself must be there.
  std::optional<Diagnostic> check_inside(const IndexUse& use) {
    const Window* window = use.index().window();
    std::optional<int64_t> size = use.extent().value();
    if (!window || !size || (window->of && !window->end)) return {};
    int64_t needed = window->of ? *window->end : window->offset + 1;
    if (needed <= *size) return {};
    std::string what = window->of ? fmt::format("the window {}", print_.name(use.index()))
                                  : fmt::format("coordinate {}", window->offset);
    return refuse(fmt::format("{} lies outside of {}, whose {} dimension has {} coordinate{}", what,
                              print_.name(use.access.tensor), ordinal(use.dim), *size, *size == 1 ? "" : "s"),
                  use,
                  window->of ? fmt::format("let it end at {} or before", *size) : "coordinates are counted from 0");
  }

  // "4 in B's first dimension", "3 in the window i(2,5) of B".
  std::string told(const IndexUse& use) {
    if (use.has_end())
      return fmt::format("{} in the window {} of {}", *use.room(), print_.name(use.index()),
                         print_.name(use.access.tensor));
    return fmt::format("{} in {}'s {} dimension", *use.room(), print_.name(use.access.tensor), ordinal(use.dim));
  }
  std::string told_after(const IndexUse& use, const IndexUse& first) {
    if (use.has_end() || first.has_end()) return told(use);
    bool same = first.access.tensor == use.access.tensor;
    return fmt::format("{} in {} {}", *use.room(), same ? "its" : print_.name(use.access.tensor) + "'s",
                       ordinal(use.dim));
  }

  Result<Extent> common(const IndexVar& var, const std::vector<IndexUse>& uses) {
    IndexUse best = uses[0];
    for (const IndexUse& use : uses) {
      std::optional<int64_t> a = best.room(), b = use.room();
      if (a && b && *a != *b)
        return refuse(fmt::format("{} is {} and {}", print_.name(var), told(best), told_after(use, best)), use);
      // A size that is known now, or written out, tells more than a parameter.
      bool literal = use.extent().is_literal() && !best.extent().is_literal();
      if (!best.has_end() && (use.has_end() || literal || (b && !a))) best = use;
    }
    return best.has_end() ? Extent(*best.room()) : best.extent();
  }

  static Extent most_that_fits(const std::vector<IndexUse>& uses) {
    std::optional<int64_t> out;
    bool literal = true;
    for (const IndexUse& use : uses) {
      if (!use.room()) return Param();
      literal &= use.extent().is_literal();
      out = std::min(*use.room(), out.value_or(*use.room()));
    }
    return literal ? Extent(*out) : Extent(Param() = *out);
  }

  std::optional<Diagnostic> check_room(const IndexVar& var, const std::vector<IndexUse>& exact,
                                       const std::vector<IndexUse>& roomy) {
    auto known = std::find_if(exact.begin(), exact.end(), [](const IndexUse& use) { return use.room().has_value(); });
    if (known == exact.end()) return {};
    for (const IndexUse& use : roomy)
      if (use.room() && *use.room() < *known->room())
        return refuse(fmt::format("{} is {}, and {} has room for {}", print_.name(var), told(*known),
                                  print_(use.access), *use.room()),
                      use,
                      fmt::format("{} has {} coordinates in its {} dimension, and all of {} have to lie among them",
                                  print_.name(use.access.tensor), *use.extent().value(), ordinal(use.dim),
                                  print_.name(use.index())));
    return {};
  }

  Diagnostic refuse(std::string message, const IndexUse& at, std::string hint = {}) {
    auto marked = [&](const Access& other) { return structurally_equal(other, at.access); };
    return {std::move(message), {print_.excerpt(assignment_, marked)}, std::move(hint)};
  }

  const Assignment& assignment_;
  std::vector<IndexUse> all_;
  Printer print_;
};

}  // namespace

Result<std::map<IndexVar, Extent>> infer_extents(const Assignment& assignment) { return Extents(assignment).infer(); }

}  // namespace spdistal::notation
