// Schedules that are worth trying for a statement, as its shape suggests them.
#pragma once
#include <string>
#include <vector>

#include "compile/choose.hpp"

namespace spdistal {

struct Candidate {
  std::string label;              // the same for the same statement, in every process
  std::vector<Command> commands;  // none: what is chosen where nobody says
};

/// What is chosen where nobody says, then cuts by rows and by non-zeros, threads that take turns one by one or in blocks,
/// vectors, and batches of what pieces gather. All are legal for the statement as it is before any command.
std::vector<Candidate> candidates(const ScheduledStatement& statement, const Homes& homes, int64_t pieces,
                                  int64_t threads);

/// The same cut with other loops inside of it: two that are next to each other swapped, a dense range in tiles, some of its turns
/// written out. Of any candidate, and legal as they are; labels begin with that of the candidate.
std::vector<Candidate> refinements(const ScheduledStatement& statement, const Candidate& of);

}  // namespace spdistal
