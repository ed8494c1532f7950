// Where the bytes of files come from and go to.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "memory/array.hpp"

namespace spdistal {

/// A file in memory, mapped. Writing to the memory does not change the file.
struct MappedFile {
  std::shared_ptr<void> owner;
  std::span<std::byte> bytes;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};
/// Throws UserError where the file cannot be read.
MappedFile map_file(const std::string& path);

/// The text of a file in chunks of whole lines: a plain file as one chunk, a compressed one in bounded chunks. The
/// first bytes tell which, not the name.
class TextSource {
 public:
  static std::unique_ptr<TextSource> open(const std::string& path);
  /// Whether everyone who opens the file sees the same plain text, at any place: no pipe, and not compressed.
  static bool is_shared(const std::string& path);
  virtual ~TextSource() = default;

  /// The next chunk: it ends with a line, or with the file. Empty at the end. Stands until the next call.
  virtual std::string_view next() = 0;
  /// How many lines came before the last chunk.
  virtual int64_t lines_before() const = 0;
  /// How many bytes of text there can be at most.
  virtual size_t limit() const = 0;
  /// How far into the file the last chunk begins: never falls, from 0 to 1.
  virtual double progress() const { return 0; }
};

/// A file that appears under its name when all is written, and not at all otherwise.
class NewFile {
 public:
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Throws SystemError where the disk does not take it.
  void write(const void* data, size_t bytes);
  /// Where it is until then: other ranks may write parts of it.
  const std::string& beside() const { return beside_; }
  /// Gives it a length; what nobody writes is zero.
  void resize(size_t bytes);
  /// Puts the file under its name.
  void commit();

 private:
  std::string path_, beside_;
  int descriptor_ = -1;
};

/// A file that is there already, to write parts of.
class FilePart {
 public:
  explicit FilePart(std::string path);
  ~FilePart();
  FilePart(const FilePart&) = delete;
  FilePart& operator=(const FilePart&) = delete;

  /// Throws SystemError where the disk does not take it.
  void write(const void* data, size_t bytes, size_t offset);
  /// What was written is there, or this throws.
  void close();

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Text on its way into a file, compressed where the name ends in .gz.
class TextSink {
 public:
  explicit TextSink(const std::string& path);
  ~TextSink();
  void write(std::string_view text);
  /// Everything is written: the file appears.
  void commit();

 private:
  struct Deflater;
  NewFile file_;
  std::unique_ptr<Deflater> deflater_;
};

}  // namespace spdistal
