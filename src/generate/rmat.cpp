// R-MAT graphs (Chakrabarti, Zhan and Faloutsos, 2004): each edge falls into one of the four quarters of the matrix
// with probabilities a, b, c and the rest, and so on within it. Edges drawn twice stand once.
#include <cmath>

#include "generate/hash.hpp"
#include "generate/kinds.hpp"

namespace spdistal {
namespace {

constexpr uint64_t edge_stream = uint64_t(1) << 52;
constexpr int levels_per_hash = 4;  // 16 bits decide a level

std::vector<int64_t> dims(const Arguments& a) {
  int64_t n = int64_t(1) << a.integer("scale");
  return {n, n};
}

double edges(const Arguments& a) { return std::ldexp(a.real("edges"), int(a.integer("scale"))); }

void rows(const Arguments& a, Range rows, Coordinates& out) {
  int scale = int(a.integer("scale"));
  uint64_t n = uint64_t(1) << scale, total = uint64_t(a.integer("edges")) * n;
  // As bounds of 16-bit numbers: below the first a, then b, then c.
  const uint64_t first = uint64_t(a.real("a") * 65536), second = uint64_t((a.real("a") + a.real("b")) * 65536),
                 third = uint64_t((a.real("a") + a.real("b") + a.real("c")) * 65536);
  const bool permute = a.flag("permute");
  const uint64_t seed = a.seed(), lo = uint64_t(rows.lo), hi = uint64_t(rows.hi);
  const Permutation relabel(n, seed);
  const uint64_t stride = scale <= 8 * levels_per_hash ? 8 : 16;  // hashes set aside for an edge
  append_in_parallel({0, int64_t(total)}, out, [&](Range mine, Coordinates& made) {
    made.reserve(int64_t(double(mine.size()) * double(rows.size()) / double(n)));
    for (uint64_t e = uint64_t(mine.lo); e < uint64_t(mine.hi); e++) {
      uint64_t row = 0, column = 0;
      bool outside = false;
      for (int level = 0; level < scale && !outside;) {
        uint64_t hash = hash_of(seeded(seed, e * stride + uint64_t(level / levels_per_hash) + edge_stream));
        for (int k = 0; k < levels_per_hash && level < scale; k++, level++, hash >>= 16) {
          uint64_t x = hash & 0xffff;
          row = row * 2 + (x >= second);
          column = column * 2 + ((x >= first && x < second) || x >= third);
        }
        // The rows that can still come of it: an edge of another part is dropped early.
        int left = scale - level;
        outside = !permute && ((row << left) >= hi || ((row + 1) << left) <= lo);
      }
      if (outside) continue;
      if (permute) row = relabel(row), column = relabel(column);
      if (row < lo || row >= hi) continue;
      size_t at = size_t(extend(made, 1));
      made.column(0)[at] = int64_t(row), made.column(1)[at] = int64_t(column);
      made.values<double>()[at] = 0;  // made from the coordinates later
    }
  });
}

}  // namespace

const GeneratorKind rmat{.name = "rmat",
                         .usage = "rmat,SCALE,EDGES[,a,b,c][,permute]",
                         .what = "an R-MAT graph of 2^SCALE vertices with EDGES edges drawn per vertex",
                         .parameters = {{.name = "scale", .most = 40},
                                        {.name = "edges", .most = 1 << 20},
                                        {.name = "a", .kind = Parameter::Kind::Real, .most = 1, .otherwise = 0.57},
                                        {.name = "b", .kind = Parameter::Kind::Real, .most = 1, .otherwise = 0.19},
                                        {.name = "c", .kind = Parameter::Kind::Real, .most = 1, .otherwise = 0.19},
                                        {.name = "permute", .kind = Parameter::Kind::Flag, .otherwise = 0}},
                         .dims = dims,
                         .entries = edges,
                         .rows = rows,
                         .duplicates = GeneratorKind::Duplicates::Dropped};

}  // namespace spdistal
