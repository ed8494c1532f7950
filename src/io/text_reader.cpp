#include <fmt/format.h>
#include <algorithm>

#include "base/blocks.hpp"
#include "base/loop_errors.hpp"
#include "base/threads.hpp"
#include "io/entries.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/threads.hpp"

namespace spdistal {

using runtime::NameRank;
using runtime::together;

namespace {

// Whole lines, about `bytes` each.
std::vector<std::string_view> cut_at_lines(std::string_view text, size_t bytes) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    size_t stop = text.size() <= bytes ? text.npos : text.find('\n', bytes);
    stop = stop == text.npos ? text.size() : stop + 1;
    out.push_back(text.substr(0, stop));
    text.remove_prefix(stop);
  }
  return out;
}

// The part of a text whose lines begin in a block of it.
std::string_view lines_of_block(std::string_view text, int64_t blocks, int64_t number) {
  Range here = block(int64_t(text.size()), blocks, number);
  auto line_at = [&](int64_t at) {  // the first line that begins there or later
    if (at == 0) return size_t(0);
    size_t end = text.find('\n', size_t(at) - 1);
    return end == text.npos ? text.size() : end + 1;
  };
  size_t begin = line_at(here.lo), end = line_at(here.hi);
  return text.substr(begin, end - begin);
}

// A number that tells files apart without reading them: of their length, and of how they begin and end.
uint64_t looks_of(std::string_view text) {
  constexpr size_t some = 4096;
  std::string seen = fmt::format("{} ", text.size());
  seen += text.substr(0, some);
  seen += text.substr(text.size() - std::min(text.size(), some));
  return std::hash<std::string>{}(seen);
}

// What goes before a chunk that the first rank sends; no bytes: there are no more.
struct ChunkHead {
  int64_t bytes, lines_before;
};

}  // namespace

TextReader::TextReader(runtime::Transport& transport, std::string path)
    : transport_(transport), path_(std::move(path)) {
  together(
      transport,
      [&] {
        if (transport.rank() != 0) return;
        source_ = TextSource::open(path_);
        shared_ = TextSource::is_shared(path_);
      },
      NameRank::No);
}

runtime::Bytes TextReader::header(const std::function<runtime::Bytes()>& read) {
  runtime::Bytes bytes = together(
      transport_, [&] { return transport_.rank() == 0 ? read() : runtime::Bytes(); }, NameRank::No);
  struct Found {
    int64_t bytes, at, header_lines, shared;
  } found{int64_t(bytes.size()), int64_t(at_), header_lines_, shared_};
  transport_.broadcast(std::as_writable_bytes(std::span(&found, 1)), 0);
  bytes.resize(size_t(found.bytes));
  transport_.broadcast(bytes, 0);
  header_lines_ = found.header_lines;
  shared_ = found.shared != 0;
  if (!shared_) return bytes;
  together(transport_, [&] {
    if (transport_.rank() == 0) return;
    source_ = TextSource::open(path_);
    chunk_ = {source_->next(), 0};
    at_ = size_t(found.at);
    at_ = std::min(at_, chunk_.text.size());  // of another file, which is said next
  });
  agree_same(transport_, looks_of(chunk_.text), fmt::format("the file '{}'", path_));
  return bytes;
}

std::optional<std::string_view> TextReader::line() {
  if (at_ == chunk_.text.size()) {
    std::string_view text = source_->next();
    if (text.empty()) return std::nullopt;
    chunk_ = {text, source_->lines_before()};
    at_ = 0;
  }
  header_lines_++;
  line_begin_ = at_;
  line_end_ = std::min(chunk_.text.find('\n', at_), chunk_.text.size());
  at_ = std::min(line_end_ + 1, chunk_.text.size());
  return chunk_.text.substr(line_begin_, line_end_ - line_begin_);
}

void TextReader::unread() {
  at_ = line_begin_;
  header_lines_--;
}

void TextReader::fail(size_t begin, size_t end, std::string message, std::string hint) const {
  fail_in_chunk({line_begin_ + begin, line_begin_ + end, std::move(message), std::move(hint)});
}

void TextReader::fail_at_end(std::string message, std::string hint) const {
  throw UserError(Diagnostic{fmt::format("{}: {}", path_, message), {}, std::move(hint)});
}

