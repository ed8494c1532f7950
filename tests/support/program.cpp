#include "support/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace spdistal::testing {
namespace {

struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    read = ends[0], write = ends[1];
  }
  ~Pipe() { close_read(), close_write(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_read() { close_end(read); }
  void close_write() { close_end(write); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

// What the child does between fork and exec; only async-signal-safe calls. A failure travels through `trouble` as errno.
[[noreturn]] void become(const char* program, char** argv, const char* folder, int out, int err, int trouble) {
  setpgid(0, 0);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0 && chdir(folder) == 0)
    execv(program, argv);
  int why = errno;
  [[maybe_unused]] ssize_t told = write(trouble, &why, sizeof why);
  _exit(127);
}

// Appends what is there to `text`; false at the end of the stream.
bool drain(int from, std::string& text) {
  char buffer[4096];
  ssize_t count = read(from, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR;
  text.append(buffer, size_t(count));
  return count > 0;
}

}  // namespace

Outcome run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                    const std::filesystem::path& folder, std::chrono::milliseconds limit) {
  std::string path = std::filesystem::absolute(program).string(), place = folder.string();
  std::vector<std::string> words = {program.filename().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  Pipe out, err, trouble;
  pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) become(path.c_str(), argv.data(), place.c_str(), out.write, err.write, trouble.write);
  out.close_write(), err.close_write(), trouble.close_write();

  int why = 0;
  if (read(trouble.read, &why, sizeof why) == sizeof why) {
    waitpid(child, nullptr, 0);
    throw std::runtime_error("cannot run " + path + " in " + place + ": " + std::strerror(why));
  }

  Outcome outcome;
  auto end = std::chrono::steady_clock::now() + limit;
  while (out.read >= 0 || err.read >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      outcome.timed_out = true;
      kill(-child, SIGKILL);
      break;
    }
    pollfd ends[2] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};  // poll passes over closed ends, which are -1
    if (poll(ends, 2, int(left)) < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
    if (ends[0].revents && !drain(out.read, outcome.out)) out.close_read();
    if (ends[1].revents && !drain(err.read, outcome.err)) err.close_read();
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  outcome.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

}  // namespace spdistal::testing
