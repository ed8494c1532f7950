#include "support/isolated.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace spdistal::test {

std::string isolated(const std::function<std::string()>& f, double seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    std::string out = f();
    for (size_t at = 0; at < out.size();) {
      ssize_t written = write(ends[1], out.data() + at, out.size() - at);
      if (written <= 0) _exit(1);
      at += size_t(written);
    }
    _exit(0);
  }
  close(ends[1]);
  auto stop = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::string out;
  bool late = false;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(stop - std::chrono::steady_clock::now()).count();
    pollfd waiting{ends[0], POLLIN, 0};
    int ready = left <= 0 ? 0 : poll(&waiting, 1, int(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late = true;
      kill(child, SIGKILL);
      break;
    }
    char bytes[4096];
    ssize_t count = read(ends[0], bytes, sizeof(bytes));
    if (count <= 0) break;
    out.append(bytes, size_t(count));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (late) return fmt::format("not done after {} seconds", seconds);
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with code {}", WEXITSTATUS(status));
  return out;
}

}  // namespace spdistal::test
