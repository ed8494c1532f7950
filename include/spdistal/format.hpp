// How a tensor is stored: a level format for each dimension, the order in which dimensions are stored, and, optionally,
// where the parts live.
#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spdistal/distribution.hpp"
#include "spdistal/levels.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal {

/// The storage of one dimension: one of the level formats of the registry.
class LevelFormat : public LevelVariant {
 public:
  using LevelVariant::LevelVariant;

  std::string_view name() const;
  char letter() const;
  const LevelProperties& properties() const;
  /// The arrays that it is stored in, in the order in which they are carried along.
  std::span<const LevelArray> arrays() const;
};

class Format {
 public:
  /// No levels: a scalar.
  Format() = default;
  /// Levels from the outermost in; `order[k]` is the dimension that level k stores (by default k itself).
  Format(std::initializer_list<LevelFormat> levels) : Format(std::vector<LevelFormat>(levels)) {}
  explicit Format(std::vector<LevelFormat> levels);
  Format(std::vector<LevelFormat> levels, std::vector<int> order);
  Format(std::vector<LevelFormat> levels, Distribution distribution);
  Format(std::vector<LevelFormat> levels, std::vector<int> order, Distribution distribution);
  /// The same storage, living elsewhere. A template, so that a list of levels is never taken for a format.
  template <std::same_as<Format> F>
  Format(const F& storage, Distribution distribution)
      : Format(storage.levels(), storage.mode_order(), std::move(distribution)) {
    blocks_ = storage.blocks();
    fill_ = storage.fill();
  }

  /// Reads "ds", "ds:1,0", "dsdd/4x4" or "ds=inf". Throws UserError with the offending part underlined.
  static Format parse(std::string_view text);

  size_t order() const { return levels_.size(); }
  const std::vector<LevelFormat>& levels() const { return levels_; }
  const std::vector<int>& mode_order() const { return mode_order_; }
  /// The level that stores a dimension: the inverse of mode_order.
  size_t level_of(size_t dimension) const;
  /// The same for blocks of an ordinary tensor of half the order: dimension d of that one is stored as two, that of its
  /// blocks (d) and that inside of them (order / 2 + d), of sizes[d]. Data of the ordinary tensor is cut into blocks as it
  /// comes in, and put together again where it goes out.
  Format blocked(std::vector<int64_t> sizes) const;
  /// The sizes of blocks; none: the tensor is not one of blocks.
  const std::vector<int64_t>& blocks() const { return blocks_; }
  /// The same, with elements that are not stored counting as a value other than 0: inf for shortest paths. Of whole numbers,
  /// inf stands for the largest, -inf for the least.
  Format filled(Scalar value) const;
  /// What elements that are not stored count as; none: 0.
  const std::optional<Scalar>& fill() const { return fill_; }
  const std::optional<Distribution>& distribution() const { return distribution_; }
  /// All levels dense.
  bool is_dense() const;
  /// "ds:1,0", "dsdd/4x4" or "ds=inf"; the order is left out where it is 0, 1, 2, …
  std::string str() const;
  bool operator==(const Format&) const = default;

 private:
  void check() const;

  std::vector<LevelFormat> levels_;
  std::vector<int> mode_order_;
  std::vector<int64_t> blocks_;
  std::optional<Scalar> fill_;
  std::optional<Distribution> distribution_;
};

inline const Format CSR{std::vector<LevelFormat>{Dense, Compressed}};
inline const Format CSC{std::vector<LevelFormat>{Dense, Compressed}, std::vector<int>{1, 0}};
/// Coordinate lists of any order: each stored element with all its coordinates.
Format COO(size_t order);
/// A matrix of dense blocks, of which those that occur are stored: A(io,jo,ii,ji).
Format BCSR(int64_t rows, int64_t columns);
/// Compressed sparse fibres: every level compressed.
Format CSF(size_t order);

}  // namespace spdistal
