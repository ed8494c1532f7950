// What random programs are made of, in words: "level u", "type bool", "tensor three times", "literal zero", "names alike",
// "nested machine", "rotate", "ranks 3", …: for counting, and for leaving programs out.
#pragma once
#include <set>
#include <string>

#include "support/program_case.hpp"

namespace spdistal::test {

using Features = std::set<std::string>;

/// Throws UserError where it is no program.
Features features_of(const ProgramCase& program);
bool has_any(const ProgramCase& program, const Features& some);
bool has_all(const ProgramCase& program, const Features& some);

/// What is known to go wrong, and left out of tests until it is mended.
const Features& open_faults();

}  // namespace spdistal::test
