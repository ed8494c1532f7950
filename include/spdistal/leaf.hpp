// Routines that take the place of a leaf's loops: of libraries, which are known by name, and a program's own.
//
//   register_leaf({.name = "dot",
//                  .statement = "s = b(i) * c(i)",
//                  .types = {ScalarType::Float64},
//                  .run = [](const LeafPiece& piece) { … }});
//   s.schedule().substitute({i}, "dot");
//
// A routine is called once for each piece, and in every step, with the arrays as they lie in memory. It knows nothing of
// distribution: coordinates are those of the whole tensors, positions those of the piece.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spdistal/machine.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal {

/// One of the arrays of a level, by the name that the level gives it: "pos", "crd".
struct LeafArray {
  std::string_view name;
  ScalarType type = ScalarType::Int32;  // or Int64; Bool for flags
  const void* data = nullptr;
  int64_t count = 0;

  /// An element, however wide it is; in memory of the host.
  int64_t operator[](int64_t k) const {
    if (type == ScalarType::Int32) return static_cast<const int32_t*>(data)[k];
    if (type == ScalarType::Int64) return static_cast<const int64_t*>(data)[k];
    return static_cast<const bool*>(data)[k];
  }
};

struct LeafLevel {
  /// The coordinates that it has: [first, first + extent). All that the loops come to, where they visit every one; else at least
  /// those that sparse levels of the same index store.
  int64_t first = 0, extent = 0;
  /// How far apart neighbours stand, in elements, where all levels of the tensor are dense. Otherwise the coordinate c of a dense level
  /// has the position p * extent + (c - first) below the position p of the level above.
  int64_t stride = 0;
  std::vector<LeafArray> arrays = {};

  /// Throws UserError where it has none of that name.
  const LeafArray& array(std::string_view name) const;
};

/// What a call has of one tensor.
struct LeafTensor {
  std::string name;  // as the routine's statement has it
  ScalarType type = ScalarType::Float64;
  void* values = nullptr;  // the first element of the first coordinates; only the result's may be written
  int64_t count = 0;       // of a tensor with sparse levels: the elements that are stored
  /// As the routine's format has them, outermost first; of tensors that are dense in any order, one for each dimension.
  std::vector<LeafLevel> levels = {};

  template <class T>
  T* as() const {
    return static_cast<T*>(values);
  }
};

/// What the elements of the result hold before a call: nothing that counts, and every element of the piece is to be written; or
/// something that the new value is put together with, by the operation of the statement: it is added to where that is a sum.
enum class LeafStart : uint8_t { Overwrite, Combine };

/// One call.
struct LeafPiece {
  std::vector<LeafTensor> tensors;  // in the order in which the routine's statement first names them: the result first
  LeafStart start = LeafStart::Overwrite;
  int64_t threads = 1;  // that it should use
  int device = -1;      // of a routine on GPUs: where the arrays are; what it does goes into the first stream

  const LeafTensor& operator[](size_t k) const { return tensors[k]; }
  /// By name. Throws UserError where there is none.
  const LeafTensor& operator[](std::string_view name) const;
};

struct LeafRoutine {
  std::string name;
  /// What it computes: "A(i,j) = B(i,k) * C(k,j)". Loops fit where they compute the same for other names, with factors and terms
  /// in any order, by = or +=.
  std::string statement;
  /// How its tensors are stored: "B:ds". Those that are not listed are dense, with their dimensions in any order: strides tell.
  std::vector<std::string> formats = {};
  /// The types that its tensors may have, all the same one. None: any, and each its own.
  std::vector<ScalarType> types = {};
  Processor processor = CPU;
  std::function<void(const LeafPiece&)> run;
};

/// From now on `substitute` knows it. A name may stand for several statements: the first that fits is taken. One that says the same
/// as an earlier one takes its place. Throws UserError where the statement, a format or a name makes no sense.
void register_leaf(LeafRoutine routine);

}  // namespace spdistal
