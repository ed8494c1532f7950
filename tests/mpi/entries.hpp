// What a tensor holds, as a map.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "spdistal/tensor.hpp"

namespace spdistal {

using Entries = std::map<std::vector<int64_t>, double>;

/// Collective. Of all ranks, without zeros.
inline Entries entries_of(const Tensor<double>& tensor) {
  Entries out;
  for (const auto& [at, value] : tensor.gather())
    if (value != 0) { EXPECT_TRUE(out.emplace(at, value).second) << "an element stands twice"; }
  return out;
}

}  // namespace spdistal
