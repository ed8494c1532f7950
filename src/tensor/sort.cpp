// Coordinates are packed into 64-bit keys, the outermost dimension on top. Where all dimensions together take more than
// 64 bits, several keys are sorted one after the other, the innermost first: the sort is stable.
#include "tensor/sort.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/threads.hpp"
#include "memory/copy.hpp"
#include "runtime/records/radix.hpp"
#include "runtime/transport/combine_values.hpp"

namespace spdistal {

using runtime::Keyed;

namespace {

// One dimension within a key.
struct KeyField {
  size_t dimension;
  int shift, bits;
  uint64_t mask() const { return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }
};
using Key = std::vector<KeyField>;

// The keys that the dimensions need, the innermost first.
std::vector<Key> keys_for(const std::vector<int64_t>& dims, std::span<const int> mode_order) {
  std::vector<Key> keys(1);
  int used = 0;
  for (size_t k = mode_order.size(); k-- > 0;) {
    size_t d = size_t(mode_order[k]);
    int bits = dims[d] > 1 ? std::bit_width(uint64_t(dims[d] - 1)) : 0;
    if (used + bits > 64) keys.emplace_back(), used = 0;
    keys.back().push_back({d, bits > 0 ? used : 0, bits});
    used += bits;
  }
  return keys;
}

void sort_by_key(Array<Keyed>& records, Array<Keyed>& spare) {
  runtime::radix_sort({records.data(), size_t(records.size())}, {spare.data(), size_t(spare.size())}, loop_threads());
}

// Fills the keys of entries order[0], order[1], … (or 0, 1, … without an order).
template <class Entry>
void fill_keys(const Coordinates& entries, const Key& key, Array<Keyed>& records, Entry&& entry) {
  std::vector<const int64_t*> columns;
  for (const KeyField& field : key) columns.push_back(entries.column(field.dimension).data());
  int64_t n = records.size();
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (n > 100000)
  for (int64_t i = 0; i < n; i++) {
    int64_t e = entry(i);
    uint64_t packed = 0;
    for (size_t f = 0; f < key.size(); f++)
      if (key[f].bits > 0) packed |= uint64_t(columns[f][e]) << key[f].shift;
    records[i].key = packed;
  }
}

bool in_order(const Array<Keyed>& records) {
  int64_t n = records.size();
  bool rises = true;
#pragma omp parallel for schedule(static) reduction(&& : rises) num_threads(loop_threads()) if (n > 100000)
  for (int64_t block = 0; block < (n + 4095) / 4096; block++) {
    if (!rises) continue;
    for (int64_t i = std::max<int64_t>(1, block * 4096), hi = std::min(n, (block + 1) * 4096); i < hi; i++)
      if (records[i - 1].key > records[i].key) rises = false;
  }
  return rises;
}

// Where the threads start so that no run of equal entries is cut: `same(i)` says whether entry i equals its forerunner.
template <class Same>
std::vector<int64_t> cuts_between_runs(int64_t n, int pieces, Same&& same) {
  std::vector<int64_t> cuts(size_t(pieces) + 1, n);
  cuts[0] = 0;
  for (int t = 1; t < pieces; t++) {
    int64_t at = std::max(cuts[size_t(t) - 1], n * t / pieces);
    while (at > 0 && at < n && same(at)) at++;
    cuts[size_t(t)] = at;
  }
  return cuts;
}

// Writes each run of equal entries as one: same(i) as above, value(i) its value, place(from, to) copies coordinates.
template <class T, class Same, class Value, class Place>
void merge_runs(int64_t n, Coordinates& out, runtime::ReduceOp op, Same&& same, Value&& value, Place&& place) {
  int pieces = n > 100000 ? loop_threads() : 1;
  std::vector<int64_t> cuts = cuts_between_runs(n, pieces, same), counts(size_t(pieces) + 1);
#pragma omp parallel for schedule(static, 1) num_threads(pieces)
  for (int t = 0; t < pieces; t++) {
    int64_t lo = cuts[size_t(t)], hi = cuts[size_t(t) + 1], runs = hi - lo;
    for (int64_t i = std::max<int64_t>(lo, 1); i < hi; i++) runs -= same(i);
    counts[size_t(t) + 1] = runs;
  }
  for (int t = 0; t < pieces; t++) counts[size_t(t) + 1] += counts[size_t(t)];
  out.resize(counts.back());
  T* values = out.values<T>().data();
  runtime::with_op(op, [&](auto how) {
#pragma omp parallel for schedule(static, 1) num_threads(pieces)
    for (int t = 0; t < pieces; t++) {
      int64_t to = counts[size_t(t)] - 1;
      for (int64_t i = cuts[size_t(t)]; i < cuts[size_t(t) + 1]; i++) {
        if (i > 0 && same(i)) {
          values[to] = runtime::combined<decltype(how)::value>(values[to], value(i));
          continue;
        }
        values[++to] = value(i);
        place(i, to);
      }
    }
  });
}

// All dimensions fit one key: values of up to 8 bytes travel with it, and coordinates are read back from the key.
Coordinates by_one_key(Coordinates entries, const Key& key) {
  int64_t n = entries.size();
  Array<Keyed> records(n);
  fill_keys(entries, key, records, [](int64_t i) { return i; });
  bool sorted = in_order(records);
  if (sorted) {
    int64_t duplicates = 0;
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (n > 100000) reduction(+ : duplicates)
    for (int64_t i = 1; i < n; i++) duplicates += records[i - 1].key == records[i].key;
    if (duplicates == 0) return entries;
  }
  Coordinates out(entries.dims(), entries.type());
  runtime::ReduceOp op = entries.merging();
  with_type(entries.type(), [&](auto zero) {
    using T = decltype(zero);
    constexpr bool travels = sizeof(T) <= sizeof(uint64_t);
    std::span<const T> values = entries.values<T>();
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (n > 100000)
    for (int64_t i = 0; i < n; i++) {
      if constexpr (travels) {
        records[i].payload = 0;
        memory::copy_bytes(&records[i].payload, &values[size_t(i)], sizeof(T));
      } else {
        records[i].payload = uint64_t(i);
      }
    }
    if constexpr (travels) entries = Coordinates(entries.dims(), entries.type());  // gives its memory back
    if (!sorted) {
      Array<Keyed> spare(n);
      sort_by_key(records, spare);
    }
    auto same = [&](int64_t i) { return records[i - 1].key == records[i].key; };
    auto value = [&](int64_t i) {
      T v;
      if constexpr (travels) memory::copy_bytes(static_cast<void*>(&v), &records[i].payload, sizeof(T));
      else v = values[size_t(records[i].payload)];
      return v;
    };
    std::vector<int64_t*> columns(key.size());
    out.resize(n);  // so that the columns stay where they are
    for (size_t f = 0; f < key.size(); f++) columns[f] = out.column(key[f].dimension).data();
    merge_runs<T>(n, out, op, same, value, [&](int64_t from, int64_t to) {
      for (size_t f = 0; f < key.size(); f++)
        columns[f][to] = int64_t((records[from].key >> key[f].shift) & key[f].mask());
    });
  });
  return out;
}

// Several keys: the order of entries is sorted by one after the other.
Coordinates by_several_keys(const Coordinates& entries, const std::vector<Key>& keys) {
  int64_t n = entries.size();
  Array<Keyed> records(n), spare(n);
  for (int64_t i = 0; i < n; i++) records[i].payload = uint64_t(i);
  for (const Key& key : keys) {
    fill_keys(entries, key, records, [&](int64_t i) { return int64_t(records[i].payload); });
    sort_by_key(records, spare);
  }
  Coordinates out(entries.dims(), entries.type());
  std::vector<const int64_t*> from_columns;
  std::vector<int64_t*> to_columns;
  out.resize(n);
  for (size_t d = 0; d < entries.order(); d++) {
    from_columns.push_back(entries.column(d).data());
    to_columns.push_back(out.column(d).data());
  }
  auto same = [&](int64_t i) {
    for (const int64_t* column : from_columns)
      if (column[records[i - 1].payload] != column[records[i].payload]) return false;
    return true;
  };
  with_type(entries.type(), [&](auto zero) {
    using T = decltype(zero);
    std::span<const T> values = entries.values<T>();
    merge_runs<T>(
        n, out, entries.merging(), same, [&](int64_t i) { return values[size_t(records[i].payload)]; },
        [&](int64_t from, int64_t to) {
          for (size_t d = 0; d < to_columns.size(); d++) to_columns[d][to] = from_columns[d][records[from].payload];
        });
  });
  return out;
}

}  // namespace

Coordinates sort_and_merge(Coordinates entries, std::span<const int> mode_order) {
  require(mode_order.size() == entries.order(), "the order of dimensions names each once");
  std::vector<Key> keys = keys_for(entries.dims(), mode_order);
  return keys.size() == 1 ? by_one_key(std::move(entries), keys[0]) : by_several_keys(entries, keys);
}

}  // namespace spdistal
