#include "codegen/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "spdistal/error.hpp"

extern char** environ;

namespace spdistal::codegen {

std::string command_text(const std::string& program, const std::vector<std::string>& arguments) {
  std::string out = program;
  for (const std::string& a : arguments)
    out += fmt::format(fmt::runtime(a.find_first_of(" '\"$") == a.npos ? " {}" : " '{}'"), a);
  return out;
}

std::optional<std::string> find_program(const std::string& name, const std::string& search_path) {
  auto usable = [](const std::string& path) { return access(path.c_str(), X_OK) == 0; };
  if (name.empty()) return {};
  if (name.find('/') != name.npos) return usable(name) ? std::optional(name) : std::nullopt;
  for (size_t at = 0; at <= search_path.size();) {
    size_t end = std::min(search_path.find(':', at), search_path.size());
    std::string path = search_path.substr(at, end - at) + "/" + name;
    if (end > at && usable(path)) return path;
    at = end + 1;
  }
  return {};
}

namespace {

// The environment of this process, with the folder of a program among those that are looked through: a compiler looks there for its
// assembler and linker, which lie beside it.
std::vector<std::string> environment_for(const std::string& program) {
  std::string folder = program.substr(0, program.rfind('/')), path = "PATH=";
  std::vector<std::string> out;
  for (char** at = environ; *at; at++) {
    if (std::string_view(*at).starts_with("PATH=")) path = std::string(*at) + ":";
    else out.push_back(*at);
  }
  out.push_back(path + folder);
  return out;
}

std::vector<char*> addresses_of(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

Finished run(const std::string& program, const std::vector<std::string>& arguments) {
  auto fail = [&](std::string_view what, int error) {
    throw SystemError(fmt::format("cannot {} {}: {}", what, program, std::strerror(error)),
                      command_text(program, arguments), {});
  };
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) fail("make a pipe for", errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  std::vector<std::string> words{program}, environment = environment_for(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  pid_t child = 0;
  int error = posix_spawn(&child, program.c_str(), &actions, nullptr, addresses_of(words).data(),
                          addresses_of(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) {
    close(pipe_ends[0]);
    fail("start", error);
  }
  Finished done;
  char buffer[4096];
  for (;;) {
    ssize_t n = read(pipe_ends[0], buffer, sizeof buffer);
    if (n > 0) done.output.append(buffer, size_t(n));
    if (n == 0 || (n < 0 && errno != EINTR)) break;
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("wait for", errno);
  done.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return done;
}

}  // namespace spdistal::codegen
