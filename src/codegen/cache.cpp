#include "codegen/cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "base/hash.hpp"
#include "codegen/files.hpp"

namespace spdistal::codegen {

namespace fs = std::filesystem;

namespace {

// Bytes after the end of an ELF file do not matter to the loader.
constexpr std::string_view seal_mark = "spdistal";

std::string sealed(std::string_view bytes) { return std::string(bytes) + long_hash(bytes) + std::string(seal_mark); }

std::optional<std::string> unsealed(std::string file) {
  constexpr size_t digits = 32;
  if (!file.ends_with(seal_mark) || file.size() < seal_mark.size() + digits) return {};
  file.resize(file.size() - seal_mark.size());
  std::string hash = file.substr(file.size() - digits);
  file.resize(file.size() - digits);
  if (long_hash(file) != hash) return {};
  return file;
}

/// Why a folder cannot be trusted with kernels; empty where it can.
std::string objection(const std::string& folder) {
  std::error_code error;
  fs::path path(folder);
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) return std::strerror(errno);
  if (!S_ISDIR(info.st_mode)) return "it is not a folder";
  if (info.st_uid != geteuid()) return "it belongs to somebody else";
  if (info.st_mode & 022) return "others may write to it";
  return {};
}

struct Kept {
  std::string path;
  int64_t bytes;
  fs::file_time_type used;
};

// The kernels in a folder, and files of processes that ended before these were whole.
std::vector<Kept> kept_in(const std::string& folder) {
  std::vector<Kept> out;
  std::error_code error;
  fs::file_time_type hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string extension = entry->path().extension();
    std::error_code gone;
    Kept one{entry->path(), int64_t(entry->file_size(gone)), entry->last_write_time(gone)};
    if (gone) continue;
    if (extension == ".so" || (extension == ".tmp" && one.used < hour_ago)) out.push_back(std::move(one));
  }
  return out;
}

// By the clock itself: the time that the system gives a file by itself stands still for milliseconds.
void note_use(const std::string& path) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const timespec used_and_changed[] = {now, now};
  utimensat(AT_FDCWD, path.c_str(), used_and_changed, 0);
}

}  // namespace

Cache::Cache(std::string folder, int64_t most_bytes, const std::function<void(const std::string&)>& note)
    : most_bytes_(most_bytes) {
  if (folder.empty() || most_bytes == 0) return;
  std::string why = objection(folder);
  if (why.empty()) folder_ = std::move(folder);
  else if (note) note(fmt::format("compiled kernels are not kept in {}: {}", folder, why));
}

std::optional<std::string> Cache::find(const std::string& key) const {
  if (!bytes(key)) return std::nullopt;
  return file(key);
}

std::optional<std::string> Cache::bytes(const std::string& key) const {
  if (!usable()) return {};
  auto whole = read_file(file(key));
  std::optional<std::string> out = whole ? unsealed(std::move(*whole)) : std::nullopt;
  if (out) note_use(file(key));
  return out;
}

std::optional<std::string> Cache::publish(const std::string& key, std::string_view bytes) const {
  if (!usable()) return {};
  static std::atomic<int> counter{0};
  std::string temporary = fmt::format("{}/{}.{}.{}.tmp", folder_, key, getpid(), counter++);
  if (!write_file(temporary, sealed(bytes))) return {};
  if (rename(temporary.c_str(), file(key).c_str()) != 0) {
    unlink(temporary.c_str());
    return {};
  }
  note_use(file(key));
  make_room(file(key));
  return file(key);
}

// Others may do the same at the same time: a file that is gone already is as good as removed.
void Cache::make_room(const std::string& besides) const {
  std::vector<Kept> all = kept_in(folder_);
  int64_t total = 0;
  for (const Kept& one : all) total += one.bytes;
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& one : all) {
    if (total <= most_bytes_) return;
    if (one.path == besides) continue;
    unlink(one.path.c_str());
    total -= one.bytes;
  }
}

}  // namespace spdistal::codegen
