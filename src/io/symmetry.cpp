#include "io/symmetry.hpp"

namespace spdistal {

Coordinates mirror(Symmetry symmetry, Coordinates entries) {
  int64_t n = entries.size(), off = 0;
  std::span<int64_t> i = entries.column(0), j = entries.column(1);
  for (int64_t e = 0; e < n; e++) off += i[size_t(e)] != j[size_t(e)];
  entries.resize(n + off);
  i = entries.column(0), j = entries.column(1);
  with_type(entries.type(), [&](auto zero) {
    using T = decltype(zero);
    std::span<T> values = entries.values<T>();
    int64_t to = n;
    for (int64_t e = 0; e < n; e++) {
      if (i[size_t(e)] == j[size_t(e)]) continue;
      T value = values[size_t(e)];
      if constexpr (!std::is_same_v<T, bool>)
        if (symmetry == Symmetry::Skew) value = merged(T{}, T(-value));
      if constexpr (is_complex_type<T>)
        if (symmetry == Symmetry::Hermitian) value = std::conj(value);
      i[size_t(to)] = j[size_t(e)];
      j[size_t(to)] = i[size_t(e)];
      values[size_t(to++)] = value;
    }
  });
  return entries;
}

}  // namespace spdistal
