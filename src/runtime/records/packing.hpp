// The coordinates of records as numbers that compare as the coordinates do: each takes the bits that its range in these
// records needs, and as many as fit go into one word, the first the most significant.
#pragma once
#include <bit>

#include "runtime/records/records.hpp"

namespace spdistal::runtime {

class Packing {
 public:
  Packing(const Records& records, std::span<const int> modes) : words_(1) {
    std::vector<int64_t> least(modes.size(), INT64_MAX), greatest(modes.size(), INT64_MIN);
    for (int64_t k = 0; k < records.size(); k++)
      for (size_t mode = 0; mode < modes.size(); mode++) {
        int64_t x = records.at(k)[mode];
        if (x < least[mode]) least[mode] = x;
        if (x > greatest[mode]) greatest[mode] = x;
      }
    for (int mode : modes) {
      size_t m = size_t(mode);
      int bits = records.empty() ? 0 : std::bit_width(uint64_t(greatest[m]) - uint64_t(least[m]));
      if (words_.back().bits + bits > 64) words_.emplace_back();
      for (Column& column : words_.back().columns) column.shift += bits;
      words_.back().columns.push_back({m, uint64_t(least[m]), bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1});
      words_.back().bits += bits;
    }
  }

  size_t words() const { return words_.size(); }

  uint64_t word(size_t number, std::span<const int64_t> at) const {
    uint64_t out = 0;
    for (const Column& column : words_[number].columns)
      out |= (uint64_t(at[column.mode]) - column.least) << column.shift;
    return out;
  }
  /// The coordinates of a word, where all are in one.
  void unpack(uint64_t word, std::span<int64_t> at) const {
    for (const Column& column : words_[0].columns)
      at[column.mode] = int64_t(((word >> column.shift) & column.mask) + column.least);
  }

 private:
  struct Column {
    size_t mode;
    uint64_t least, mask;
    int shift = 0;
  };
  struct Word {
    std::vector<Column> columns;
    int bits = 0;
  };
  std::vector<Word> words_;
};

}  // namespace spdistal::runtime