void TextReader::fail_at_entry(int64_t entry, const EntryLayout& layout, std::string message, std::string hint) const {
  auto alone = runtime::loopback();
  TextReader again(*alone, path_);
  for (int64_t skipped = 0; skipped < header_lines_; skipped++) again.line();
  while (auto text = again.line()) {
    size_t begin = 0, end = text->size();
    while (begin < end && is_blank((*text)[begin])) begin++;
    while (end > begin && is_blank((*text)[end - 1])) end--;
    if (begin == end || (*text)[begin] == layout.comment) continue;
    if (entry-- == 0) again.fail(begin, end, std::move(message), std::move(hint));
  }
  fail_at_end(std::move(message), std::move(hint));  // the file changed meanwhile
}

void TextReader::fail_in_chunk(const TextFault& fault) const {
  std::string_view text = chunk_.text, before = text.substr(0, fault.begin);
  int64_t number = chunk_.lines_before + std::count(before.begin(), before.end(), '\n') + 1;
  size_t start = before.rfind('\n') + 1;
  size_t stop = std::min(text.find('\n', fault.begin), text.size());
  // The line as an excerpt: the part around the fault where it is long, odd bytes as question marks.
  size_t from = fault.begin - start > 80 ? fault.begin - 60 : start;
  std::string shown(text.substr(from, std::min<size_t>(stop - from, 120)));
  while (!shown.empty() && is_blank(shown.back())) shown.pop_back();
  for (char& c : shown)
    if (c < ' ' || c > '~') c = c == '\t' ? ' ' : '?';
  throw UserError(Diagnostic{fmt::format("{}:{}:{}: {}", path_, number, fault.begin - start + 1, fault.message),
                             {{shown, fault.begin - from, fault.end - from}},
                             fault.hint});
}

void TextReader::parse_chunk(std::string_view text, const EntryLayout& layout, std::optional<int64_t> expected,
                             Coordinates& into) {
  size_t threads = size_t(loop_threads());
  size_t bytes = std::clamp<size_t>(text.size() / (4 * threads), size_t(256) << 10, size_t(4) << 20);
  std::vector<std::string_view> parts = cut_at_lines(text, bytes);
  std::vector<int64_t> places(parts.size() + 1);
#pragma omp parallel for schedule(dynamic) num_threads(loop_threads()) if (parts.size() > 1)
  for (size_t k = 0; k < parts.size(); k++) places[k + 1] = entries_at_most(parts[k], layout);
  places[0] = into.size();
  for (size_t k = 0; k < parts.size(); k++) places[k + 1] += places[k];
  into.resize(places.back());
  std::vector<ParsedChunk> parsed(parts.size());
  LoopErrors errors;
#pragma omp parallel for schedule(dynamic) num_threads(loop_threads()) if (parts.size() > 1)
  for (size_t k = 0; k < parts.size(); k++)
    errors([&] { parsed[k] = parse_entries(parts[k], layout, into, places[k]); });
  errors.raise();

  // Comments and blank lines leave gaps: the parts move together.
  int64_t size = places[0], value_bytes = int64_t(size_of(layout.type));
  std::optional<TextFault> fault;
  for (size_t k = 0; k < parts.size() && !fault; k++) {
    int64_t count = parsed[k].entries;
    if (size < places[k] && count > 0) {
      for (size_t d = 0; d < layout.order(); d++)
        memory::move_bytes(into.column(d).data() + size, into.column(d).data() + places[k],
                           size_t(count) * sizeof(int64_t));
      memory::move_bytes(into.value_bytes() + size * value_bytes, into.value_bytes() + places[k] * value_bytes,
                         size_t(count * value_bytes));
    }
    size += count;
    if (expected && size > *expected) break;  // said when it is known how many there are before
    if (!parsed[k].fault) continue;
    fault = *parsed[k].fault;
    size_t shift = size_t(parts[k].data() - chunk_.text.data());
    fault->begin += shift, fault->end += shift;
  }
  into.resize(size);
  if (fault) fail_in_chunk(*fault);
}

