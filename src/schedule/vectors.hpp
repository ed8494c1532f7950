// What vectors can run: innermost loops, and loops whose lanes keep step in all the loops inside.
#pragma once
#include "notation/concrete.hpp"

namespace spdistal::schedule {

/// Refuses a loop over vectors, with loops inside it, whose lanes would not all run the same turns of these, or would write
/// the same elements.
Result<> check_lanes(std::string_view command, const notation::ConcreteStatement& statement, const IndexVar& loop);

}  // namespace spdistal::schedule
