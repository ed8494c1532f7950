// The generators: one descriptor each. A new one is its descriptor in a file here and its name in the list of
// generate.cpp.
#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/blocks.hpp"
#include "generate/arguments.hpp"
#include "tensor/coordinates.hpp"

namespace spdistal {

struct GeneratorKind {
  std::string_view name;
  std::string_view usage;  // "rmat,SCALE,EDGES_PER_VERTEX[,a,b,c][,permute]"
  std::string_view what;   // "an R-MAT graph"
  std::vector<Parameter> parameters;
  /// The sizes of the tensor; null for fills.
  std::vector<int64_t> (*dims)(const Arguments&) = nullptr;
  /// About how many entries there are in all: what memory they need is checked beforehand.
  double (*entries)(const Arguments&) = nullptr;
  /// Appends the entries with first coordinate in `rows`, as doubles. Duplicates are dropped afterwards where
  /// `duplicates` says that there can be some.
  void (*rows)(const Arguments&, Range rows, Coordinates& out) = nullptr;
  /// The value of a fill at the element of this number, counted row by row.
  double (*element)(const Arguments&, uint64_t number) = nullptr;

  enum class Duplicates : uint8_t { None, Dropped } duplicates = Duplicates::None;
  enum class Values : uint8_t {
    Given,
    Random
  } values = Values::Random;  // Random: made from coordinates, not by `rows`
};

extern const GeneratorKind banded, uniform, rmat, mycielskian, stencil7, stencil27, nlpkkt, kmer, powerlaw, ones, zeros,
    random_fill, index_fill;

/// Appends what f(range, entries) appends for the parts of [all.lo, all.hi), in order; the parts are made in parallel.
void append_in_parallel(Range all, Coordinates& out, const std::function<void(Range, Coordinates&)>& f);

/// Room for `count` more entries; returns the number of the first.
inline int64_t extend(Coordinates& out, int64_t count) {
  int64_t at = out.size();
  out.resize(at + count);
  return at;
}

}  // namespace spdistal
