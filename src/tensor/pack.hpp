// Between lists of entries and storage, in every format.
#pragma once
#include <vector>

#include "tensor/coordinates.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// Stores the entries in a format: duplicates are added in the order of insertion, explicit zeros are kept. Throws
/// UserError for a coordinate outside its dimension, or where dense levels would not fit into memory.
Storage pack(Coordinates entries, const Format& format);
/// The same for a piece: `bounds[d]` is the range of coordinates of dimension d that it covers; all entries lie inside.
Storage pack(Coordinates entries, const Format& format, const std::vector<Range>& bounds);

/// Which stored elements to list.
enum class Zeros : uint8_t { Keep, Drop };

/// What is at every position of the last level, in storage order: places where nothing is stored included.
Coordinates unpack_positions(const Storage& storage);
/// All stored elements in storage order.
Coordinates unpack(const Storage& storage, Zeros zeros = Zeros::Keep);

/// Bytes of so many values that count as not stored.
Buffer filled_values(int64_t count, const Format& format, ScalarType type);

/// Drops the entries whose value is zero.
void drop_zeros(Coordinates& entries);

/// The same stored elements in another format. From a dense format every element counts as stored unless zeros are
/// dropped.
Storage convert(const Storage& storage, const Format& format, Zeros zeros = Zeros::Keep);

}  // namespace spdistal
