// Tensors of order three of the evaluation, and what is in their entries.
#pragma once
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "files.hpp"
#include "values.hpp"

namespace evaluation {

/// The entries of a tensor of order three, in order.
struct Entries {
  int64_t dims[3];
  std::vector<int64_t> at[3];
  std::vector<double> values;
};

/// Five million places drawn at scale 1; what is drawn twice stands once.
struct TensorKind {
  const char* name;
  std::array<int64_t, 3> (*dims)(double scale);
  int64_t (*place)(double chance, int64_t dim);  // the coordinate that chance is
};

namespace detail {

inline int64_t even(double u, int64_t dim) { return int64_t(u * double(dim)); }
inline int64_t towards_0(double u, int64_t dim) { return int64_t(std::pow(u, 3) * double(dim)); }
inline int64_t scattered_zipf(double u, int64_t dim) { return scattered(zipf(u, dim), dim); }

inline std::array<int64_t, 3> fixed(double) { return {20000, 10000, 5000}; }
// As dense as the original.
inline std::array<int64_t, 3> nell(double scale) {
  double part = std::cbrt(5e6 * scale / 76879419);
  return {int64_t(12092 * part), int64_t(9184 * part), int64_t(28818 * part)};
}
// As many in a row as there are in the original, and all of its relations.
inline std::array<int64_t, 3> freebase(double scale) {
  auto things = int64_t(23344784 * (5e6 * scale / 99546551));
  return {things, things, 166};
}
// 0.137 % of all places.
inline std::array<int64_t, 3> patents(double scale) {
  auto words = int64_t(std::sqrt(5e6 * scale / 0.00137 / 46));
  return {46, words, words};
}

}  // namespace detail

inline const std::vector<TensorKind>& tensor_kinds() {
  using namespace detail;
  static const std::vector<TensorKind> list{{"uniform3", fixed, even},
                                            {"skewed3", fixed, towards_0},
                                            {"nell", nell, scattered_zipf},
                                            {"freebase", freebase, scattered_zipf},
                                            {"patents", patents, even}};
  return list;
}

inline bool is_tensor(const std::string& name) {
  for (const TensorKind& kind : tensor_kinds())
    if (name == kind.name) return true;
  return is_tensor_file(name);
}

/// The entries whose first coordinate a part has, of one of these kinds or of a file.
inline Entries tensor(const std::string& name, double scale, int parts, int part) {
  TensorFile drawn;
  if (is_tensor_file(name)) drawn = read_tensor(name);
  for (const TensorKind& kind : tensor_kinds()) {
    if (name != kind.name) continue;
    drawn.dims = kind.dims(scale);
    Block mine = block_of(drawn.dims[0], parts, part);
    for (uint64_t e = 0; e < uint64_t(5e6 * scale); e++) {
      std::array<int64_t, 3> at;
      for (uint64_t d = 0; d < 3; d++) at[d] = kind.place(chance(11 + d, e), drawn.dims[d]);
      if (mine.contains(at[0])) drawn.entries.push_back({at, 0});
    }
  }
  if (drawn.dims[0] == 0) throw std::invalid_argument("there is no tensor " + name);
  Block mine = block_of(drawn.dims[0], parts, part);
  std::sort(drawn.entries.begin(), drawn.entries.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  Entries out{{drawn.dims[0], drawn.dims[1], drawn.dims[2]}, {}, {}};
  const std::array<int64_t, 3>* last = nullptr;
  for (const TensorFile::Entry& entry : drawn.entries) {
    if (!mine.contains(entry.at[0])) continue;
    if (last && *last == entry.at) {
      if (is_tensor_file(name)) out.values.back() += entry.value;
      continue;
    }
    last = &entry.at;
    for (size_t d = 0; d < 3; d++) out.at[d].push_back(entry.at[d]);
    auto number = (uint64_t(entry.at[0]) * uint64_t(out.dims[1]) + uint64_t(entry.at[1])) * uint64_t(out.dims[2]) +
                  uint64_t(entry.at[2]);
    out.values.push_back(is_tensor_file(name) ? entry.value : 0.5 + chance(3, number));
  }
  return out;
}

}  // namespace evaluation
