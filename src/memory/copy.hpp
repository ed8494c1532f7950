// Moving and clearing the bytes of tensors in memory that the host sees. The only place that names memcpy and its kin,
// with `runtime/device`: data on devices is moved by them.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace spdistal::memory {

/// Copies between places that do not overlap. Of no bytes the places may be null.
inline void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}
/// Likewise; the places may overlap.
inline void move_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}
inline bool same_bytes(const void* a, const void* b, size_t bytes) {
  return bytes == 0 || std::memcmp(a, b, bytes) == 0;
}

/// The same as copy_bytes; many bytes on all threads.
void copy_large(void* to, const void* from, size_t bytes);
/// Of many bytes: on all threads.
void fill_bytes(void* to, std::byte value, size_t bytes);
/// Element after element the same bytes, until all of `bytes` are filled.
void repeat_bytes(void* to, std::span<const std::byte> element, size_t bytes);
/// Bytes that are zero are the value 0, of every type.
inline void zero_bytes(void* to, size_t bytes) { fill_bytes(to, std::byte(0), bytes); }

/// Copies a part of something of `whole` bytes. What is larger than the caches goes past them, which saves reading the
/// lines to be written.
void copy_part(void* to, const void* from, size_t bytes, size_t whole, size_t caches);

/// A value that lies somewhere among bytes.
template <class T>
T load(const void* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T out;
  std::memcpy(static_cast<void*>(&out), from, sizeof(T));
  return out;
}
template <class T>
void store(void* to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace spdistal::memory
