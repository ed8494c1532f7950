// Instances: the elements of one piece of a region in memory of this rank. A handle: copies share memory. A view is an
// instance that shares the memory and layout of another and of which only some elements are meant.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/require.hpp"
#include "memory/buffer.hpp"
#include "runtime/region/layout.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal::runtime {

/// The memory that so many elements take; more than can be addressed is more than there is.
inline size_t bytes_for(int64_t elements, ScalarType type) {
  size_t bytes;
  if (__builtin_mul_overflow(size_t(elements), size_of(type), &bytes) || bytes > size_t(PTRDIFF_MAX))
    throw memory::OutOfMemory(SIZE_MAX, memory::host, memory::Purpose::current());
  return bytes;
}

class Instance {
 public:
  Instance(ScalarType type, std::shared_ptr<const Layout> layout)
      : Instance(type, layout, std::make_shared<Buffer>(Buffer::zeroed(bytes_for(layout->extent(), type)))) {}
  Instance(ScalarType type, std::shared_ptr<const Layout> layout, std::shared_ptr<Buffer> buffer)
      : type_(type), layout_(std::move(layout)), buffer_(std::move(buffer)) {
    require(buffer_->size() >= bytes_for(layout_->extent(), type_), "an instance fits its memory");
  }
  /// Memory of the host that has copies on devices.
  Instance(ScalarType type, std::shared_ptr<const Layout> layout, std::shared_ptr<Buffer> buffer,
           memory::Mirror* mirror)
      : Instance(type, std::move(layout), std::move(buffer)) {
    mirror_ = mirror;
  }
  Instance(ScalarType type, Layout layout) : Instance(type, std::make_shared<const Layout>(std::move(layout))) {}

  ScalarType type() const { return type_; }
  const Layout& layout() const { return *layout_; }
  const std::shared_ptr<const Layout>& shared_layout() const { return layout_; }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
  std::byte* data() const { return buffer_->data(); }
  /// The memory as it is to be read, or changed, on the host: up to date there, whatever devices have.
  const std::byte* to_read() const {
    if (mirror_) mirror_->look();
    return data();
  }
  std::byte* to_change() const {
    if (mirror_) mirror_->change();
    return data();
  }
  /// Of memory that has copies on devices; else null. It lives as long as whose memory it is.
  memory::Mirror* mirror() const { return mirror_; }

  /// The memory as values, in the order of the layout.
  template <class T>
  std::span<T> values() const {
    require(scalar_type_of<T>() == type_, "an instance is read as the type it has");
    return {reinterpret_cast<T*>(buffer_->data()), size_t(layout_->extent())};
  }
  template <class T>
  T& at(std::span<const int64_t> point) const {
    return values<T>()[size_t(layout_->offset_of(point))];
  }
  template <class T>
  T& at(int64_t x) const {
    return at<T>(std::span<const int64_t>(&x, 1));
  }
  bool shares_memory_with(const Instance& other) const { return buffer_ == other.buffer_; }

 private:
  ScalarType type_;
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<Buffer> buffer_;
  memory::Mirror* mirror_ = nullptr;
};

/// The instances of consecutive colours, those of this rank.
class Instances {
 public:
  explicit Instances(Range colours = {}) : colours_(colours) {}
  void add(Instance instance) { all_.push_back(std::move(instance)); }

  Range colours() const { return colours_; }
  const Instance& operator[](int64_t colour) const {
    require(colours_.contains(colour) && colour - colours_.lo < int64_t(all_.size()),
            "the instance asked for is on this rank");
    return all_[size_t(colour - colours_.lo)];
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  Range colours_;
  std::vector<Instance> all_;
};

}  // namespace spdistal::runtime
