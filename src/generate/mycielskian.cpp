// Mycielski graphs, exactly: M2 is one edge; M(K+1) has the vertices v of M(K), a copy u of each, and an apex w; the
// edges of M(K), for each of them {v, v'} also {v, u'} and {u, v'}, and {u, w} for every u. Values 1.
#include "generate/kinds.hpp"

#include <cmath>

namespace spdistal {
namespace {

int64_t vertices(int64_t k) { return (int64_t(3) << (k - 2)) - 1; }

std::vector<int64_t> dims(const Arguments& a) { return {vertices(a.integer("k")), vertices(a.integer("k"))}; }

// 2 E(K) with E(2) = 1 and E(K+1) = 3 E(K) + n(K).
double entries(const Arguments& a) {
  double edges = 1;
  for (int64_t k = 2; k < a.integer("k"); k++) edges = 3 * edges + double(vertices(k));
  return 2 * edges;
}

// The neighbours of a vertex, in order, each moved by `shift`.
void neighbours(int64_t k, int64_t vertex, int64_t shift, std::vector<int64_t>& out) {
  if (k == 2) {
    out.push_back(1 - vertex + shift);
    return;
  }
  int64_t n = vertices(k - 1);
  if (vertex < n) {
    neighbours(k - 1, vertex, shift, out);
    neighbours(k - 1, vertex, shift + n, out);
  } else if (vertex < 2 * n) {
    neighbours(k - 1, vertex - n, shift, out);
    out.push_back(2 * n + shift);
  } else {
    for (int64_t u = n; u < 2 * n; u++) out.push_back(u + shift);
  }
}

void rows(const Arguments& a, Range rows, Coordinates& out) {
  std::vector<int64_t> row;
  for (int64_t i = rows.lo; i < rows.hi; i++) {
    row.clear();
    neighbours(a.integer("k"), i, 0, row);
    size_t at = size_t(extend(out, int64_t(row.size())));
    for (int64_t j : row) {
      out.column(0)[at] = i, out.column(1)[at] = j;
      out.values<double>()[at++] = 1;
    }
  }
}

}  // namespace

const GeneratorKind mycielskian{.name = "mycielskian",
                                .usage = "mycielskian,K",
                                .what = "the Mycielski graph of chromatic number K",
                                .parameters = {{.name = "k", .least = 2, .most = 40}},
                                .dims = dims,
                                .entries = entries,
                                .rows =
                                    [](const Arguments& a, Range all, Coordinates& out) {
                                      append_in_parallel(all, out,
                                                         [&](Range mine, Coordinates& made) { rows(a, mine, made); });
                                    },
                                .values = GeneratorKind::Values::Given};

}  // namespace spdistal
