// What is looked at before a statement is compiled: whether ranks mean the same, whether sizes fit, what a user should know.
#pragma once
#include <vector>

#include "process/process.hpp"
#include "schedule/statement.hpp"

namespace spdistal {

/// Collective. Throws UserError on all ranks, naming one, where they do not mean the same statement: its text, schedule,
/// sizes, formats, types and distributions.
void agree_on(runtime::Transport& transport, const ScheduledStatement& statement);
/// Notes what is right and slower than hoped for: sparse results that store every element.
void note_what_is_slow(Process& process, const ScheduledStatement& statement);
/// Throws UserError where sizes are not known yet, or do not fit.
void check_sizes(const ScheduledStatement& statement);
/// The same where they are others than those that were found to fit before.
void check_sizes(const ScheduledStatement& statement, std::vector<int64_t>& fitting);
/// Throws UserError where a result that holds nothing, and of which nobody said what that counts as, would be 0 for a
/// statement that puts values together with it by something else than a sum: the least of 0 and others is hardly meant.
void check_beginning(const ScheduledStatement& statement);
/// Numbers of pieces that nobody gave are the number of ranks.
void bind_pieces(const notation::ConcreteStatement& statement, int ranks);

}  // namespace spdistal
