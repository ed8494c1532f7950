#include "runtime/records/sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

#include "memory/copy.hpp"
#include "runtime/records/packing.hpp"
#include "runtime/transport/combine_values.hpp"

namespace spdistal::runtime {
namespace {

constexpr int most_digit_bits = 11;

/// What is sorted: a word, and with it the value itself or the number of the record.
struct Item {
  uint64_t word, rest;
};
using Items = std::unique_ptr<Item[]>;

/// By the lowest so many bits of the word, stably; digits on which all agree cost nothing.
void sort_by_word(Items& items, size_t count, int bits) {
  Items other = std::make_unique_for_overwrite<Item[]>(count);
  int passes = (bits + most_digit_bits - 1) / most_digit_bits;
  for (int pass = 0; pass < passes; pass++) {
    int digit_bits = (bits + passes - 1) / passes, shift = pass * digit_bits;
    uint64_t mask = (uint64_t(1) << digit_bits) - 1;
    std::array<size_t, size_t(1) << most_digit_bits> starts{};
    for (size_t k = 0; k < count; k++) starts[(items[k].word >> shift) & mask]++;
    if (std::ranges::find(starts, count) != starts.end()) continue;
    size_t sum = 0;
    for (size_t& start : starts) sum += std::exchange(start, sum);
    for (size_t k = 0; k < count; k++) other[starts[(items[k].word >> shift) & mask]++] = items[k];
    items.swap(other);
  }
}

/// All coordinates in one word and the value beside it: nothing but sequential passes, and the coordinates are read back
/// from the word.
void sort_packed(Records& records, const Packing& packing) {
  size_t count = size_t(records.size()), value = size_of(records.type());
  Items items = std::make_unique_for_overwrite<Item[]>(count);
  for (size_t k = 0; k < count; k++) {
    items[k] = {packing.word(0, records.at(int64_t(k))), 0};
    memory::copy_bytes(&items[k].rest, records.value(int64_t(k)), value);
  }
  sort_by_word(items, count, packing.bits(0));
  for (size_t k = 0; k < count; k++) {
    packing.unpack(items[k].word, records.mutable_at(int64_t(k)));
    memory::copy_bytes(records.value(int64_t(k)), &items[k].rest, value);
  }
}

/// By the first word; the few that agree on it by comparison; then the records are brought into this order.
void sort_by_number(Records& records, const Packing& packing, std::span<const int> modes) {
  size_t count = size_t(records.size());
  Items items = std::make_unique_for_overwrite<Item[]>(count);
  for (size_t k = 0; k < count; k++) items[k] = {packing.word(0, records.at(int64_t(k))), k};
  sort_by_word(items, count, packing.bits(0));
  if (packing.words() > 1)
    for (size_t begin = 0, end; begin < count; begin = end) {
      for (end = begin + 1; end < count && items[end].word == items[begin].word;) end++;
      if (end - begin > 1)
        std::stable_sort(items.get() + begin, items.get() + end, [&](const Item& a, const Item& b) {
          return precedes(records.at(int64_t(a.rest)), records.at(int64_t(b.rest)), modes);
        });
    }
  Records out(records.order(), records.type());
  out.reserve(records.size());
  // The records to come are all over memory: ask for them ahead.
  constexpr size_t ahead = 16;
  for (size_t k = 0; k < count; k++) {
    if (k + ahead < count) {
      __builtin_prefetch(records.at(int64_t(items[k + ahead].rest)).data());
      __builtin_prefetch(records.value(int64_t(items[k + ahead].rest)));
    }
    out.add_bytes(records.at(int64_t(items[k].rest)), records.value(int64_t(items[k].rest)));
  }
  records = std::move(out);
}

bool is_sorted(const Records& records, std::span<const int> modes) {
  for (int64_t k = 1; k < records.size(); k++)
    if (precedes(records.at(k), records.at(k - 1), modes)) return false;
  return true;
}

void add_duplicates(Records& records) {
  int64_t kept = 0;
  for (int64_t k = 0; k < records.size(); k++) {
    if (kept > 0 && std::ranges::equal(records.at(k), records.at(kept - 1)))
      combine_values(records.value(kept - 1), records.value(k), 1, records.type(), ReduceOp::Sum);
    else records.move(k, kept++);
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
    Packing packing(records, modes);
    if (packing.words() == 1 && size_of(records.type()) <= sizeof(uint64_t)) sort_packed(records, packing);
    else sort_by_number(records, packing, modes);
  }
  if (duplicates == Duplicates::Add) add_duplicates(records);
}

}  // namespace spdistal::runtime
