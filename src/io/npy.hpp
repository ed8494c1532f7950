// Arrays as numpy writes them (.npy): a text that tells type and sizes, then the elements.
#pragma once
#include <bit>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_order.hpp"
#include "memory/copy.hpp"
#include "spdistal/result.hpp"
#include "spdistal/scalar_type.hpp"
#include "tensor/values.hpp"

namespace spdistal {

struct NpyHeader {
  char kind = 'f';       // b bool, i integer, u without sign, f floating, c complex, S bytes, U characters
  size_t width = 8;      // bytes of an element
  bool swapped = false;  // of the other byte order
  std::vector<int64_t> shape;
  uint64_t bytes = 0;  // of the header: where the elements begin

  /// The type that holds all its values, if there is one.
  Result<ScalarType> type() const;
};

/// From the first bytes of a file, all of its header among them. Refuses what is none.
Result<NpyHeader> read_npy_header(std::string_view bytes);
/// How many bytes from the start a header can take at most, of those that are read.
constexpr uint64_t longest_npy_header = 4096;

/// The header of a vector, or with no size of a single element; as long for any number of elements.
std::string npy_header(std::string_view descr, std::optional<int64_t> size);
/// "<f8" of doubles.
std::string npy_descr(ScalarType type);

/// f(number of the element, its value) for all elements, which are of the header's type, as the machine has them.
template <class F>
void for_each_npy(const NpyHeader& header, std::span<const std::byte> elements, F&& f) {
  auto go = [&]<class T>(T) {
    for (size_t k = 0; k < elements.size() / sizeof(T); k++) {
      const T element = memory::load<T>(elements.data() + k * sizeof(T));
      f(k, header.swapped ? of_other_byte_order(element) : element);
    }
  };
  switch (header.kind) {
    case 'b': return go(uint8_t{});
    case 'f': return header.width == 4 ? go(float{}) : go(double{});
    case 'c': return header.width == 8 ? go(std::complex<float>{}) : go(std::complex<double>{});
    case 'u':
      return header.width == 1   ? go(uint8_t{})
             : header.width == 2 ? go(uint16_t{})
             : header.width == 4 ? go(uint32_t{})
                                 : go(uint64_t{});
    default:
      return header.width == 1   ? go(int8_t{})
             : header.width == 2 ? go(int16_t{})
             : header.width == 4 ? go(int32_t{})
                                 : go(int64_t{});
  }
}

}  // namespace spdistal
