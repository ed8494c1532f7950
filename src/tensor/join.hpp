// Slices of storages as they travel, and a piece that they are put together in.
#pragma once
#include <span>
#include <vector>

#include "memory/buffer.hpp"
#include "runtime/transport/transport.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// Of each level the positions that a slice has, in the storage that it is cut from.
using SlicePositions = std::vector<Range>;

/// Whether parts of such a tensor that are consecutive in storage order can be cut out and put together as they lie.
bool can_be_sliced(const Format& format, const std::vector<int64_t>& dims);
/// The positions of all levels that belong to those of one, which are not none.
SlicePositions slice_around(const Pattern& pattern, size_t level, Range positions);

/// Bytes that leave: where they lie, or in memory of their own.
struct Outgoing {
  std::span<const std::byte> bytes;
  Buffer own = {};
};
/// What a slice is made of: the arrays of all levels, as narrow as pieces have them. Everything hangs from one root, which
/// needs no array.
std::vector<Outgoing> outgoing(const Pattern& pattern, const SlicePositions& slice);
Outgoing outgoing_values(const Storage& storage, const SlicePositions& slice);

/// Within a rank.
void copy(const std::vector<Outgoing>& from, const std::vector<std::span<std::byte>>& to);

/// What a rank sends to another, and where it wants what comes.
struct LeavingBytes {
  int to;
  std::vector<Outgoing> bytes;
};
struct ArrivingBytes {
  int from;
  std::vector<std::span<std::byte>> bytes;
};
/// Collective. What leaves for a rank does so in the order in which that rank expects it; a rank may be its own.
void exchange(runtime::Transport& transport, const std::vector<ArrivingBytes>& arriving,
              const std::vector<LeavingBytes>& leaving);

struct Part {
  size_t source;                // its place in storage order
  int64_t first;                // the first level's coordinate of its first position
  std::vector<int64_t> counts;  // positions of each level
};

/// The pattern of a piece, which its parts are brought into.
class JoinedPattern {
 public:
  /// `ranges` are those of the dimensions; values of the type belong to it. Throws UserError for levels with places that do
  /// not fit into memory.
  JoinedPattern(const Format& format, const std::vector<int64_t>& dims, ScalarType type,
                const std::vector<Range>& ranges, std::vector<Part> parts);

  /// The piece is one part, of which coordinates are read where they lie; nothing is brought.
  static PatternHandle in_place(const Pattern& from, const SlicePositions& slice, ScalarType type,
                                const std::vector<Range>& ranges, Part part);

  const Format& format() const { return format_; }
  /// In storage order.
  const std::vector<Part>& parts() const { return parts_; }
  /// Where a part goes, in the order of `outgoing`.
  std::vector<std::span<std::byte>> incoming(size_t part);
  /// Positions of the last level, and those of a part.
  int64_t positions() const { return levels_.back().positions; }
  Range positions_of(size_t part) const;
  /// When all are there.
  PatternHandle finish() &&;

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

  // The slice that the one part is.
  struct Lender {
    const Pattern& pattern;
    const SlicePositions& slice;
  };
  JoinedPattern(const Format& format, const std::vector<int64_t>& dims, ScalarType type,
                const std::vector<Range>& ranges, std::vector<Part> parts, const Lender* lender);

  int64_t parents(size_t k) const { return k == 0 ? 1 : levels_[k - 1].positions; }
  int64_t parents(size_t k, const Part& part) const { return k == 0 ? 1 : part.counts[k - 1]; }
  void place(size_t k, Range range, const Lender* lender);
  void make_rooms(Level& level, const Lender* lender) const;
  static void take(const Lender& lender, size_t k, size_t array, Room& room);
  void join_begins(const Level& level, Room& room) const;

  Format format_;
  std::vector<int64_t> dims_;
  ScalarType type_;
  std::vector<Part> parts_;
  std::vector<Level> levels_;
};

/// The same with values.
class Joined {
 public:
  Joined(JoinedPattern pattern, ScalarType type);

  const std::vector<Part>& parts() const { return pattern_.parts(); }
  /// Where a part goes: arrays, then values.
  std::vector<std::span<std::byte>> incoming(size_t part);
  Storage finish() && { return Storage(std::move(pattern_).finish(), type_, std::move(values_)); }

 private:
  JoinedPattern pattern_;
  ScalarType type_;
  Buffer values_;
};

}  // namespace spdistal
