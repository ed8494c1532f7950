// Walking over what is stored, and looking one element up. Slow and obvious; kernels do the work.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "format/fill.hpp"
#include "level/level.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

namespace detail {

template <class F>
void walk(const Pattern& pattern, size_t k, int64_t parent, std::vector<int64_t>& at, F& f) {
  if (k == pattern.order()) {
    f(std::span<const int64_t>(at), parent);
    return;
  }
  const LevelArrays& level = pattern.level(k);
  const LevelFunctions& functions = functions_of(pattern.format().levels()[k]);
  Range below = functions.children(level, parent);
  int64_t& coordinate = at[size_t(pattern.format().mode_order()[k])];
  for (int64_t p = below.lo; p < below.hi; p++) {
    if (functions.stored && !functions.stored(level, p)) continue;
    coordinate = functions.coordinate(level, p);
    walk(pattern, k + 1, p, at, f);
  }
}

}  // namespace detail

/// f(coordinates, position) for every stored element, in storage order.
template <class F>
void for_each_position(const Pattern& pattern, F&& f) {
  std::vector<int64_t> at(pattern.order());
  detail::walk(pattern, 0, 0, at, f);
}

/// The stored elements one after the other, in storage order, for who asks for the next.
class PositionCursor {
 public:
  explicit PositionCursor(const Pattern& pattern);

  /// At first to the first element. False: there is none.
  bool next();
  std::span<const int64_t> at() const { return at_; }
  int64_t position() const { return left_.empty() ? 0 : left_.back().lo; }

 private:
  const Pattern* pattern_;
  std::vector<const LevelFunctions*> functions_;  // by level
  std::vector<Range> left_;                       // by level: the positions from the present one on
  std::vector<int64_t> at_;
  bool begun_ = false;
};

/// The positions of the last level that store an element, as runs of neighbours.
std::vector<Range> stored_runs(const Pattern& pattern);

/// f(coordinates, value) for every stored element, in storage order.
template <class T, class F>
void for_each(const Storage& storage, F&& f) {
  std::span<const T> values = storage.values<T>();
  for_each_position(storage.pattern(),
                    [&](std::span<const int64_t> at, int64_t position) { f(at, values[size_t(position)]); });
}

/// found(positions) for all positions of the last level that store an element with these coordinates.
void locate(const Pattern& pattern, std::span<const int64_t> at, const std::function<void(Range)>& found);

/// The element at these coordinates, the fill value where none is stored. Throws UserError for coordinates outside the tensor.
template <class T>
T at(const Storage& storage, std::span<const int64_t> coordinates) {
  std::optional<T> sum;
  std::span<const T> values = storage.values<T>();
  locate(storage.pattern(), coordinates, [&](Range positions) {
    for (int64_t p = positions.lo; p < positions.hi; p++)
      sum = sum ? merged(*sum, values[size_t(p)]) : values[size_t(p)];
  });
  return sum ? *sum : std::get<T>(static_cast<const ScalarVariant&>(fill_value(storage.format(), scalar_type_of<T>())));
}
template <class T>
T at(const Storage& storage, std::initializer_list<int64_t> coordinates) {
  return at<T>(storage, std::span<const int64_t>(coordinates.begin(), coordinates.size()));
}

}  // namespace spdistal
