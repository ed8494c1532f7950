// Matrices of the evaluation: every kind makes the rows of a part without the others.
#pragma once
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "files.hpp"
#include "generated.hpp"
#include "values.hpp"

namespace evaluation {

/// Rows of a matrix: the columns of each rise.
struct Rows {
  int64_t n = 0, m = 0;                  // rows and columns of the whole
  Block rows{0, 0}, operand_rows{0, 0};  // this part's, and of an operand that has a row for each column
  std::vector<int64_t> pos{0};
  std::vector<int32_t> crd;
  std::vector<double> values;

  int64_t count() const { return rows.size(); }
  int64_t nnz() const { return pos.back(); }
};

/// A square matrix at every scale: made here by `rows`, or by the library's generator of that text.
struct MatrixKind {
  const char* name;
  std::string (*generator)(double scale) = nullptr;
  int64_t (*size)(double scale) = nullptr;
  void (*rows)(int64_t n, Block mine, const TakeRow& take) = nullptr;
};

namespace detail {

inline int64_t million(double scale) { return int64_t(1e6 * scale); }
inline int bits_of(int64_t n) {
  int bits = 0;
  while ((int64_t(1) << bits) < n) bits++;
  return bits;
}

// Those whose edges are drawn in any order: by rows.
template <class Draw>
void gathered(Block mine, const TakeRow& take, Draw&& draw) {
  std::vector<std::vector<int32_t>> rows(size_t(mine.size()));
  draw([&](int64_t i, int64_t j) {
    if (mine.contains(i)) rows[size_t(i - mine.lo)].push_back(int32_t(j));
  });
  for (int64_t i = mine.lo; i < mine.hi; i++) take(i, rows[size_t(i - mine.lo)]);
}

inline void banded(int64_t n, Block mine, const TakeRow& take) {
  std::vector<int32_t> row;
  for (int64_t i = mine.lo; i < mine.hi; i++) {
    row.clear();
    for (int64_t j = std::max<int64_t>(0, i - 5); j <= std::min(n - 1, i + 5); j++) row.push_back(int32_t(j));
    take(i, row);
  }
}

inline void uniform(int64_t n, Block mine, const TakeRow& take) {
  std::vector<int32_t> row;
  for (int64_t i = mine.lo; i < mine.hi; i++) {
    row.clear();
    for (uint64_t k = 0; k < 10; k++) row.push_back(int32_t(chance(uint64_t(i) + 7, k) * double(n)));
    take(i, row);
  }
}

// A quadrant for every bit of an edge's coordinates.
inline void rmat(int64_t n, Block mine, const TakeRow& take) {
  gathered(mine, take, [&, bits = bits_of(n)](auto&& add) {
    for (uint64_t e = 0; e < uint64_t(n) * 16; e++) {
      uint64_t i = 0, j = 0;
      for (int bit = 0; bit < bits; bit++) {
        double c = chance(5, e * 64 + uint64_t(bit));
        i = i << 1 | uint64_t(c >= 0.76);
        j = j << 1 | uint64_t((c >= 0.57 && c < 0.76) || c >= 0.95);
      }
      add(int64_t(i), int64_t(j));
    }
  });
}

inline void mesh(int64_t n, Block mine, const TakeRow& take) {
  auto side = int64_t(std::sqrt(double(n)));
  std::vector<int32_t> row;
  for (int64_t i = mine.lo; i < mine.hi; i++) {
    row.assign(1, int32_t(i));
    if (i % side > 0) row.push_back(int32_t(i - 1));
    if (i % side + 1 < side) row.push_back(int32_t(i + 1));
    if (i >= side) row.push_back(int32_t(i - side));
    if (i + side < n) row.push_back(int32_t(i + side));
    take(i, row);
  }
}

// Pages of a crawl in the order of their addresses: those of a host lie together, copy links from one of the seven before
// them, and link to the first pages of their host and to pages that all link to. A fifth has no links.
class Web {
 public:
  Web(int64_t n, Block mine, const TakeRow& take) : n_(n), mine_(mine), take_(take) {
    int64_t first = 0;
    for (uint64_t host = 0; first < mine.hi; host++) {
      auto size = int64_t(std::min(20000.0, 20 / std::pow(1 - chance(21, host), 0.9)));
      Block pages{first, std::min(n, first + size)};
      if (pages.hi > mine.lo) make(pages);
      first = pages.hi;
    }
  }

 private:
  static constexpr int64_t back = 7, most = 10000;

