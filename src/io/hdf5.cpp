#include "io/hdf5.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <mutex>

#include "base/require.hpp"
#include "io/source.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

// The library is used by one thread at a time, and what it finds wrong is said by us.
class Quiet {
 public:
  Quiet() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex one;
    return one;
  }
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// Something of the library's that is closed again.
using Hdf5Handle = std::shared_ptr<const int64_t>;
Hdf5Handle keep(hid_t id, herr_t (*close)(hid_t)) {
  static_assert(sizeof(hid_t) == sizeof(int64_t));
  if (id < 0) return nullptr;
  return Hdf5Handle(new int64_t(id), [close](const int64_t* held) {
    Quiet quiet;
    close(*held);
    delete held;
  });
}

hid_t memory_type(ScalarType type) {
  switch (type) {
    case ScalarType::Bool: return H5T_NATIVE_UINT8;
    case ScalarType::Int32: return H5T_NATIVE_INT32;
    case ScalarType::Int64: return H5T_NATIVE_INT64;
    case ScalarType::Float32: return H5T_NATIVE_FLOAT;
    case ScalarType::Float64: return H5T_NATIVE_DOUBLE;
    default: break;
  }
  require(false, "arrays of HDF5 hold real numbers");
  return 0;
}

// How many bytes a byte of a file can stand for, of arrays that are compressed.
constexpr uint64_t most_inflated = 4096, free_bytes = 1 << 20;

}  // namespace

Hdf5File::Hdf5File(const std::string& path) : path_(path) {
  map_file(path);  // one that cannot be opened is refused as others are
  Quiet quiet;
  handle_ = keep(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!handle_) throw UserError(fmt::format("{}: no sound HDF5 file", path));
}

