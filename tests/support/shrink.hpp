// Making a program that goes wrong small: parts are left out one after the other, and stay out where it still goes wrong.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "support/program_case.hpp"

namespace spdistal::test {

/// What is wrong with a program, or nothing; nothing where it is refused.
using FindFault = std::function<std::optional<std::string>(const ProgramCase&)>;
/// The same from one that looks at programs as the compiler sees them.
FindFault once_built(std::function<std::optional<std::string>(const BuiltProgram&)> find);

struct Shrunk {
  ProgramCase program;
  std::string fault;  // what is wrong with the small one
  int tried = 0;      // programs that were run
};

/// Leaves out ranks, threads, commands, places, operands, terms, dimensions, sizes, elements, and makes names, numbers of
/// pieces, formats, orders, types and values plain,
/// until nothing more can go or `limit` programs were tried. Nothing where the program, once it is written down, has no
/// fault: then it cannot be shrunk.
std::optional<Shrunk> shrink(const ProgramCase& program, const FindFault& find, int limit = 3000);

/// What a failed test prints: the seed, the fault, the small program and how to run it again. Data stays in a folder for
/// temporary files.
std::string report(const std::string& test, uint64_t seed, const ProgramCase& program, const FindFault& find,
                   int limit = 3000);

}  // namespace spdistal::test
