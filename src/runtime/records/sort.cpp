#include "runtime/records/sort.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "runtime/space/rect.hpp"
#include "runtime/transport/combine_values.hpp"

namespace spdistal::runtime {
namespace {

constexpr int digit_bits = 11;

struct Column {
  int mode;
  int64_t least;
  int bits;
};
/// Columns that fit one word together, the first the most significant.
struct Word {
  std::vector<Column> columns;
  int bits = 0;
};
struct Key {
  uint64_t word;
  int64_t record;
};

std::vector<Word> words_of(const Records& records, std::span<const int> modes) {
  std::vector<Word> words(1);
  for (int mode : modes) {
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (int64_t k = 0; k < records.size(); k++) {
      int64_t x = records.at(k)[size_t(mode)];
      least = std::min(least, x), greatest = std::max(greatest, x);
    }
    int bits = std::bit_width(uint64_t(greatest) - uint64_t(least));
    if (words.back().bits + bits > 64) words.emplace_back();
    words.back().columns.push_back({mode, least, bits});
    words.back().bits += bits;
  }
  return words;
}

uint64_t word_at(const Word& word, std::span<const int64_t> at) {
  uint64_t out = 0;
  // A column of 64 bits is alone in its word.
  for (const Column& column : word.columns)
    out = (column.bits == 64 ? 0 : out << column.bits) | (uint64_t(at[size_t(column.mode)]) - uint64_t(column.least));
  return out;
}

/// Sorts by the word, stably, with a second array of the same size.
void sort_by_word(std::vector<Key>& keys, std::vector<Key>& other, int bits) {
  constexpr size_t digits = size_t(1) << digit_bits;
  for (int shift = 0; shift < bits; shift += digit_bits) {
    std::array<size_t, digits> starts{};
    for (const Key& key : keys) starts[(key.word >> shift) % digits]++;
    size_t sum = 0;
    bool all_alike = false;
    for (size_t& start : starts) {
      all_alike = all_alike || start == keys.size();
      size_t count = start;
      start = sum;
      sum += count;
    }
    if (all_alike) continue;
    for (const Key& key : keys) other[starts[(key.word >> shift) % digits]++] = key;
    keys.swap(other);
  }
}

bool is_sorted(const Records& records, std::span<const int> modes) {
  for (int64_t k = 1; k < records.size(); k++)
    if (precedes(records.at(k), records.at(k - 1), modes)) return false;
  return true;
}

Records in_order(const Records& records, const std::vector<Key>& keys) {
  Records out(records.order(), records.type());
  out.reserve(records.size());
  for (const Key& key : keys) out.add_bytes(records.at(key.record), records.value(key.record));
  return out;
}

void add_duplicates(Records& records) {
  int64_t kept = 0;
  for (int64_t k = 0; k < records.size(); k++) {
    if (kept > 0 && std::ranges::equal(records.at(k), records.at(kept - 1)))
      combine_values(records.value(kept - 1), records.value(k), 1, records.type(), ReduceOp::Sum);
    else
      records.move(k, kept++);
  }
  records.truncate(kept);
}

}  // namespace

bool precedes(std::span<const int64_t> a, std::span<const int64_t> b, std::span<const int> modes) {
  for (int mode : modes)
    if (a[size_t(mode)] != b[size_t(mode)]) return a[size_t(mode)] < b[size_t(mode)];
  return false;
}

void sort(Records& records, std::span<const int> modes, Duplicates duplicates) {
  require(modes.size() == size_t(records.order()), "records are sorted by all their modes");
  if (!is_sorted(records, modes)) {
    std::vector<Word> words = words_of(records, modes);
    std::vector<Key> keys(static_cast<size_t>(records.size())), other(keys.size());
    for (size_t k = 0; k < keys.size(); k++) keys[k].record = int64_t(k);
    for (size_t w = words.size(); w-- > 0;) {
      for (Key& key : keys) key.word = word_at(words[w], records.at(key.record));
      sort_by_word(keys, other, words[w].bits);
    }
    other = {};
    records = in_order(records, keys);
  }
  if (duplicates == Duplicates::Add) add_duplicates(records);
}

}  // namespace spdistal::runtime
