// Lines of text into entries: each line has the coordinates of an entry, counted from 1, and its value. Knows nothing
// of where the text comes from: a chunk is any stretch of whole lines, so that threads, ranks and an inflater can each
// deal with theirs.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"
#include "tensor/coordinates.hpp"

namespace spdistal {

/// What a line gives as value.
enum class Field : uint8_t { Pattern, Integer, Real, Complex };
/// "a real number"
std::string_view describe(Field field);

struct EntryLayout {
  std::vector<std::string> names;  // of the coordinates, in order: "row", "column"
  std::vector<int64_t> dims;       // the sizes to stay within
  Field field = Field::Real;
  char comment = '%';  // lines that start with it are skipped
  ScalarType type = ScalarType::Float64;

  size_t order() const { return names.size(); }
};

/// Something wrong with [begin, end) of a chunk.
struct TextFault {
  size_t begin = 0, end = 0;
  std::string message, hint;
};

/// What room parsing a chunk needs: no less than the entries it can have, and no more than its length justifies.
int64_t entries_at_most(std::string_view chunk, const EntryLayout& layout);

struct ParsedChunk {
  int64_t entries = 0;
  std::optional<TextFault> fault;
};
/// Parses a chunk into entries at, at + 1, … of `into`, which has room for them; stops at the first fault.
ParsedChunk parse_entries(std::string_view chunk, const EntryLayout& layout, Coordinates& into, int64_t at);

/// A text file read from its beginning: first line by line (its header), then all entries.
class TextReader {
 public:
  explicit TextReader(std::string path);

  /// The next line without its end, or nothing at the end of the file. Stands until the next call.
  std::optional<std::string_view> line();
  /// Steps back before the last line.
  void unread();
  /// Parses all the rest in parallel. More than `expected` entries are a fault.
  Coordinates entries(const EntryLayout& layout, std::optional<int64_t> expected);

  /// An error about [begin, end) of the last line.
  [[noreturn]] void fail(size_t begin, size_t end, std::string message, std::string hint = {}) const;
  /// An error about an entry, by its number from 0. Reads the file again to find its line.
  [[noreturn]] void fail_at_entry(int64_t entry, const EntryLayout& layout, std::string message,
                                  std::string hint = {}) const;
  /// An error about the end of the file.
  [[noreturn]] void fail_at_end(std::string message, std::string hint = {}) const;

 private:
  [[noreturn]] void fail_in_chunk(const TextFault& fault) const;
  void parse_chunk(std::string_view text, const EntryLayout& layout, std::optional<int64_t> expected,
                   Coordinates& into);

  std::string path_;
  std::unique_ptr<TextSource> source_;
  std::string_view chunk_;                         // the chunk at hand
  size_t at_ = 0, line_begin_ = 0, line_end_ = 0;  // in the chunk: the next line, and the last one
  int64_t header_lines_ = 0;                       // lines taken by line()
};

/// A token as an error shows it: quoted, shortened, without odd bytes; "the end of the line" where there is none.
std::string describe_token(std::string_view text);
/// The blanks between words: spaces, tabs, and what DOS puts before a line's end.
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

}  // namespace spdistal
