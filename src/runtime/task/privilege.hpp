// What a task may do with a region: decides how its pieces are brought and taken home.
#pragma once
#include "runtime/partition/match.hpp"

namespace spdistal::runtime {

enum class Privilege {
  Read,    // many may have copies
  Write,   // no two colours share an element
  Reduce,  // colours share elements, and what they computed is added
};

/// The privilege with which the pieces of an output are computed.
inline Privilege output_privilege(const Facts& facts) { return facts.disjoint ? Privilege::Write : Privilege::Reduce; }

}  // namespace spdistal::runtime
