#include "codegen/cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>

#include "base/hash.hpp"
#include "codegen/files.hpp"

namespace spdistal::codegen {
namespace {

// Bytes after the end of an ELF file do not matter to the loader.
constexpr std::string_view seal_mark = "spdistal";

std::string sealed(std::string_view bytes) {
  return std::string(bytes) + long_hash(bytes) + std::string(seal_mark);
}

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
  std::filesystem::path path(folder);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) return std::strerror(errno);
  if (!S_ISDIR(info.st_mode)) return "it is not a folder";
  if (info.st_uid != geteuid()) return "it belongs to somebody else";
  if (info.st_mode & 022) return "others may write to it";
  return {};
}

}  // namespace

Cache::Cache(std::string folder, const std::function<void(const std::string&)>& note) {
  if (folder.empty()) return;
  std::string why = objection(folder);
  if (why.empty()) folder_ = std::move(folder);
  else if (note) note(fmt::format("compiled kernels are not kept in {}: {}", folder, why));
}

std::optional<std::string> Cache::find(const std::string& key) const {
  return bytes(key) ? std::optional(file(key)) : std::nullopt;
}

std::optional<std::string> Cache::bytes(const std::string& key) const {
  if (!usable()) return {};
  auto whole = read_file(file(key));
  return whole ? unsealed(std::move(*whole)) : std::nullopt;
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
  return file(key);
}

}  // namespace spdistal::codegen
