// Random cases that are the same on every rank, and what a rank knows of a partition that the test knows whole.
#pragma once
#include <gtest/gtest.h>

#include "mpi/ranks.hpp"
#include "partition/random_partitions.hpp"
#include "runtime/task/mapping.hpp"

namespace spdistal::runtime::testkit {

inline Range colours_here(const Transport& t, int64_t colours) {
  return Mapping(colours, t.size()).colours_of(t.rank());
}
inline Partition mine(const Transport& t, const Partition& p) { return p.restricted(colours_here(t, p.colours())); }

/// Calls the check with a generator for each case. A failure on any rank ends the test on all, so that none waits.
inline void for_each_case(Transport& t, const char* name, int count, const std::function<void(Random&)>& check) {
  for (int seed = 0; seed < count; seed++) {
    announce(t, name, uint64_t(seed));
    SCOPED_TRACE(std::string(name) + " seed " + std::to_string(seed));
    Random random{uint64_t(seed)};
    check(random);
    if (t.allreduce(int32_t(::testing::Test::HasFailure()), ReduceOp::Max)) return;
  }
}

}  // namespace spdistal::runtime::testkit
