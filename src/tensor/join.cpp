#include "tensor/join.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/threads.hpp"
#include "format/fill.hpp"
#include "level/level.hpp"
#include "memory/copy.hpp"
#include "tensor/pack.hpp"
#include "tensor/tree.hpp"

namespace spdistal {
namespace {

IndexWidth coordinate_width(int64_t dim) { return width_for(std::max<int64_t>(0, dim - 1)); }

// f(an index of that width).
template <class F>
void with_width(IndexWidth width, F&& f) {
  if (width == IndexWidth::Int32) f(int32_t());
  else f(int64_t());
}

Outgoing of_own(Buffer own) {
  std::span<const std::byte> bytes{std::as_const(own).data(), own.size()};
  return {bytes, std::move(own)};
}

// Where the positions below each parent begin, of a slice: counted from 0.
Outgoing begins_below(const IndexArray& array, Range parents, Range positions) {
  IndexWidth width = width_for(positions.size());
  Buffer out = Buffer::uninitialized(size_t(parents.size() + 1) * size_t(width));
  with_width(width, [&](auto zero) {
    using I = decltype(zero);
    auto* to = reinterpret_cast<I*>(out.data());
    array.visit([&](auto pos) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (parents.size() > 100000)
      for (int64_t p = 0; p <= parents.size(); p++)
        to[p] = I(std::clamp<int64_t>(pos[size_t(parents.lo + p)], positions.lo, positions.hi) - positions.lo);
    });
  });
  return of_own(std::move(out));
}

// Coordinates of a slice, as wide as pieces have them: where they lie, or narrower in memory of their own.
Outgoing coordinates_at(const IndexArray& array, Range positions, IndexWidth width) {
  size_t bytes = size_t(width), count = size_t(positions.size());
  if (array.width() == width)
    return {{static_cast<const std::byte*>(array.data()) + size_t(positions.lo) * bytes, count * bytes}};
  require(width == IndexWidth::Int32, "arrays are as wide as what they hold needs, or wider");
  Buffer out = Buffer::uninitialized(count * bytes);
  auto* to = reinterpret_cast<int32_t*>(out.data());
  const int64_t* from = array.as<int64_t>().data() + positions.lo;
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (positions.size() > 100000)
  for (int64_t p = 0; p < positions.size(); p++) to[p] = int32_t(from[p]);
  return of_own(std::move(out));
}

}  // namespace

// Levels with places stand first or last, and the arrays of the others say nothing of what lies outside of a slice.
bool can_be_sliced(const Format& format, const std::vector<int64_t>& dims) {
  Tree tree(format, dims);
  for (size_t k = 0; k < format.order(); k++) {
    const LevelFormat& level = format.levels()[k];
    if (level.arrays().empty() && k != 0 && k < tree.tail()) return false;
    for (const LevelArray& array : level.arrays())
      if (array.holds != Holds::Segments && array.holds != Holds::Coordinates) return false;
  }
  return format.order() > 0;
}

SlicePositions slice_around(const Pattern& pattern, size_t k, Range at) {
  SlicePositions out(pattern.order());
  out[k] = at;
  auto functions = [&](size_t level) -> const LevelFunctions& {
    return functions_of(pattern.format().levels()[level]);
  };
  for (size_t j = k; j > 0; j--) {
    const LevelArrays& level = pattern.level(j);
    out[j - 1] = {functions(j).parent(level, out[j].lo), functions(j).parent(level, out[j].hi - 1) + 1};
  }
  for (size_t j = k + 1; j < pattern.order() && out[j - 1].size() > 0; j++) {
    const LevelArrays& level = pattern.level(j);
    out[j] = {functions(j).children(level, out[j - 1].lo).lo, functions(j).children(level, out[j - 1].hi - 1).hi};
  }
  return out;
}

std::vector<Outgoing> outgoing(const Pattern& pattern, const SlicePositions& slice) {
  std::vector<Outgoing> out;
  for (size_t k = 0; k < slice.size(); k++)
    for (size_t n = 0; n < pattern.level(k).arrays.size(); n++) {
      const IndexArray& array = pattern.level(k).arrays[n].array;
      if (pattern.format().levels()[k].arrays()[n].holds == Holds::Coordinates)
        out.push_back(coordinates_at(array, slice[k], coordinate_width(pattern.level(k).dim)));
      else if (k > 0) out.push_back(begins_below(array, slice[k - 1], slice[k]));
    }
  return out;
}

