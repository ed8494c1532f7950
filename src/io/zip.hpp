// Archives of several files in one (.zip), as numpy writes them: members stored or deflated, of any size.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"
#include "memory/array.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal {

/// A file inside of an archive.
struct ZipMember {
  enum class Method : uint8_t { Stored, Deflated };
  std::string name;
  Method method = Method::Stored;
  uint32_t crc = 0;                          // of its bytes
  uint64_t bytes = 0, packed = 0, from = 0;  // its length, its length in the archive, and where it begins there
};

class ZipArchive {
 public:
  /// Reads the list of members. Throws UserError where it is none, or tells of what is not in the file.
  explicit ZipArchive(std::string path);

  const std::string& path() const { return path_; }
  const std::vector<ZipMember>& members() const { return members_; }
  /// Null where there is none of the name.
  const ZipMember* find(std::string_view name) const;

  /// Bytes [lo, hi) of a member: of a stored one where they are, of a deflated one a copy, for which all of it is inflated
  /// and compared with its checksum.
  class Part {
   public:
    std::span<const std::byte> bytes() const { return view_; }

   private:
    friend class ZipArchive;
    Array<std::byte> copy_;
    std::span<const std::byte> view_;
  };
  Part part(const ZipMember& member, uint64_t lo, uint64_t hi) const;

  /// Collective. Compares stored members with their checksums, every rank a part of each, and the archives of all ranks.
  void check(runtime::Transport& transport) const;

 private:
  [[noreturn]] void damaged(const std::string& what) const;
  void read_directory();
  std::span<const std::byte> at(uint64_t from, uint64_t bytes, std::string_view what) const;
  Part inflated(const ZipMember& member, uint64_t lo, uint64_t hi) const;

  std::string path_;
  MappedFile file_;
  std::vector<ZipMember> members_;
};

/// What a rank puts into a new member: bytes that follow those of lower ranks.
struct NewZipMember {
  std::string name;
  std::vector<std::byte> mine;
};

/// Collective. Writes an archive; all ranks name the same members. Nothing is compressed.
void write_zip(runtime::Transport& transport, const std::string& path, const std::vector<NewZipMember>& members);

}  // namespace spdistal
