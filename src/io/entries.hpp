// Lines of text into entries: each line has the coordinates of an entry, counted from 1, and its value. Knows nothing
// of where the text comes from: a chunk is any stretch of whole lines, so that threads, ranks and an inflater can each
// deal with theirs.
#pragma once
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"
#include "runtime/transport/bytes.hpp"
#include "runtime/transport/transport.hpp"
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

/// A text file read by all ranks: its header line by line on the first, then all entries. A plain file is parsed by byte
/// ranges, each rank its own; one that is compressed, or that only one can read, is read by the first rank, which deals
/// out bounded chunks. Either way the entries of rank 0, 1, … together are those of the file in order.
class TextReader {
 public:
  /// Collective.
  TextReader(runtime::Transport& transport, std::string path);

  /// Collective. The first rank reads the header: `read` calls line, unread and fail as it likes and returns what it
  /// found as bytes, which all get.
  runtime::Bytes header(const std::function<runtime::Bytes()>& read);
  /// The next line without its end, or nothing at the end of the file. Stands until the next call.
  std::optional<std::string_view> line();
  /// Steps back before the last line.
  void unread();
  /// An error about [begin, end) of the last line.
  [[noreturn]] void fail(size_t begin, size_t end, std::string message, std::string hint = {}) const;

  /// Collective. Parses all the rest, in parallel on each rank: returns the entries of this one. More than `expected`
  /// in all are a fault.
  Coordinates entries(const EntryLayout& layout, std::optional<int64_t> expected);
  /// How many entries the lower ranks have, and all.
  int64_t entries_before() const { return before_; }
  int64_t entries_in_all() const { return total_; }

  /// An error about an entry of the whole file, by its number from 0. Reads the file again to find its line. Called by
  /// all ranks, or within what they do together.
  [[noreturn]] void fail_at_entry(int64_t entry, const EntryLayout& layout, std::string message,
                                  std::string hint = {}) const;
  /// An error about the end of the file.
  [[noreturn]] void fail_at_end(std::string message, std::string hint = {}) const;

 private:
  struct Chunk {
    std::string_view text;
    int64_t lines_before = 0;
  };
  [[noreturn]] void fail_in_chunk(const TextFault& fault) const;
  void parse_chunk(std::string_view text, const EntryLayout& layout, std::optional<int64_t> expected,
                   Coordinates& into);
  void parse_own_range(const EntryLayout& layout, std::optional<int64_t> expected, Coordinates& into);
  // What is wrong with the lines that a rank parsed, and with the file behind all lines that it gave.
  struct Faults {
    std::exception_ptr of_text, of_file;
  };
  Faults deal_out(const EntryLayout& layout, std::optional<int64_t> expected, Coordinates& into);
  Faults take_chunks(const EntryLayout& layout, std::optional<int64_t> expected, Coordinates& into);

  runtime::Transport& transport_;
  std::string path_;
  bool shared_ = false;                            // every rank has the text, as one chunk
  std::unique_ptr<TextSource> source_;             // of the first rank, of every rank where it is shared
  Chunk chunk_;                                    // the chunk at hand
  size_t at_ = 0, line_begin_ = 0, line_end_ = 0;  // in the chunk: the next line, and the last one
  int64_t header_lines_ = 0;                       // lines taken by line()
  int64_t before_ = 0, total_ = 0;
};

/// A token as an error shows it: quoted, shortened, without odd bytes; "the end of the line" where there is none.
std::string describe_token(std::string_view text);
/// The blanks between words: spaces, tabs, and what DOS puts before a line's end.
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

}  // namespace spdistal
