// The elements of a dense array, in order.
#pragma once
#include <cstdint>
#include <vector>

namespace spdistal::test {

/// Which of p blocks of n a number is in.
inline int64_t block_of(int64_t n, int64_t p, int64_t x) { return x / ((n + p - 1) / p); }

/// Calls f(coordinates, position) for every element of an array of these sizes, the last dimension fastest.
template <class F>
void each_element(const std::vector<int64_t>& dims, F&& f) {
  std::vector<int64_t> at(dims.size(), 0);
  size_t count = 1;
  for (int64_t n : dims) count *= size_t(n);
  for (size_t position = 0; position < count; position++) {
    size_t rest = position;
    for (size_t d = dims.size(); d-- > 0; rest /= size_t(dims[d])) at[d] = int64_t(rest % size_t(dims[d]));
    f(static_cast<const std::vector<int64_t>&>(at), position);
  }
}

}  // namespace spdistal::test
