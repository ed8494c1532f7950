#include "io/text_writer.hpp"

#include <omp.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "tensor/values.hpp"

namespace spdistal {
namespace {

constexpr int64_t block_entries = 1 << 15;
constexpr size_t longest_number = 32;

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
    return std::to_chars(p, p + longest_number, value).ptr;
  }
}

void format_block(std::string& out, const Coordinates& entries, Columns columns, int64_t lo, int64_t hi) {
  size_t shown = columns == Columns::All ? entries.order() : 0;
  out.resize(size_t(hi - lo) * (shown + 2) * longest_number);
  char* p = out.data();
  with_type(entries.type(), [&](auto zero) {
    auto values = entries.values<decltype(zero)>();
    for (int64_t e = lo; e < hi; e++) {
      for (size_t d = 0; d < shown; d++) {
        p = put(p, entries.column(d)[size_t(e)] + 1);
        *p++ = ' ';
      }
      p = put(p, values[size_t(e)]);
      *p++ = '\n';
    }
  });
  out.resize(size_t(p - out.data()));
}

}  // namespace

void write_entries(TextSink& sink, const Coordinates& entries, Columns columns) {
  std::vector<std::string> blocks(size_t(omp_get_max_threads()) * 4);
  int64_t round = int64_t(blocks.size()) * block_entries;
  for (int64_t start = 0; start < entries.size(); start += round) {
#pragma omp parallel for schedule(dynamic) if (entries.size() > block_entries)
    for (size_t b = 0; b < blocks.size(); b++) {
      int64_t lo = std::min(entries.size(), start + int64_t(b) * block_entries);
      format_block(blocks[b], entries, columns, lo, std::min(entries.size(), lo + block_entries));
    }
    for (const std::string& text : blocks) sink.write(text);
  }
}

}  // namespace spdistal
