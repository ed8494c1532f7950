#include "runtime/records/sort.hpp"

#include <algorithm>
#include <memory>

#include "memory/copy.hpp"
#include "runtime/records/packing.hpp"
#include "runtime/records/radix.hpp"
#include "runtime/transport/combine_values.hpp"

namespace spdistal::runtime {
namespace {

/// A word of a record, and with it the value itself or the number of the record.
using Items = std::unique_ptr<Keyed[]>;

void sort_by_word(Items& items, size_t count) {
  Items spare = std::make_unique_for_overwrite<Keyed[]>(count);
  radix_sort({items.get(), count}, {spare.get(), count}, 1);
}

/// All coordinates in one word and the value beside it: nothing but sequential passes, and the coordinates are read back
/// from the word.
void sort_packed(Records& records, const Packing& packing) {
  size_t count = size_t(records.size()), value = size_of(records.type());
  Items items = std::make_unique_for_overwrite<Keyed[]>(count);
  for (size_t k = 0; k < count; k++) {
    items[k] = {packing.word(0, records.at(int64_t(k))), 0};
    memory::copy_bytes(&items[k].payload, records.value(int64_t(k)), value);
  }
  sort_by_word(items, count);
  for (size_t k = 0; k < count; k++) {
    packing.unpack(items[k].key, records.mutable_at(int64_t(k)));
    memory::copy_bytes(records.value(int64_t(k)), &items[k].payload, value);
  }
}

/// By the first word; the few that agree on it by comparison; then the records are brought into this order.
void sort_by_number(Records& records, const Packing& packing, std::span<const int> modes) {
  size_t count = size_t(records.size());
  Items items = std::make_unique_for_overwrite<Keyed[]>(count);
  for (size_t k = 0; k < count; k++) items[k] = {packing.word(0, records.at(int64_t(k))), k};
  sort_by_word(items, count);
  if (packing.words() > 1)
    for (size_t begin = 0, end; begin < count; begin = end) {
      for (end = begin + 1; end < count && items[end].key == items[begin].key;) end++;
      if (end - begin > 1)
        std::stable_sort(items.get() + begin, items.get() + end, [&](const Keyed& a, const Keyed& b) {
          return precedes(records.at(int64_t(a.payload)), records.at(int64_t(b.payload)), modes);
        });
    }
  Records out(records.order(), records.type());
  out.reserve(records.size());
  // The records to come are all over memory: ask for them ahead.
  constexpr size_t ahead = 16;
  for (size_t k = 0; k < count; k++) {
    if (k + ahead < count) {
      __builtin_prefetch(records.at(int64_t(items[k + ahead].payload)).data());
      __builtin_prefetch(records.value(int64_t(items[k + ahead].payload)));
    }
    out.add_bytes(records.at(int64_t(items[k].payload)), records.value(int64_t(items[k].payload)));
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