  void make(Block host) {
    for (int64_t page = host.lo; page < std::min(host.hi, mine_.hi); page++) {
      std::vector<int32_t>& links = recent_[page % (back + 1)];
      links.clear();
      if (of(page, 0) >= 0.2) link(page, host, links);
      std::sort(links.begin(), links.end());
      links.erase(std::unique(links.begin(), links.end()), links.end());
      if (std::vector<int32_t> own = links; mine_.contains(page)) take_(page, own);
    }
  }
  void link(int64_t page, Block host, std::vector<int32_t>& links) const {
    double normal = std::sqrt(-2 * std::log(1 - of(page, 1))) * std::cos(2 * M_PI * of(page, 2));
    auto wanted = size_t(std::min(double(most), std::exp(2.2 + 1.35 * normal)));
    uint64_t number = 8;
    if (page > host.lo && of(page, 3) < 0.75) {
      int64_t other = page - 1 - int64_t(of(page, 4) * double(std::min(back, page - host.lo)));
      for (int32_t to : recent_[other % (back + 1)])
        if (of(page, number++) < 0.9) links.push_back(to);
    }
    while (links.size() < wanted) {
      bool near = of(page, number++) < 0.65;
      double u = of(page, number++);
      links.push_back(near ? int32_t(double(host.lo) + double(host.size()) * u * u * u)
                           : int32_t(scattered(zipf(u, n_), n_)));
    }
  }
  static double of(int64_t page, uint64_t number) { return chance(22, uint64_t(page) << 16 | number); }

  int64_t n_;
  Block mine_;
  const TakeRow& take_;
  std::vector<int32_t> recent_[back + 1];
};

inline std::string mycielskian(double scale) {
  return "mycielskian," + std::to_string(std::max(2L, std::lround(15 + std::log(scale) / std::log(3.0))));
}
inline std::string nlpkkt(double scale) {
  return "nlpkkt," + std::to_string(std::max(1L, std::lround(std::cbrt(5e5 * scale))));
}
inline std::string kmer(double scale) { return "kmer," + std::to_string(million(scale)); }
inline std::string twitter(double scale) { return "rmat," + std::to_string(bits_of(million(scale))) + ",35,permute"; }

inline int64_t square(double scale) {
  auto side = int64_t(std::sqrt(double(million(scale))));
  return side * side;
}
inline int64_t power_of_two(double scale) { return int64_t(1) << bits_of(million(scale)); }

}  // namespace detail

/// At scale 1, in stored elements: banded 11 million, uniform 10, rmat 16 (skewed, drawn), mesh 5, web 22, nlpkkt 27, kmer 2.2, twitter
/// 37 (drawn) of a million rows each, mycielskian 11 of 24,575.
inline const std::vector<MatrixKind>& matrix_kinds() {
  using namespace detail;
  static const std::vector<MatrixKind> list{
      {.name = "banded", .size = million, .rows = banded},
      {.name = "uniform", .size = million, .rows = uniform},
      {.name = "rmat", .size = power_of_two, .rows = rmat},
      {.name = "mesh", .size = square, .rows = mesh},
      {.name = "web", .size = million, .rows = [](int64_t n, Block mine, const TakeRow& take) { Web(n, mine, take); }},
      {.name = "mycielskian", .generator = mycielskian},
      {.name = "nlpkkt", .generator = nlpkkt},
      {.name = "kmer", .generator = kmer},
      {.name = "twitter", .generator = twitter}};
  return list;
}

/// Rows that a part of `parts` has, of one of these kinds or of a file. Columns are moved by `shift`, around the end.
inline Rows matrix(const std::string& name, double scale, int parts, int part, int shift = 0) {
  Rows out;
  auto sized = [&](int64_t n, int64_t m) {
    out.n = n, out.m = m;
    out.rows = block_of(n, parts, part), out.operand_rows = block_of(m, parts, part);
  };
  TakeRow take = [&](int64_t row, std::vector<int32_t>& crd) {
    for (int32_t& column : crd) column = int32_t((column + shift) % out.m);
    std::sort(crd.begin(), crd.end());
    crd.erase(std::unique(crd.begin(), crd.end()), crd.end());
    for (int32_t column : crd) {
      out.crd.push_back(column);
      out.values.push_back(0.5 + chance(uint64_t(row), uint64_t(column)));
    }
    out.pos.push_back(int64_t(out.crd.size()));
  };
  if (is_matrix_file(name)) {
    MatrixFile file = read_matrix(name);
    sized(file.rows, file.columns);
    detail::gathered(out.rows, take, [&](auto&& add) {
      for (auto [i, j] : file.at) add(i, j);
    });
    return out;
  }
  for (const MatrixKind& kind : matrix_kinds()) {
    if (name != kind.name) continue;
    int64_t n = kind.generator ? generated_size(kind.generator(scale)) : kind.size(scale);
    sized(n, n);
    if (kind.generator) generated_rows(kind.generator(scale), parts, part, take);
    else kind.rows(n, out.rows, take);
    return out;
  }
  throw std::invalid_argument("there is no matrix " + name);
}

}  // namespace evaluation
