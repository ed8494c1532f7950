// A statement as people look at it before it runs.
#pragma once
#include <string>

#include "notation/print.hpp"
#include "schedule/statement.hpp"

namespace spdistal {

/// The statement, its loops, its loops after the schedule, and conversions.
std::string print_statement(const ScheduledStatement& statement, notation::Printer& names);

}  // namespace spdistal