Outgoing outgoing_values(const Storage& storage, const SlicePositions& slice) {
  size_t bytes = size_of(storage.type());
  return {{storage.value_bytes() + size_t(slice.back().lo) * bytes, size_t(slice.back().size()) * bytes}};
}

void copy(const std::vector<Outgoing>& from, const std::vector<std::span<std::byte>>& to) {
  for (size_t k = 0; k < from.size(); k++) memory::copy_large(to[k].data(), from[k].bytes.data(), to[k].size());
}

void exchange(runtime::Transport& transport, const std::vector<ArrivingBytes>& arriving,
              const std::vector<LeavingBytes>& leaving) {
  int tag = transport.fresh_tag(), here = transport.rank();
  runtime::Pending pending;
  for (const ArrivingBytes& part : arriving)
    for (std::span<std::byte> bytes : part.bytes)
      if (part.from != here && !bytes.empty()) transport.receive(bytes, part.from, tag, pending);
  for (const LeavingBytes& part : leaving)
    for (const Outgoing& bytes : part.bytes)
      if (part.to != here && !bytes.bytes.empty()) transport.send(bytes.bytes, part.to, tag, pending);
  auto kept = arriving.begin();
  for (const LeavingBytes& part : leaving) {
    if (part.to != here) continue;
    kept = std::ranges::find(kept, arriving.end(), here, &ArrivingBytes::from);
    copy(part.bytes, kept++->bytes);
  }
  transport.wait(pending);
}

JoinedPattern::JoinedPattern(const Format& format, const std::vector<int64_t>& dims, ScalarType type,
                             const std::vector<Range>& ranges, std::vector<Part> parts)
    : JoinedPattern(format, dims, type, ranges, std::move(parts), nullptr) {}

JoinedPattern::JoinedPattern(const Format& format, const std::vector<int64_t>& dims, ScalarType type,
                             const std::vector<Range>& ranges, std::vector<Part> parts, const Lender* lender)
    : format_(of_one_piece(format)), dims_(dims), type_(type), parts_(std::move(parts)) {
  for (size_t k = 0; k < format.order(); k++) place(k, ranges[size_t(format.mode_order()[k])], lender);
}

PatternHandle JoinedPattern::in_place(const Pattern& from, const SlicePositions& slice, ScalarType type,
                                      const std::vector<Range>& ranges, Part part) {
  Lender lender{from, slice};
  return JoinedPattern(from.format(), from.dims(), type, ranges, {std::move(part)}, &lender).finish();
}

Joined::Joined(JoinedPattern pattern, ScalarType type) : pattern_(std::move(pattern)), type_(type) {
  int64_t brought = 0, all = pattern_.positions();
  for (const Part& part : parts()) brought += part.counts.back();
  values_ =
      brought == all ? Buffer::uninitialized(size_t(all) * size_of(type)) : filled_values(all, pattern_.format(), type);
}

std::vector<std::span<std::byte>> Joined::incoming(size_t part) {
  std::vector<std::span<std::byte>> out = pattern_.incoming(part);
  Range at = pattern_.positions_of(part);
  out.push_back({values_.data() + size_t(at.lo) * size_of(type_), size_t(at.size()) * size_of(type_)});
  return out;
}

Range JoinedPattern::positions_of(size_t part) const {
  int64_t first = levels_.back().at[part];
  return {first, first + parts_[part].counts.back()};
}

void JoinedPattern::place(size_t k, Range range, const Lender* lender) {
  Level level{k, range};
  bool listed = !format_.levels()[k].arrays().empty();
  for (size_t p = 0; p < parts_.size(); p++) {
    if (listed) level.at.push_back(level.positions);
    else level.at.push_back(k == 0 ? parts_[p].first - range.lo : levels_[k - 1].at[p] * range.size());
    level.positions += parts_[p].counts[k];
  }
  size_t dimension = size_t(format_.mode_order()[k]);
  if (!listed)
    level.positions =
        checked_positions(parents(k), range.size(), k + 1 == dims_.size() ? size_of(type_) : sizeof(int32_t),
                          fmt::format("storing dimension {} (size {}) densely", dimension, dims_[dimension]));
  make_rooms(level, lender);
  levels_.push_back(std::move(level));
}

