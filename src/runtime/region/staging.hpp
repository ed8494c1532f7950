// How much memory messages have that are not one stretch of an instance. Long ones go in parts, a few of which have memory: it is taken
// again as they leave and arrive, so that none is as large as a message, and all of it stays in a cache.
//
//   out     gathered | sent  | sent | sent |
//   in               |       | arriving | put in place
//
// Always holds: the ranks have the same, so that both ends of a message cut it alike.
#pragma once
#include <cstdint>

namespace spdistal::runtime {

struct Staging {
  int64_t whole;                     // bytes: longer messages go in parts
  int64_t part;                      // bytes of a part, which whole elements fit into
  static constexpr int64_t few = 4;  // parts that have memory at a time
};
Staging staging();
/// For tests, which have short messages: of exchanges that are planned from now on.
void set_staging(Staging staging);

}  // namespace spdistal::runtime
