#include "io/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/require.hpp"
#include "io/gzip.hpp"

namespace spdistal {
namespace {

[[noreturn]] void cannot(std::string_view what, const std::string& path, int error) {
  throw UserError(fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)));
}

// What cannot be mapped (a pipe, a device) is read to its end.
MappedFile read_all(int descriptor, const std::string& path) {
  auto bytes = std::make_shared<Array<std::byte>>();
  int64_t size = 0;
  while (true) {
    bytes->resize(size + (1 << 20));
    ssize_t got = ::read(descriptor, bytes->data() + size, 1 << 20);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot("read", path, errno);
    if (got == 0) break;
    size += got;
  }
  bytes->resize(size);
  std::span<std::byte> view = bytes->span();
  return {std::move(bytes), view};
}

class PlainText : public TextSource {
 public:
  explicit PlainText(MappedFile file) : file_(std::move(file)) {}
  std::string_view next() override { return std::exchange(done_, true) ? std::string_view() : file_.text(); }
  int64_t lines_before() const override { return 0; }
  size_t limit() const override { return file_.bytes.size(); }

 private:
  MappedFile file_;
  bool done_ = false;
};

}  // namespace

MappedFile map_file(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) cannot("open", path, errno);
  struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) cannot("open", path, errno);
  if (S_ISDIR(status.st_mode)) cannot("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return read_all(descriptor, path);
  size_t size = size_t(status.st_size);
  if (size == 0) return {};
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
  if (at == MAP_FAILED) return read_all(descriptor, path);
  madvise(at, size, MADV_WILLNEED);
  return {std::shared_ptr<void>(at, [size](void* p) { munmap(p, size); }), {static_cast<std::byte*>(at), size}};
}

std::unique_ptr<TextSource> TextSource::open(const std::string& path) {
  MappedFile file = map_file(path);
  if (is_gzip(file.text())) return inflate_lines(std::move(file), path);
  return std::make_unique<PlainText>(std::move(file));
}

bool TextSource::is_shared(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && !is_gzip(map_file(path).text());
}

NewFile::NewFile(std::string path) : path_(std::move(path)), beside_(path_ + ".XXXXXX") {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) cannot("write", path_, EISDIR);
  descriptor_ = ::mkstemp(beside_.data());
  if (descriptor_ < 0) cannot("write", path_, errno);
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(beside_.c_str());
}

void NewFile::write(const void* data, size_t bytes) {
  auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    ssize_t wrote = ::write(descriptor_, at, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw SystemError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
    at += wrote, bytes -= size_t(wrote);
  }
}

void NewFile::resize(size_t bytes) {
  if (::ftruncate(descriptor_, off_t(bytes)) != 0)
    throw SystemError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

void NewFile::commit() {
  int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0 || ::rename(beside_.c_str(), path_.c_str()) != 0) {
    int error = errno;
    ::unlink(beside_.c_str());
    throw SystemError(fmt::format("cannot write '{}': {}", path_, std::strerror(error)));
  }
}

FilePart::FilePart(std::string path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) cannot("write", path_, errno);
}

FilePart::~FilePart() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FilePart::write(const void* data, size_t bytes, size_t offset) {
  auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    ssize_t wrote = ::pwrite(descriptor_, at, bytes, off_t(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw SystemError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
    at += wrote, bytes -= size_t(wrote), offset += size_t(wrote);
  }
}

void FilePart::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0)
    throw SystemError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

}  // namespace spdistal