void JoinedPattern::make_rooms(Level& level, const Lender* lender) const {
  size_t k = level.number, dimension = size_t(format_.mode_order()[k]);
  std::span<const LevelArray> arrays = format_.levels()[k].arrays();
  for (size_t n = 0; n < arrays.size(); n++) {
    const LevelArray& array = arrays[n];
    bool segments = array.holds == Holds::Segments;
    int64_t size = level.positions;
    if (segments) {
      auto what = fmt::format("listing the coordinates of dimension {} below {} positions", dimension, parents(k));
      size = checked_positions(parents(k), 1, sizeof(int32_t), what) + 1;
    }
    IndexWidth width = segments ? width_for(level.positions) : coordinate_width(dims_[dimension]);
    Room& room = level.rooms.emplace_back(Room{array.holds, width, {}});
    if (segments || !lender) room.bytes = Buffer::uninitialized(size_t(size) * size_t(width));
    if (lender) take(*lender, k, n, room);
    else if (segments && k > 0)
      for (const Part& part : parts_)
        room.begins.push_back(Buffer::uninitialized(size_t(parents(k, part) + 1) * size_t(width_for(part.counts[k]))));
  }
}

// Coordinates lie where the lender has them, as wide as they are to be; where rows begin is counted anew.
void JoinedPattern::take(const Lender& lender, size_t k, size_t array, Room& room) {
  const IndexArray& from = lender.pattern.level(k).arrays[array].array;
  const SlicePositions& slice = lender.slice;
  if (room.holds == Holds::Segments) {
    if (k > 0) room.begins.push_back(begins_below(from, slice[k - 1], slice[k]).own);
    return;
  }
  Outgoing coordinates = coordinates_at(from, slice[k], room.width);
  auto* first = const_cast<std::byte*>(coordinates.bytes.data());  // nobody writes to the arrays of a pattern
  room.bytes = from.width() == room.width ? Buffer::borrowed({first, coordinates.bytes.size()}, from.owner())
                                          : std::move(coordinates.own);
}

std::vector<std::span<std::byte>> JoinedPattern::incoming(size_t part) {
  std::vector<std::span<std::byte>> out;
  for (Level& level : levels_)
    for (Room& room : level.rooms) {
      size_t bytes = size_t(room.width), count = size_t(parts_[part].counts[level.number]);
      if (room.holds == Holds::Coordinates)
        out.push_back({room.bytes.data() + size_t(level.at[part]) * bytes, count * bytes});
      else if (level.number > 0) out.push_back({room.begins[part].data(), room.begins[part].size()});
    }
  return out;
}

PatternHandle JoinedPattern::finish() && {
  std::vector<LevelArrays> levels;
  for (Level& level : levels_) {
    LevelArrays& out = levels.emplace_back(
        LevelArrays{dims_[size_t(format_.mode_order()[level.number])], level.range, level.positions});
    for (size_t n = 0; n < level.rooms.size(); n++) {
      Room& room = level.rooms[n];
      if (room.holds == Holds::Segments) join_begins(level, room);
      std::string_view name = format_.levels()[level.number].arrays()[n].name;
      out.arrays.push_back({name, IndexArray(std::move(room.bytes), room.width)});
    }
  }
  return std::make_shared<const Pattern>(format_, dims_, std::move(levels));
}

// Positions of parts follow each other; parents that no part has have none.
void JoinedPattern::join_begins(const Level& level, Room& room) const {
  with_width(room.width, [&](auto zero) {
    using I = decltype(zero);
    auto* out = reinterpret_cast<I*>(room.bytes.data());
    int64_t next = 0;  // the parent whose beginning is to be said
    for (size_t p = 0; p < room.begins.size(); p++) {
      int64_t at = levels_[level.number - 1].at[p], count = parents(level.number, parts_[p]), before = level.at[p];
      std::fill(out + next, out + at, I(before));
      with_width(width_for(parts_[p].counts[level.number]), [&](auto narrow) {
        auto* from = reinterpret_cast<const decltype(narrow)*>(std::as_const(room.begins[p]).data());
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (count > 100000)
        for (int64_t k = 0; k < count; k++) out[at + k] = I(before + from[k]);
      });
      next = at + count;
    }
    if (level.number == 0) out[next++] = 0;  // the one root has them all
    std::fill(out + next, out + parents(level.number) + 1, I(level.positions));
  });
  room.begins.clear();
}

}  // namespace spdistal
