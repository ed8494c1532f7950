// Runs a program without a shell and keeps everything it says.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace spdistal::testing {

struct Outcome {
  std::string out, err;
  int exit_code = 0;       // 128 + the signal's number where a signal ended it
  bool timed_out = false;  // then it was killed
};

/// Runs `program` with `arguments` in `folder` and waits for it, at most `limit`. Throws std::runtime_error where it cannot
/// be started.
Outcome run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                    const std::filesystem::path& folder, std::chrono::milliseconds limit);

}  // namespace spdistal::testing