void TextReader::parse_own_range(const EntryLayout& layout, std::optional<int64_t> expected, Coordinates& into) {
  std::string_view mine = lines_of_block(chunk_.text.substr(at_), transport_.size(), transport_.rank());
  // Room for what is announced, but no more than the text can hold: untouched memory costs nothing.
  size_t words = std::max<size_t>(1, layout.order());
  if (expected) into.reserve(std::min(*expected, int64_t(mine.size() / (2 * words) + 1)));
  parse_chunk(mine, layout, expected, into);
}

// The first rank keeps the beginning of the file and sends the rest on, each chunk to the rank whose turn it is by how far
// into the file it begins.
TextReader::Faults TextReader::deal_out(const EntryLayout& layout, std::optional<int64_t> expected, Coordinates& into) {
  Faults faults;
  int ranks = transport_.size(), tag = transport_.fresh_tag();
  auto send = [&](int to, std::string_view text, int64_t lines_before) {
    ChunkHead head{int64_t(text.size()), lines_before};
    runtime::Pending pending;
    transport_.send(std::as_bytes(std::span(&head, 1)), to, tag, pending);
    if (!text.empty()) transport_.send(std::as_bytes(std::span(text)), to, tag, pending);
    transport_.wait(pending);
  };
  try {
    while (true) {
      std::string_view text = chunk_.text.substr(at_);
      int to = std::min(ranks - 1, int(source_->progress() * ranks));
      if (to > 0 && !text.empty()) {
        auto skipped = chunk_.text.substr(0, at_);
        send(to, text, chunk_.lines_before + std::count(skipped.begin(), skipped.end(), '\n'));
      } else if (!faults.of_text) {
        try {
          parse_chunk(text, layout, expected, into);
        } catch (...) { faults.of_text = std::current_exception(); }
        if (expected && into.size() > *expected) break;
      }
      chunk_ = {source_->next(), source_->lines_before()};
      at_ = 0;
      if (chunk_.text.empty()) break;
    }
  } catch (...) { faults.of_file = std::current_exception(); }
  for (int r = 1; r < ranks; r++) send(r, {}, 0);
  return faults;
}

TextReader::Faults TextReader::take_chunks(const EntryLayout& layout, std::optional<int64_t> expected,
                                           Coordinates& into) {
  Faults faults;
  int tag = transport_.fresh_tag();
  Array<char> text;
  while (true) {
    ChunkHead head{};
    runtime::Pending pending;
    transport_.receive(std::as_writable_bytes(std::span(&head, 1)), 0, tag, pending);
    transport_.wait(pending);
    if (head.bytes == 0) return faults;
    text.resize(head.bytes);
    transport_.receive(std::as_writable_bytes(text.span()), 0, tag, pending);
    transport_.wait(pending);
    if (faults.of_text || (expected && into.size() > *expected)) continue;
    chunk_ = {std::string_view(text.data(), size_t(text.size())), head.lines_before};
    try {
      parse_chunk(chunk_.text, layout, expected, into);
    } catch (...) { faults.of_text = std::current_exception(); }
  }
}

Coordinates TextReader::entries(const EntryLayout& layout, std::optional<int64_t> expected) {
  Coordinates out(layout.dims, layout.type);
  Faults faults;
  if (shared_) {
    try {
      parse_own_range(layout, expected, out);
    } catch (...) { faults.of_text = std::current_exception(); }
  } else {
    faults = transport_.rank() == 0 ? deal_out(layout, expected, out) : take_chunks(layout, expected, out);
  }
  std::vector<int64_t> counts = transport_.allgather(out.size());
  before_ = total_ = 0;
  for (int r = 0; r < transport_.size(); r++) {
    if (r < transport_.rank()) before_ += counts[size_t(r)];
    total_ += counts[size_t(r)];
  }
  // Of the ranks that found something wrong the lowest was first in the file; on one rank, too many entries were.
  if (expected && before_ <= *expected && before_ + out.size() > *expected) {
    try {
      fail_at_entry(*expected, layout,
                    fmt::format("expected the end of the file after {} entries, found another", *expected),
                    "the size line gives the number of entries");
    } catch (...) { faults.of_text = std::current_exception(); }
  }
  agree(transport_, faults.of_text, NameRank::No);
  if (!shared_) agree(transport_, faults.of_file, NameRank::No);
  return out;
}

}  // namespace spdistal
