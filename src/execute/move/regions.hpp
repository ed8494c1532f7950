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
/// What a home piece of a dense tensor holds, in the order of the levels, and its memory.
runtime::Partition held_by(const Home& home, const runtime::Space& universe);
runtime::Instances home_instances(const Home& home);
runtime::Space universe_of(const Format& format, const std::vector<int64_t>& dims);
/// The memory of a storage as the instance of a rectangle or of consecutive numbers.
runtime::Instance instance_of(const Storage& storage, runtime::Layout layout);
runtime::Instance instance_of(const Storage& storage, std::shared_ptr<const runtime::Layout> layout);
/// The same instances over the memory that the pieces of a home have now.
runtime::Instances moved_to(const runtime::Instances& instances, const Home& home);

}  // namespace spdistal
