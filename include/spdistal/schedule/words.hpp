// The words of the scheduling language.
#pragma once
#include <cstdint>
#include <string_view>

namespace spdistal {

/// What runs the iterations of a parallel loop.
enum class Unit : uint8_t { CPUThread, CPUVector, GPUBlock, GPUWarp, GPUThread };
inline constexpr Unit CPUThread = Unit::CPUThread, CPUVector = Unit::CPUVector, GPUBlock = Unit::GPUBlock,
                      GPUWarp = Unit::GPUWarp, GPUThread = Unit::GPUThread;

/// What is done where iterations of a parallel loop write the same element: the compiler chooses (Auto), none may
/// (NoRaces: refused where they do), each worker sums privately first (Private), or updates are atomic (Atomics).
enum class Race : uint8_t { Auto, NoRaces, Private, Atomics };
inline constexpr Race NoRaces = Race::NoRaces, Private = Race::Private, Atomics = Race::Atomics;

/// What is known of a variable's extent: it is the size given (MaxExact), or at most that (MaxConstraint).
enum class BoundKind : uint8_t { MaxExact, MaxConstraint };
inline constexpr BoundKind MaxExact = BoundKind::MaxExact, MaxConstraint = BoundKind::MaxConstraint;

/// Each enumeration's words, in the order of its values: the text forms.
template <class E>
struct Words;
template <>
struct Words<Unit> {
  static constexpr std::string_view what = "unit";
  static constexpr std::string_view names[] = {"CPUThread", "CPUVector", "GPUBlock", "GPUWarp", "GPUThread"};
};
template <>
struct Words<Race> {
  static constexpr std::string_view what = "race strategy";
  static constexpr std::string_view names[] = {"Auto", "NoRaces", "Private", "Atomics"};
};
template <>
struct Words<BoundKind> {
  static constexpr std::string_view what = "kind of bound";
  static constexpr std::string_view names[] = {"MaxExact", "MaxConstraint"};
};

template <class E>
constexpr std::string_view word(E value) {
  return Words<E>::names[size_t(value)];
}

}  // namespace spdistal
