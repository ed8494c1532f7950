// Writing values into bytes and reading them back: what small messages between ranks of one machine are made of.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/require.hpp"
#include "memory/copy.hpp"

namespace spdistal::runtime {

using Bytes = std::vector<std::byte>;

class Writer {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put_all(std::span<const T>(&value, 1)); }
  template <class T>
  void put_all(std::span<const T> values) {
    auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put_text(const std::string& text) {
    put(text.size());
    put_all(std::span<const char>(text));
  }
  /// Room for so many bytes more.
  void reserve(size_t more) {
    if (bytes_.capacity() < bytes_.size() + more) bytes_.reserve(std::max(bytes_.size() + more, 2 * bytes_.size()));
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// What each of them wrote, taken away.
inline std::vector<Bytes> messages_of(std::vector<Writer> writers) {
  std::vector<Bytes> out;
  for (Writer& writer : writers) out.push_back(writer.take());
  return out;
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }
  template <class T>
    requires std::is_trivially_copyable_v<T> T take() {
      T value;
      take_into(std::span<T>(&value, 1));
      return value;
    }
  template <class T>
  std::vector<T> take_all(size_t count) {
    std::vector<T> values(count);
    take_into(std::span<T>(values));
    return values;
  }
  std::string take_text() {
    std::string text(take<size_t>(), ' ');
    take_into(std::span<char>(text));
    return text;
  }

 private:
  template <class T>
  void take_into(std::span<T> values) {
    require(values.size_bytes() <= bytes_.size(), "a message holds all that is read from it");
    if (!values.empty()) memory::copy_bytes(values.data(), bytes_.data(), values.size_bytes());
    bytes_ = bytes_.subspan(values.size_bytes());
  }

  std::span<const std::byte> bytes_;
};

}  // namespace spdistal::runtime
