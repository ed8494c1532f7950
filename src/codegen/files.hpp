// The few operations on files that compiling and caching need; failures are values.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace spdistal::codegen {

std::optional<std::string> read_file(const std::string& path);
/// Writes a new file, 0600; false where anything fails (no such folder, no room, …).
bool write_file(const std::string& path, std::string_view bytes);

/// A folder of this process alone, removed with all it holds at the end.
class PrivateFolder {
 public:
  /// Makes one below `parent`; SystemError where it cannot.
  explicit PrivateFolder(const std::string& parent);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace spdistal::codegen
