#include "runtime/partition/directory.hpp"

#include <algorithm>
#include <map>

#include "base/require.hpp"
#include "runtime/partition/packed.hpp"
#include "runtime/transport/deal.hpp"

namespace spdistal::runtime {
namespace {

void put(Writer& out, const ColouredSpace& item) {
  out.put(item.colour);
  put(out, item.set);
}

std::vector<ColouredSpace> take_all(const std::vector<Bytes>& messages, int dims) {
  std::vector<ColouredSpace> out;
  for (const Bytes& message : messages)
    for (Reader in(message); !in.at_end();) {
      int64_t colour = in.take<int64_t>();
      out.push_back({colour, take_space(in, dims)});
    }
  std::ranges::stable_sort(out, {}, &ColouredSpace::colour);
  return out;
}

}  // namespace

std::vector<ColouredSpace> pieces_here(const Transport& transport, const Partition& p) {
  std::vector<ColouredSpace> out;
  Range mine = Mapping(p.colours(), transport.size()).colours_of(transport.rank());
  for (int64_t c = mine.lo; c < mine.hi; c++) out.push_back({c, p[c]});
  return out;
}

Directory::Directory(Transport& transport, const Partition& held) : transport_(transport) {
  size_t dims = size_t(held.dims());
  // The greatest of -lo and of hi along each dimension.
  std::vector<int64_t> ends(2 * dims, INT64_MIN);
  for (const auto& [colour, set] : pieces_here(transport, held)) {
    if (set.empty()) continue;
    for (size_t k = 0; k < dims; k++) {
      Range side = set.bounding()[int(k)];
      ends[2 * k] = std::max(ends[2 * k], -side.lo);
      ends[2 * k + 1] = std::max(ends[2 * k + 1], side.hi);
    }
  }
  transport.allreduce(ends.data(), ends.size(), ScalarType::Int64, ReduceOp::Max);
  box_ = Rect::nothing(held.dims());
  for (size_t k = 0; k < dims; k++)
    if (ends[2 * k] != INT64_MIN) box_.set(int(k), {-ends[2 * k], ends[2 * k + 1]});
  for (int k = 0; k < held.dims(); k++)
    if (width(box_[k]) > width(box_[dim_])) dim_ = k;
  require(dims == 0 || width(box_[dim_]) <= uint64_t(INT64_MAX), "an index range is shorter than 2^63");
}

Space Directory::block_of_rank(int rank) const {
  // A scalar is all in the first block.
  if (box_.dims() == 0) return rank == 0 ? Space(Rect{}) : Space(0);
  Range side = box_[dim_], part = block(side.size(), transport_.size(), rank);
  Rect out = box_;
  out.set(dim_, {side.lo + part.lo, side.lo + part.hi});
  return Space(out);
}

std::vector<ColouredSpace> Directory::send_to_blocks(const std::vector<ColouredSpace>& sets) const {
  std::vector<Writer> to(static_cast<size_t>(transport_.size()));
  for (const auto& [colour, set] : sets) {
    if (set.empty()) continue;
    int first = 0, last = 0;
    if (box_.dims() > 0) {
      Range side = box_[dim_], within = common(set.bounding()[dim_], side);
      if (is_empty(within)) continue;
      first = int(block_of(side.size(), transport_.size(), within.lo - side.lo));
      last = int(block_of(side.size(), transport_.size(), within.hi - 1 - side.lo));
    }
    for (int r = first; r <= last; r++)
      if (Space part = set & block_of_rank(r); !part.empty()) put(to[size_t(r)], {colour, std::move(part)});
  }
  return take_all(deal(transport_, messages_of(std::move(to))), box_.dims());
}

}  // namespace spdistal::runtime
