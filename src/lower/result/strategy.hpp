// How the elements of a result come to be. A strategy says whom it suits, emits the kernel with what it needs before, around
// and after the loops, and takes each element as the loops come to it.
//
//   in place    every element has its place
//   sharing     the result has the pattern of an operand, and so the places of its elements
//   appended    level by level, in the order of the loops: at once or in parts where operands bound what there will be,
//               counted and filled where they do not; values alone where the pattern stands
//   scattered   counted for each place of the dense levels, then filled from all of them at a time
//   listed      coordinates and values in any order, which whoever calls the kernel packs
#pragma once
#include <functional>
#include <optional>
#include <string_view>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

/// Emits what computes the value of an element.
using ElementValue = std::function<ir::Expr()>;

struct Strategy {
  std::string_view name;
  Assembly assembly;
  /// Does it suit the statement? Notes in the kernel what its caller must know.
  bool (*suits)(Context& c);
  /// The body of the kernel.
  void (*emit)(Context& c);

  /// Where the element at hand stands, of results that have places for them; and whether it is there: absent, it is.
  ir::Expr (*position)(Context& c, const Scope& s) = nullptr;
  std::optional<ir::Expr> (*present)(const Context& c, const Scope& s) = nullptr;
  /// Takes an element, of the other results. The value is asked for where it is put down.
  void (*add)(Context& c, const Scope& s, const ElementValue& value) = nullptr;
  /// Does what has to be done around the inside of one coordinate of the result. Absent: nothing.
  void (*within)(Context& c, const Scope& s, const IndexVar& var, const Inside& fill) = nullptr;
};

/// The first that suits, in the order above; noted in the kernel.
const Strategy& choose_strategy(Context& c);
/// That of the kernel under way.
const Strategy& strategy_of(const Context& c);
/// Have elements their places before the kernel begins?
inline bool has_places(const Context& c) { return strategy_of(c).position != nullptr; }

extern const Strategy in_place, sharing, appended, scattered, listed;

}  // namespace spdistal::lower
