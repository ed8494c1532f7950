// Random programs whole: a statement with its data, a machine, places of tensors, a schedule, and how it is run.
#pragma once
#include <random>

#include "support/features.hpp"
#include "support/program_case.hpp"

namespace spdistal::test {

struct CaseOptions {
  /// Programs with one of these are left out.
  Features without = open_faults();
  /// Programs without one of these, too.
  Features only = {};
  /// One program in so many has compiled leaves; none where it is 0.
  int64_t compiled_one_in = 0;
};

/// A program that the compiler accepts as text.
ProgramCase draw_case(std::mt19937_64& random, const CaseOptions& options = {});

}  // namespace spdistal::test
