// Compiled kernels on disk, one file per key, shared by all processes of one user. A file is its bytes and a hash of
// them, so that a damaged one is never loaded; it appears under its name only when whole (temporary, then rename).
//
// All files together take at most so many bytes: what is kept last makes room by removing those that were used least
// recently, by any process. Who has loaded such a file keeps it, since the system does; who had only found it compiles it
// again.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace spdistal::codegen {

class Cache {
 public:
  /// An empty `folder` and a limit of no bytes keep nothing. The folder is made where it does not exist (0700); one that belongs to somebody
  /// else, that others may write to, or that is no folder is not used, and `note` says so.
  Cache(std::string folder, int64_t most_bytes, const std::function<void(const std::string&)>& note);

  /// The file of a kernel, if there is an undamaged one; it counts as used now, as with `bytes`. It may be gone a moment later.
  std::optional<std::string> find(const std::string& key) const;
  /// Keeps a kernel, however large, and returns its file; nothing where the folder cannot be written (then it is kept
  /// nowhere). It may be gone a moment later.
  std::optional<std::string> publish(const std::string& key, std::string_view bytes) const;
  /// The bytes of a kept kernel, to send to another process that then publishes them.
  std::optional<std::string> bytes(const std::string& key) const;

  bool usable() const { return !folder_.empty(); }

 private:
  std::string file(const std::string& key) const { return folder_ + "/" + key + ".so"; }

  void make_room(const std::string& besides) const;

  std::string folder_;  // empty: none
  int64_t most_bytes_ = 0;
};

}  // namespace spdistal::codegen
