// A tensor, or a piece of one, as it lies in memory: the arrays of its levels and its values.
//
// A piece is a small tensor of the same format with global coordinates and local positions; its dense levels cover a
// range of coordinates each. What is stored where (`Pattern`) never changes once made and may be shared by several
// tensors; the values belong to one.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/blocks.hpp"
#include "level/arrays.hpp"
#include "spdistal/format.hpp"
#include "spdistal/result.hpp"
#include "spdistal/scalar_type.hpp"
#include "tensor/coordinates.hpp"

namespace spdistal {

/// Which coordinates are stored, and where: everything but the values.
class Pattern {
 public:
  Pattern(Format format, std::vector<int64_t> dims, std::vector<LevelArrays> levels);

  const Format& format() const { return format_; }
  size_t order() const { return dims_.size(); }
  const std::vector<int64_t>& dims() const { return dims_; }
  const std::vector<LevelArrays>& levels() const { return levels_; }
  const LevelArrays& level(size_t k) const { return levels_[k]; }
  /// Stored elements: the positions of the last level. Every position of a dense level counts.
  int64_t nnz() const { return levels_.empty() ? 1 : levels_.back().positions; }
  /// Different for every pattern made in this process.
  uint64_t version() const { return version_; }
  /// Bytes of all index arrays.
  size_t bytes() const;
  /// Of arrays of somebody who keeps them himself.
  bool is_lent() const;

 private:
  Format format_;
  std::vector<int64_t> dims_;
  std::vector<LevelArrays> levels_;
  uint64_t version_;
};
using PatternHandle = std::shared_ptr<const Pattern>;

class Storage {
 public:
  /// A pattern with values that all are zero.
  Storage(PatternHandle pattern, ScalarType type);
  /// A pattern with given values: at least nnz of them.
  Storage(PatternHandle pattern, ScalarType type, Buffer values);
  Storage(Storage&&) noexcept = default;
  Storage& operator=(Storage&&) noexcept = default;

  const Pattern& pattern() const { return *pattern_; }
  const PatternHandle& shared_pattern() const { return pattern_; }
  const Format& format() const { return pattern_->format(); }
  size_t order() const { return pattern_->order(); }
  const std::vector<int64_t>& dims() const { return pattern_->dims(); }
  ScalarType type() const { return type_; }
  int64_t nnz() const { return pattern_->nnz(); }

  std::byte* value_bytes() {
    values_->before.clear();
    values_->lent = false;
    return values_->buffer.data();
  }
  const std::byte* value_bytes() const { return std::as_const(values_->buffer).data(); }
  template <class T>
  std::span<T> values() {
    require(scalar_type_of<T>() == type_, "values are read with the type they have");
    return {reinterpret_cast<T*>(value_bytes()), size_t(nnz())};
  }
  template <class T>
  std::span<const T> values() const {
    require(scalar_type_of<T>() == type_, "values are read with the type they have");
    return {reinterpret_cast<const T*>(value_bytes()), size_t(nnz())};
  }

  /// Where the values lie: to tell storages apart, not to read what is there.
  const std::byte* value_address() const { return values_->buffer.address(); }
  /// Their copy on a device.
  memory::Mirror& value_mirror() const { return values_->buffer.mirror(); }
  /// Where the values are.
  memory::Place place() const { return values_->buffer.place(); }
  /// Are the values somebody else's, and thus only to be read?
  bool is_borrowed() const { return is_view_ || values_->buffer.is_borrowed(); }
  /// Keeps the values while somebody has it.
  std::shared_ptr<const void> owner() const { return values_->buffer.owner(); }
  /// Somebody looks at the values where they lie: they are found there until they change.
  void lend() const { values_->lent = true; }
  /// Sees to room for so many bytes from the first value on, and in front of it, for whoever keeps something there: the values may
  /// come to lie elsewhere, if they can.
  void make_room(size_t bytes, size_t front) const;
  bool can_move() const { return !values_->buffer.is_borrowed(); }
  /// All values are zero from now on, or this one.
  void zero();
  void fill(const Scalar& value);
  /// The values, taken away for good.
  Buffer take_values() && { return std::move(values_->buffer); }
  /// The same pattern and values, to be read only.
  Storage view() const;
  /// The same pattern (shared) with a copy of the values.
  Storage clone() const { return Storage(pattern_, type_, values_->buffer.clone()); }
  /// Bytes of values and index arrays.
  size_t bytes() const { return pattern_->bytes() + size_t(nnz()) * size_of(type_); }

 private:
  // Shared with views, wherever it comes to lie.
  struct Values {
    Buffer buffer;
    bool lent = false;
    std::vector<std::shared_ptr<const void>> before = {};  // where they were lent that lie elsewhere now
  };

  Storage(PatternHandle pattern, ScalarType type, std::shared_ptr<Values> values)
      : pattern_(std::move(pattern)), type_(type), values_(std::move(values)), is_view_(true) {}

  PatternHandle pattern_;
  ScalarType type_;
  std::shared_ptr<Values> values_;
  bool is_view_ = false;
};

/// Do two patterns of one format store the same coordinates at the same positions?
bool same_pattern(const Pattern& a, const Pattern& b);

/// What must hold of a pattern, level by level: the specification of storage, executable. Refuses with the level, the
/// place and what was found there.
Result<> verify(const Pattern& pattern);
Result<> verify(const Storage& storage);

/// All levels dense, over a range of each dimension. Throws UserError where that many elements of the type do not fit;
/// `what` completes "… takes 8.0 TiB".
PatternHandle dense_pattern(const Format& format, const std::vector<int64_t>& dims, const std::vector<Range>& ranges,
                            ScalarType type, std::string_view what);

/// Refuses what does not fit into the memory of the machine together: the dense levels of all pieces that a process makes
/// of a tensor, each over its ranges, beside `taken` bytes that are there. Throws UserError.
void check_memory(const Format& format, std::span<const std::vector<Range>> pieces, ScalarType type, size_t taken = 0);

}  // namespace spdistal
