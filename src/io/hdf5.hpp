// HDF5 as a container of arrays with names and of one text. The library reads and lays out files; bytes of new arrays are
// written beside it, by all ranks, where it says that they lie. So a library of one process does for all.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/blocks.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal {

/// A file that is read. Throws UserError where it is none, or does not have what is asked for.
class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path);

  const std::string& path() const { return path_; }
  /// A text that is an attribute of the file.
  std::string text(const std::string& name) const;

  /// Numbers in one dimension.
  class Array {
   public:
    int64_t size() const { return size_; }
    /// Real: the narrowest type that holds all the numbers of its type. Of whole numbers that may not fit none does.
    ScalarType type() const { return type_; }
    /// Elements as they are in memory, of that type; numbers above 2^63 - 1 are refused.
    void read(Range elements, std::byte* to) const;
    /// Whole numbers.
    void read(Range elements, std::span<int64_t> to) const;
    [[noreturn]] void fail(const std::string& what) const;

   private:
    friend class Hdf5File;
    Array(const Hdf5File& file, std::string name);

    const Hdf5File* file_;
    std::string name_;
    std::shared_ptr<const int64_t> handle_;
    int64_t size_ = 0;
    ScalarType type_{};
    bool without_sign_ = false;  // and of 64 bits
  };
  Array array(const std::string& name) const { return Array(*this, name); }

 private:
  std::string path_;
  std::shared_ptr<const int64_t> handle_;
};

/// An array of a new file: so many numbers of a real type, truth values a byte each.
struct NewHdf5Array {
  std::string name;
  ScalarType type;
  int64_t size;
};
/// Makes a file (one that is there is overwritten) with a text and room for arrays, and tells where each begins. Throws SystemError
/// where the disk does not take it.
std::vector<uint64_t> lay_out_hdf5(const std::string& path, const std::string& name, const std::string& text,
                                   std::span<const NewHdf5Array> arrays);

}  // namespace spdistal
