// What a tensor holds, as users see it: its arrays in place, and its elements one by one.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

namespace spdistal {

/// How the elements of a dense array follow each other: the last index fastest, as in C, or the first, as in Fortran.
enum class ArrayOrder : uint8_t { RowMajor, ColumnMajor };

/// An index array of a tensor, in place: elements of 4 or 8 bytes, or of one that says yes or no.
class IndexSpan {
 public:
  IndexSpan(const void* data, size_t size, size_t bytes) : data_(data), size_(size), bytes_(bytes) {}

  size_t size() const { return size_; }
  /// Of an element: 1, 4 or 8.
  size_t bytes() const { return bytes_; }
  const void* data() const { return data_; }
  int64_t operator[](size_t k) const {
    if (bytes_ == 1) return static_cast<const uint8_t*>(data_)[k];
    return bytes_ == 4 ? int64_t(static_cast<const int32_t*>(data_)[k]) : static_cast<const int64_t*>(data_)[k];
  }
  /// Throws UserError where elements are of another width.
  template <class I>
    requires(std::same_as<I, uint8_t> || std::same_as<I, int32_t> || std::same_as<I, int64_t>)
  std::span<const I> as()
  const {
    check_width(sizeof(I));
    return {static_cast<const I*>(data_), size_};
  }

 private:
  void check_width(size_t wanted) const;
  const void* data_;
  size_t size_, bytes_;
};

/// A stored element with coordinates of its own: `for (const auto& [at, value] : B.gather())`.
template <class T>
struct Element {
  std::vector<int64_t> at;
  T value;
};

/// A stored element on the way through a tensor; the coordinates stand until the next one.
template <class T>
struct ElementView {
  std::span<const int64_t> at;
  T value;
};

/// A place among the stored elements of this rank.
class ElementCursor {
 public:
  virtual ~ElementCursor() = default;
  /// Goes to the next element, at first to the first one. False: there is none.
  virtual bool next() = 0;
  std::span<const int64_t> at() const { return at_; }
  const void* value() const { return value_; }

 protected:
  std::span<const int64_t> at_;
  const void* value_ = nullptr;
};

/// The stored elements of a rank, found one after the other as a loop asks for them: `for (auto [at, value] : B.local())`. Good
/// while the tensor keeps its contents.
template <class T>
class LocalElements {
 public:
  class Iterator {
   public:
    using value_type = ElementView<T>;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit Iterator(std::shared_ptr<ElementCursor> cursor) : cursor_(std::move(cursor)), more_(cursor_->next()) {}
    ElementView<T> operator*() const { return {cursor_->at(), *static_cast<const T*>(cursor_->value())}; }
    Iterator& operator++() {
      more_ = cursor_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !more_; }

   private:
    std::shared_ptr<ElementCursor> cursor_;
    bool more_;
  };

  using Begin = std::shared_ptr<ElementCursor> (*)(const std::shared_ptr<const void>& tensor);
  LocalElements(std::shared_ptr<const void> tensor, Begin first) : tensor_(std::move(tensor)), begin_(first) {}

  Iterator begin() const { return Iterator(begin_(tensor_)); }
  std::default_sentinel_t end() const { return {}; }
  /// Goes over all of them.
  size_t size() const {
    size_t count = 0;
    for (Iterator at = begin(); at != end(); ++at) count++;
    return count;
  }

 private:
  std::shared_ptr<const void> tensor_;
  Begin begin_;
};

}  // namespace spdistal
