// How the leaves of a program run in a test.
#pragma once
#include <cstdint>

#include "process/process.hpp"

namespace spdistal::test {

enum class Leaves : uint8_t { Interpreted, Compiled };
ProcessOptions options_for(Leaves leaves);

}  // namespace spdistal::test
