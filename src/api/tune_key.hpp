// What a schedule that was found to be the fastest is kept under.
#pragma once
#include <string>
#include <vector>

#include "compile/candidates.hpp"
#include "process/process.hpp"

namespace spdistal {

/// Collective. A name for all that decides: the statement with its formats and schedule, where it runs and what compiles it, what is
/// tried, and how large, skewed and scattered the data is, roughly. It holds for data that is alike, and for nothing else.
std::string tune_key(Process& process, const ScheduledStatement& statement, const Homes& operands, int64_t pieces,
                     const std::vector<Candidate>& tried);

}  // namespace spdistal
