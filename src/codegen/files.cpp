#include "codegen/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "spdistal/error.hpp"

namespace spdistal::codegen {

std::optional<std::string> read_file(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat info;
  std::optional<std::string> out;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    out.emplace(size_t(info.st_size), '\0');
    size_t at = 0;
    while (at < out->size()) {
      ssize_t n = read(fd, out->data() + at, out->size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      at += size_t(n);
    }
    out->resize(at);
  }
  close(fd);
  return out;
}

bool write_file(const std::string& path, std::string_view bytes) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  size_t at = 0;
  while (at < bytes.size()) {
    ssize_t n = write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += size_t(n);
  }
  bool closed = close(fd) == 0;
  if (at == bytes.size() && closed) return true;
  unlink(path.c_str());
  return false;
}

PrivateFolder::PrivateFolder(const std::string& parent) : path_(parent + "/spdistal-XXXXXX") {
  if (!mkdtemp(path_.data()))
    throw SystemError(fmt::format("cannot make a folder in {} to compile in: {}", parent, std::strerror(errno)));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace spdistal::codegen
