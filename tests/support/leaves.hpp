// How the leaves of a program run in a test.
#pragma once
#include <cstdint>

#include "process/process.hpp"

namespace spdistal::test {

enum class Leaves : uint8_t { Interpreted, Compiled };
ProcessOptions options_for(Leaves leaves);

/// The GPUs of the processes that tests make: interpreted, the same on machines with a GPU and without, unless one says otherwise.
GpuOptions& gpus_of_tests();

}  // namespace spdistal::test
