// Random rows on every rank, in arrays of several types, make the matrix that their entries are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "api/session.hpp"
#include "base/blocks.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

using Entries = std::map<std::vector<int64_t>, double>;

struct Part {
  int64_t first = 0;
  std::vector<int64_t> pos{0}, crd;
  std::vector<double> values;
};

int64_t pick(std::mt19937_64& random, int64_t lo, int64_t hi) {
  return std::uniform_int_distribution<int64_t>(lo, hi)(random);
}

std::vector<Format> formats() {
  DistVar x, y, f;
  Machine M{Grid(Param())}, five{Grid(5)};
  return {CSR,
          CSC,
          Format({Compressed, Compressed}),
          COO(2),
          Format({Dense, Dense}),
          Format({Dense, Compressed}, Distribution({x, y}, five, {x})),
          Format({Dense, Compressed}, Distribution({x, y}, M, {y})),
          Format({Compressed, Compressed}, Distribution({x, y}, five, {x})),
          Format({Dense, Compressed}, Distribution({x, y}, fuse({x, y}, f), M, {~f})),
          Format({Dense, Compressed}, Distribution({x, y}, fuse({x, y}, f), five, {~f})),
          Format({CompressedNonUnique, Singleton}, Distribution({x, y}, fuse({x, y}, f), five, {~f}))};
}

enum class Kind { Blocks, Apart, Overlapping };

// The rows of every rank, the same on all; those of one rank have their columns in order, or in any, some of them twice.
std::vector<Part> random_rows(std::mt19937_64& random, int64_t ranks, int64_t rows, int64_t columns, Kind kind) {
  std::vector<Part> out;
  int64_t next = 0;
  bool ordered = pick(random, 0, 3) > 0;
  for (int64_t r = 0; r < ranks; r++) {
    Part& part = out.emplace_back();
    Range mine = block(rows, ranks, r);
    if (kind == Kind::Apart) mine = {next, pick(random, next, rows)};
    if (kind == Kind::Overlapping) mine.lo = pick(random, 0, rows), mine.hi = pick(random, mine.lo, rows);
    next = mine.hi;
    part.first = mine.lo;
    for (int64_t i = mine.lo; i < mine.hi; i++) {
      std::vector<int64_t> row;
      for (int64_t n = columns == 0 ? 0 : pick(random, 0, 5); n > 0; n--) row.push_back(pick(random, 0, columns - 1));
      if (ordered) {
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
      }
      part.crd.insert(part.crd.end(), row.begin(), row.end());
      part.pos.push_back(int64_t(part.crd.size()));
    }
    for (size_t k = 0; k < part.crd.size(); k++) part.values.push_back(double(pick(random, 1, 100)));
  }
  if (kind != Kind::Overlapping && pick(random, 0, 1)) std::shuffle(out.begin(), out.end(), random);
  return out;
}

Entries entries_of(const std::vector<Part>& parts) {
  Entries out;
  for (const Part& part : parts)
    for (size_t r = 0; r + 1 < part.pos.size(); r++)
      for (int64_t p = part.pos[r]; p < part.pos[r + 1]; p++)
        out[{part.first + int64_t(r), part.crd[size_t(p)]}] += part.values[size_t(p)];
  return out;
}

Entries entries_of(const Tensor<double>& tensor, double fill = 0) {
  Entries out;
  for (const auto& [at, value] : tensor.gather())
    if (value != fill) { EXPECT_TRUE(out.emplace(at, value).second); }
  return out;
}

// All elements, each as the array and as `at` tell it.
void expect_elements(const Tensor<double>& tensor, const Entries& entries, double fill) {
  const int64_t rows = tensor.dims()[0], columns = tensor.dims()[1];
  std::vector<double> all(size_t(rows * columns), -1);
  tensor.to_dense(all);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      auto found = entries.find({i, j});
      double wanted = found == entries.end() ? fill : found->second;
      EXPECT_EQ(all[size_t(i * columns + j)], wanted) << i << ", " << j;
      if ((i + j) % 5 == 0) { EXPECT_EQ(tensor.at({i, j}), wanted) << i << ", " << j; }
    }
}

template <class P, class I>
void expect_rows(const std::vector<Part>& parts, int64_t rows, int64_t columns, const Format& format, double fill) {
  auto& transport = Session::instance().transport();
  const Part& mine = parts[size_t(transport.rank())];
  std::vector<P> pos(mine.pos.begin(), mine.pos.end());
  std::vector<I> crd(mine.crd.begin(), mine.crd.end());
  std::span<const double> values(mine.values);
  auto local =
      Tensor<double>::from_csr_local({rows, columns}, mine.first, std::span(pos), std::span(crd), values, format);
  EXPECT_EQ(entries_of(local, fill), entries_of(parts));
  expect_elements(local, entries_of(parts), fill);

  Part all = parts[0];
  all.pos.insert(all.pos.begin(), size_t(all.first), 0);
  all.pos.resize(size_t(rows) + 1, int64_t(all.crd.size()));
  pos.assign(all.pos.begin(), all.pos.end());
  crd.assign(all.crd.begin(), all.crd.end());
  EXPECT_EQ(entries_of(Tensor<double>::from_csr({rows, columns}, pos, crd, all.values, format), fill),
            entries_of(std::vector{parts[0]}));
  // It is like any other matrix.
  Tensor<double> a({rows}, {Dense}), one({columns}, {Dense});
  one.fill(1.0);
  IndexVar i, j;
  Entries wanted;
  if (fill == 0) {
    a(i) = local(i, j) * one(j);
    for (const auto& [at, value] : entries_of(parts)) wanted[{at[0]}] += value;
  } else {
    a(i) = min(j, local(i, j) + one(j));
    for (const auto& [at, value] : entries_of(parts)) {
      double& least = wanted.emplace(std::vector{at[0]}, fill).first->second;
      least = std::min(least, value + 1);
    }
  }
  EXPECT_EQ(entries_of(a, fill), wanted);
}

TEST(Rows, OfAnyKindMakeTheMatrixThatTheirEntriesAre) {
  for (uint64_t seed = 0; seed < 90; seed++) {
    std::mt19937_64 random(seed);
    int64_t rows = pick(random, 0, 12), columns = pick(random, 0, 9);
    Kind kind{int(pick(random, 0, 2))};
    std::vector<Part> parts = random_rows(random, Session::instance().transport().size(), rows, columns, kind);
    const double fill = pick(random, 0, 2) > 0 ? 0 : std::numeric_limits<double>::infinity();
    const Format plain = formats()[size_t(pick(random, 0, int64_t(formats().size()) - 1))];
    const Format format = fill == 0 ? plain : plain.filled(fill);
    SCOPED_TRACE(format.str() + ", seed " + std::to_string(seed));
    switch (pick(random, 0, 3)) {
      case 0: expect_rows<int32_t, int32_t>(parts, rows, columns, format, fill); break;
      case 1: expect_rows<int64_t, int64_t>(parts, rows, columns, format, fill); break;
      case 2: expect_rows<int64_t, int32_t>(parts, rows, columns, format, fill); break;
      default: expect_rows<uint16_t, uint8_t>(parts, rows, columns, format, fill);
    }
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace spdistal
