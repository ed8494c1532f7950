// Running another program without a shell.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace spdistal::codegen {

struct Finished {
  int status = 0;      // exit code; 128 + signal where it was killed
  std::string output;  // what it wrote on its standard output and error
};

/// Runs a program, given by its path, and waits for it. What it starts by name is found beside it, too, whatever PATH says. SystemError
/// where it cannot be started at all.
Finished run(const std::string& program, const std::vector<std::string>& arguments);

/// The executable that `name` means: itself with a slash in it, else the first in a colon-separated list of folders.
std::optional<std::string> find_program(const std::string& name, const std::string& search_path);

/// The command as one would type it.
std::string command_text(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace spdistal::codegen
