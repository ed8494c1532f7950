#include "io/text_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "base/loop_errors.hpp"
#include "base/threads.hpp"
#include "format/questions.hpp"
#include "io/source.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/distribute.hpp"
#include "tensor/values.hpp"

namespace spdistal {
namespace {

constexpr int64_t block_entries = 1 << 15;
constexpr size_t longest_number = 32, longest_message = size_t(1) << 20;

template <class T>
char* put(char* p, T value) {
  if constexpr (is_complex_type<T>) {
    p = put(p, value.real());
    *p++ = ' ';
    return put(p, value.imag());
  } else if constexpr (std::is_same_v<T, bool>) {
    *p++ = value ? '1' : '0';
    return p;
  } else {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();  // whose sign says nothing
    return std::to_chars(p, p + longest_number, value).ptr;
  }
}

void format_block(std::string& out, const Coordinates& entries, const TextLayout& layout, int64_t lo, int64_t hi) {
  size_t shown = layout.columns == ShownColumns::All ? entries.order() : 0;
  out.resize(size_t(hi - lo) * ((shown + 2) * longest_number + layout.after.size()));
  char* p = out.data();
  with_type(entries.type(), [&](auto zero) {
    auto values = entries.values<decltype(zero)>();
    for (int64_t e = lo; e < hi; e++) {
      for (size_t d = 0; d < shown; d++) {
        p = put(p, entries.column(d)[size_t(e)] + 1);
        *p++ = ' ';
      }
      p = std::copy(layout.after.begin(), layout.after.end(), p);
      p = put(p, values[size_t(e)]);
      *p++ = '\n';
    }
  });
  out.resize(size_t(p - out.data()));
}

using Put = std::function<void(std::string_view text)>;

// The lines of what this rank owns, in portions.
void format_lines(const Home& home, const TextLayout& layout, const Put& put) {
  std::vector<std::string> blocks(size_t(loop_threads()) * 4);
  int64_t owned = 0;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
    owned += home.owns_nothing(c) ? 0 : home.piece(c).nnz();
  int64_t portion = std::min(owned, int64_t(blocks.size()) * block_entries), size = 0;
  Coordinates entries(home.dims(), home.type());
  entries.resize(portion);
  auto flush = [&] {
    LoopErrors errors;
#pragma omp parallel for schedule(dynamic) num_threads(loop_threads()) if (size > block_entries)
    for (size_t b = 0; b < blocks.size(); b++) {
      int64_t lo = std::min(size, int64_t(b) * block_entries);
      errors([&] { format_block(blocks[b], entries, layout, lo, std::min(size, lo + block_entries)); });
    }
    errors.raise();
    for (const std::string& text : blocks)
      if (!text.empty()) put(text);
    size = 0;
  };
  size_t bytes = size_of(home.type());
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
    for_each_owned(home, c, [&](std::span<const int64_t> at, int64_t position) {
      for (size_t d = 0; d < at.size(); d++) entries.column(d)[size_t(size)] = at[d];
      memory::copy_bytes(entries.value_bytes() + size_t(size) * bytes,
                         home.piece(c).value_bytes() + size_t(position) * bytes, bytes);
      if (++size == portion) flush();
    });
  if (size > 0) flush();
}

// Text of all ranks into one sink of the first, that of rank 0 first. A rank that fails says so to the end: nobody waits
// for it.
void write_in_turn(runtime::Transport& transport, TextSink* sink, const std::function<void(const Put&)>& produce) {
  int tag = transport.fresh_tag();
  runtime::Pending pending;
  runtime::Attempts attempt;
  auto tell = [&](int64_t size) {
    transport.send(std::as_bytes(std::span(&size, 1)), 0, tag, pending);
    transport.wait(pending);
  };
  if (transport.rank() == 0) {
    attempt([&] { produce([&](std::string_view text) { sink->write(text); }); });
    std::vector<char> text(longest_message);
    for (int from = 1; from < transport.size(); from++)
      for (int64_t size = -1; size != 0;) {
        transport.receive(std::as_writable_bytes(std::span(&size, 1)), from, tag, pending);
        transport.wait(pending);
        if (size == 0) break;
        std::span<char> part(text.data(), size_t(size));
        transport.receive(std::as_writable_bytes(part), from, tag, pending);
        transport.wait(pending);
        attempt([&] { sink->write({part.data(), part.size()}); });
      }
  } else {
    attempt([&] {
      produce([&](std::string_view text) {
        while (!text.empty()) {
          std::string_view part = text.substr(0, longest_message);
          tell(int64_t(part.size()));
          transport.send(std::as_bytes(std::span(part)), 0, tag, pending);
          transport.wait(pending);
          text.remove_prefix(part.size());
        }
      });
    });
    tell(0);
  }
  runtime::agree(transport, attempt.error());
}

// Elements that are moved stay as many as the header says: in levels that fill what lies between, they would become more.
Format exactly_what_is_stored(const Format& order) {
  const std::vector<LevelFormat>& levels = order.levels();
  bool fills = std::any_of(levels.begin(), levels.end(), fills_between);
  return fills ? Format(std::vector<LevelFormat>(levels.size(), Compressed), order.mode_order()) : order;
}

}  // namespace

void write_lines(runtime::Transport& transport, const std::string& path, const Home& home, const TextLayout& layout) {
  bool same = home.format().mode_order() == layout.order.mode_order();
  std::optional<Home> moved;
  if (!same || !is_in_order(transport, home)) {
    Format format = exactly_what_is_stored(layout.order);
    moved = redistribute(transport, home, format, blocked(format, home.dims(), transport.size()));
  }
  std::optional<TextSink> sink;
  runtime::together(
      transport,
      [&] {
        if (transport.rank() == 0) sink.emplace(path).write(layout.header);
      },
      runtime::NameRank::No);
  write_in_turn(transport, sink ? &*sink : nullptr,
                [&](const Put& put) { format_lines(moved ? *moved : home, layout, put); });
  runtime::together(
      transport,
      [&] {
        if (sink) sink->commit();
      },
      runtime::NameRank::No);
}

}  // namespace spdistal
