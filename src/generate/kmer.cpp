// Graphs like those of genome assembly: long paths, some branches, no order. A path over all vertices is broken here
// and there; the members of a random subset are joined in pairs, in several rounds, so that no degree exceeds 8; all
// vertices are renamed at random. Every row is found without looking at the others.
#include <algorithm>
#include <optional>

#include "generate/hash.hpp"
#include "generate/kinds.hpp"

namespace spdistal {
namespace {

constexpr double members = 0.177;    // the share of vertices that have branches
constexpr double branches = 0.0875;  // extra edges per vertex, beside those that make up for breaks
constexpr int pairings = 6;

class Kmer {
 public:
  Kmer(uint64_t n, double breaks, uint64_t seed)
      : n_(n),
        breaks_(breaks),
        seed_(seed),
        name_(n, seed * 16 + 1),
        member_(n, seed * 16 + 2),
        members_(uint64_t(members * double(n))) {
    kept_ = 2 * (branches + breaks) / members / pairings;
    for (int r = 0; r < pairings; r++)
      pairing_.emplace_back(std::max<uint64_t>(1, members_), seed * 16 + 3 + uint64_t(r));
  }

  void row(uint64_t named, std::vector<int64_t>& out) const {
    uint64_t v = name_.inverse(named);
    out.clear();
    if (v > 0 && !broken(v - 1)) out.push_back(int64_t(name_(v - 1)));
    if (v + 1 < n_ && !broken(v)) out.push_back(int64_t(name_(v + 1)));
    uint64_t m = member_.inverse(v);
    for (int r = 0; m < members_ && r < pairings; r++) {
      uint64_t place = pairing_[size_t(r)].inverse(m), other = place ^ 1;
      bool joined = unit(hash_of(seeded(seed_ + 1, (place >> 1) * 8 + uint64_t(r)))) < kept_;
      if (joined && other < members_) out.push_back(int64_t(name_(member_(pairing_[size_t(r)](other)))));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }

 private:
  // The path breaks between v and v + 1.
  bool broken(uint64_t v) const { return unit(hash_of(seeded(seed_ + 2, v))) < breaks_; }

  uint64_t n_;
  double breaks_, kept_;
  uint64_t seed_;
  Permutation name_, member_;
  uint64_t members_;
  std::vector<Permutation> pairing_;
};

void rows(const Arguments& a, Range rows, Coordinates& out) {
  Kmer graph(uint64_t(a.integer("n")), a.real("breaks"), a.seed());
  std::vector<int64_t> row;
  for (int64_t i = rows.lo; i < rows.hi; i++) {
    graph.row(uint64_t(i), row);
    size_t at = size_t(extend(out, int64_t(row.size())));
    for (int64_t j : row) {
      out.column(0)[at] = i, out.column(1)[at] = j;
      out.values<double>()[at++] = 1;
    }
  }
}

}  // namespace

const GeneratorKind kmer{
    .name = "kmer",
    .usage = "kmer,N[,BREAKS]",
    .what = "a graph of N vertices like those of genome assembly: degree about 2, at most 8",
    .parameters = {{.name = "n", .most = 1e15},
                   {.name = "breaks", .kind = Parameter::Kind::Real, .most = 0.4, .otherwise = 0.005}},
    .dims =
        [](const Arguments& a) {
          return std::vector<int64_t>{a.integer("n"), a.integer("n")};
        },
    .entries = [](const Arguments& a) { return 2.2 * a.real("n"); },
    .rows =
        [](const Arguments& a, Range all, Coordinates& out) {
          append_in_parallel(all, out, [&](Range mine, Coordinates& made) { rows(a, mine, made); });
        },
    .values = GeneratorKind::Values::Given};

}  // namespace spdistal
