// The descriptor of binsparse (version 0.1, https://graphblas.org/binsparse-specification): a text in JSON that says how arrays
// make a tensor. Levels, from the outermost in, are dense or sparse, of one dimension or of several at once; a sparse level whose
// first dimension is d has the arrays
//
//   pointers_to_d       where the coordinates below each position of the level above begin and end; not of the outermost
//   indices_d, …        coordinates, an array for each of its dimensions
//
// and behind the last level come the values. CSR and its like are names for some of these. Knows nothing of containers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/symmetry.hpp"
#include "spdistal/format.hpp"
#include "spdistal/result.hpp"

namespace spdistal {

struct BinsparseLevel {
  bool sparse = false;  // else dense
  size_t rank = 1;      // dimensions

  bool operator==(const BinsparseLevel&) const = default;
};

/// How the elements of an array are to be taken: "iso[complex[float32]]".
struct BinsparseType {
  std::string number;    // "float32": what is stored
  bool same = false;     // one element stands for all (iso)
  bool complex = false;  // two numbers make an element
  bool truth() const { return number == "bint8"; }
};

/// Which triangle is there, of a matrix with a symmetry.
enum class Triangle : uint8_t { Lower, Upper };

struct BinsparseDescriptor {
  std::vector<int64_t> dims;
  std::vector<BinsparseLevel> levels;
  std::vector<int> order;                                  // level dimension k stores dimension order[k]
  int64_t stored = 0;                                      // values
  std::vector<std::pair<std::string, std::string>> types;  // of arrays, by their names
  bool filled = false;                                     // an array fill_value tells what is elsewhere
  int64_t index_base = 0;
  Symmetry symmetry = Symmetry::General;
  Triangle triangle = Triangle::Lower;

  /// The refusal says what is wrong with the text.
  static Result<BinsparseDescriptor> parse(std::string_view text);
  std::string str() const;

  /// Refuses an array that the descriptor does not name, or with a type that is none.
  Result<BinsparseType> type_of(std::string_view array) const;
};

/// The same storage with levels that binsparse has: others become compressed ones, and so do lists of coordinates unless
/// they reach the last level.
Format binsparse_format(const Format& format);
/// The levels of such a format.
std::vector<BinsparseLevel> binsparse_levels(const Format& format);

}  // namespace spdistal