std::string Hdf5File::text(const std::string& name) const {
  Quiet quiet;
  auto fail = [&](std::string_view what) {
    throw UserError(fmt::format("{}: no binsparse file: {}", path_, what),
                    fmt::format("an attribute '{}' of such a file tells what its arrays hold", name));
  };
  Hdf5Handle attribute = keep(H5Aopen(*handle_, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute) fail(fmt::format("it has no attribute '{}'", name));
  Hdf5Handle type = keep(H5Aget_type(*attribute), H5Tclose), space = keep(H5Aget_space(*attribute), H5Sclose);
  bool one = type && space && H5Tget_class(*type) == H5T_STRING && H5Sget_simple_extent_npoints(*space) == 1;
  if (!one) fail(fmt::format("its attribute '{}' is no text", name));
  std::string out;
  bool sound = true;
  if (H5Tis_variable_str(*type) > 0) {
    Hdf5Handle memory = keep(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(*memory, H5T_VARIABLE);
    H5Tset_cset(*memory, H5Tget_cset(*type));
    char* text = nullptr;
    sound = H5Aread(*attribute, *memory, &text) >= 0 && text;
    if (text) out = text, H5free_memory(text);
  } else {
    size_t bytes = H5Tget_size(*type);
    sound = bytes <= free_bytes;
    if (sound) out.resize(bytes), sound = H5Aread(*attribute, *type, out.data()) >= 0;
    out.resize(std::min(out.size(), out.find('\0')));
  }
  if (!sound) fail(fmt::format("its attribute '{}' cannot be read", name));
  return out;
}

Hdf5File::Array::Array(const Hdf5File& file, std::string name) : file_(&file), name_(std::move(name)) {
  Quiet quiet;
  handle_ = keep(H5Dopen2(*file.handle_, name_.c_str(), H5P_DEFAULT), H5Dclose);
  if (!handle_) fail("it has no array of this name");
  Hdf5Handle space = keep(H5Dget_space(*handle_), H5Sclose), type = keep(H5Dget_type(*handle_), H5Tclose);
  if (!space || !type) fail("it cannot be read");
  int dimensions = H5Sget_simple_extent_ndims(*space);
  if (dimensions != 1 && dimensions != 0) fail(fmt::format("it has {} dimensions, not one", dimensions));
  size_ = int64_t(H5Sget_simple_extent_npoints(*space));
  size_t bytes = H5Tget_size(*type);
  H5T_class_t kind = H5Tget_class(*type);
  bool unsigned_number = kind == H5T_INTEGER && H5Tget_sign(*type) == H5T_SGN_NONE;
  if (kind == H5T_INTEGER && bytes <= 8) {
    type_ = bytes < 4 || (bytes == 4 && !unsigned_number) ? ScalarType::Int32 : ScalarType::Int64;
    without_sign_ = bytes == 8 && unsigned_number;
  } else if (kind == H5T_FLOAT && bytes <= 8) {
    type_ = bytes <= 4 ? ScalarType::Float32 : ScalarType::Float64;
  } else {
    fail("its elements are no numbers of at most 8 bytes");
  }
  uint64_t there = H5Dget_storage_size(*handle_), all = 0;
  if (size_ < 0 || __builtin_mul_overflow(uint64_t(size_), uint64_t(bytes), &all) ||
      (all > free_bytes && all / most_inflated > there))
    fail(fmt::format("the file has {} bytes for {} elements", there, size_));
}

void Hdf5File::Array::read(Range elements, std::byte* to) const {
  if (elements.size() == 0) return;
  Quiet quiet;
  require(elements.lo >= 0 && elements.hi <= size_, "elements that are read are there");
  hsize_t start = hsize_t(elements.lo), count = hsize_t(elements.size());
  Hdf5Handle from = keep(H5Dget_space(*handle_), H5Sclose), into = keep(H5Screate_simple(1, &count, nullptr), H5Sclose);
  bool sound = from && into;
  if (sound && H5Sget_simple_extent_ndims(*from) == 1)
    sound = H5Sselect_hyperslab(*from, H5S_SELECT_SET, &start, nullptr, &count, nullptr) >= 0;
  // Numbers without a sign are looked at here: the library would make them the largest that there is.
  hid_t type = without_sign_ ? H5T_NATIVE_UINT64 : memory_type(type_);
  if (!sound || H5Dread(*handle_, type, *into, *from, H5P_DEFAULT, to) < 0) fail("it cannot be read");
  if (without_sign_)
    for (int64_t number : std::span(reinterpret_cast<const int64_t*>(to), size_t(count)))
      if (number < 0) fail("one of its numbers is larger than 2^63 - 1");
}

void Hdf5File::Array::read(Range elements, std::span<int64_t> to) const {
  if (!is_integral(type_)) fail("its elements are no whole numbers");
  if (type_ == ScalarType::Int64) return read(elements, std::as_writable_bytes(to).data());
  std::vector<int32_t> narrow(to.size());
  read(elements, std::as_writable_bytes(std::span(narrow)).data());
  std::copy(narrow.begin(), narrow.end(), to.begin());
}

void Hdf5File::Array::fail(const std::string& what) const {
  throw UserError(fmt::format("{}: no sound binsparse file: {}: {}", file_->path(), name_, what));
}

std::vector<uint64_t> lay_out_hdf5(const std::string& path, const std::string& name, const std::string& text,
                                   std::span<const NewHdf5Array> arrays) {
  Quiet quiet;
  auto sure = [&](auto value) {
    if (!bool(value)) throw SystemError(fmt::format("cannot write '{}': HDF5 fails", path));
    return value;
  };
  std::vector<uint64_t> places;
  Hdf5Handle file = sure(keep(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose));
  // Room at once, and nothing written there; no times, so that the same tensor gives the same bytes.
  Hdf5Handle how = sure(keep(H5Pcreate(H5P_DATASET_CREATE), H5Pclose));
  sure(H5Pset_layout(*how, H5D_CONTIGUOUS) >= 0 && H5Pset_alloc_time(*how, H5D_ALLOC_TIME_EARLY) >= 0 &&
       H5Pset_fill_time(*how, H5D_FILL_TIME_NEVER) >= 0 && H5Pset_obj_track_times(*how, false) >= 0);
  for (const NewHdf5Array& array : arrays) {
    hsize_t size = hsize_t(array.size);
    Hdf5Handle space = sure(keep(H5Screate_simple(1, &size, nullptr), H5Sclose));
    Hdf5Handle made = sure(
        keep(H5Dcreate2(*file, array.name.c_str(), memory_type(array.type), *space, H5P_DEFAULT, *how, H5P_DEFAULT),
             H5Dclose));
    places.push_back(size == 0 ? 0 : H5Dget_offset(*made));
    sure(places.back() != HADDR_UNDEF);
  }
  // Of a fixed length: every reader takes it.
  Hdf5Handle letters = sure(keep(H5Tcopy(H5T_C_S1), H5Tclose)), one = sure(keep(H5Screate(H5S_SCALAR), H5Sclose));
  sure(H5Tset_size(*letters, text.size() + 1) >= 0 && H5Tset_cset(*letters, H5T_CSET_UTF8) >= 0);
  Hdf5Handle attribute =
      sure(keep(H5Acreate2(*file, name.c_str(), *letters, *one, H5P_DEFAULT, H5P_DEFAULT), H5Aclose));
  sure(H5Awrite(*attribute, *letters, text.c_str()) >= 0 && H5Fflush(*file, H5F_SCOPE_GLOBAL) >= 0);
  return places;
}

}  // namespace spdistal
