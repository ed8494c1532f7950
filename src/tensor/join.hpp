// Slices of storages as they travel, and a piece that they are put together in.
#pragma once
#include <span>
#include <vector>

#include "memory/buffer.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// Of each level the positions that a slice has, in the storage that it is cut from.
using SlicePositions = std::vector<Range>;

/// Bytes that leave: where they lie, or in memory of their own.
struct Outgoing {
  std::span<const std::byte> bytes;
  Buffer own = {};
};
/// What a slice is made of: the arrays of all levels, as narrow as pieces have them, then the values. Everything hangs from
/// one root, which needs no array.
std::vector<Outgoing> outgoing(const Storage& storage, const SlicePositions& slice);

struct Part {
  size_t source;                // its place in storage order
  int64_t first;                // the first level's coordinate of its first position
  std::vector<int64_t> counts;  // positions of each level
};

/// A piece that its parts are brought into.
class Joined {
 public:
  /// `ranges` are those of the dimensions. Throws
  /// UserError for levels with places that do not fit into memory.
  Joined(const Format& format, const std::vector<int64_t>& dims, ScalarType type, const std::vector<Range>& ranges,
         std::vector<Part> parts);

  /// In storage order.
  const std::vector<Part>& parts() const { return parts_; }
  /// Where a part goes, in the order of `outgoing`.
  std::vector<std::span<std::byte>> incoming(size_t part);
  /// When all are there.
  Storage finish() &&;

 private:
  // An array of a level. What tells where positions begin arrives part by part, each counted from 0.
  struct Room {
    Holds holds;
    IndexWidth width;
    Buffer bytes;
    std::vector<Buffer> begins = {};
  };
  struct Level {
    size_t number;
    Range range;
    int64_t positions = 0;
    std::vector<int64_t> at = {};  // where those of each part begin
    std::vector<Room> rooms = {};
  };

  int64_t parents(size_t k) const { return k == 0 ? 1 : levels_[k - 1].positions; }
  int64_t parents(size_t k, const Part& part) const { return k == 0 ? 1 : part.counts[k - 1]; }
  void place(size_t k, Range range);
  void make_rooms(Level& level) const;
  void join_begins(const Level& level, Room& room) const;

  Format format_;
  std::vector<int64_t> dims_;
  ScalarType type_;
  std::vector<Part> parts_;
  std::vector<Level> levels_;
  Buffer values_;
};

}  // namespace spdistal
