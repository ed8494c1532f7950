// Homes of dense tensors as the runtime sees them: sets of coordinates in the order of the levels, partitions of them, and
// the memory of pieces.
#pragma once
#include <vector>

#include "runtime/partition/partition.hpp"
#include "runtime/region/instance.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// { x : x_d in sets[d] }, in the order of the levels.
runtime::Space product_of(const Format& format, const std::vector<runtime::Space>& sets);
/// Makes products of sets simpler where they would have more rectangles than that: of several lists the shortest becomes
/// the range around it.
constexpr int64_t most_rects = int64_t(4) << 20;
void fill_up(std::vector<runtime::Space>& sets, int64_t most = most_rects);
/// What a piece covers, by level.
runtime::Rect box_of(const Storage& piece);
/// What a home piece of a dense tensor holds, in the order of the levels, and its memory.
runtime::Partition held_by(const Home& home, const runtime::Space& universe);
/// What is looked at of memory that devices have copies of: the host's alone, which is brought up to date now, or those too.
enum class Copies : uint8_t { OfHost, OfDevices };
runtime::Instances home_instances(const Home& home, Copies copies = Copies::OfHost);
runtime::Space universe_of(const Format& format, const std::vector<int64_t>& dims);
/// The memory of a storage as the instance of a rectangle or of consecutive numbers.
runtime::Instance instance_of(const Storage& storage, runtime::Layout layout, Copies copies = Copies::OfHost);
runtime::Instance instance_of(const Storage& storage, std::shared_ptr<const runtime::Layout> layout,
                              Copies copies = Copies::OfHost);
/// The memory of home pieces and of others, in order: where this is the same as before, instances of them are.
using MemoryBound = std::vector<const void*>;
void add_memory(MemoryBound& to, const Storage& storage, Copies copies);
/// The same instances over the memory that the pieces of a home have now.
runtime::Instances moved_to(const runtime::Instances& instances, const Home& home);

}  // namespace spdistal
