// Errors that a program does not catch, on ranks of a launcher.
#pragma once

namespace spdistal {

/// From now on an error of this library that nobody catches is said once, not by every rank: by the first where that has it too,
/// since what goes wrong mostly does so on all. The process ends with 2 for a UserError and 3 for others, and the launcher ends the other
/// ranks. What other libraries throw ends the process as before.
void say_uncaught_once(int rank);

}  // namespace spdistal
