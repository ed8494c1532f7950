#include "execute/overlap.hpp"

#include <algorithm>

namespace spdistal {

using namespace notation;
using runtime::Space;

namespace {

// What comes from other ranks: the elements whose coordinate of a dimension is one of these.
struct Received {
  size_t dim;
  Space coordinates;
};

// What no piece of this rank holds, where homes are cut along one dimension; none where they are cut otherwise.
std::optional<Received> elsewhere(const Shares& homes, const runtime::Transport& transport, const Need& need) {
  Range here = runtime::Mapping(homes.grid.count(), transport.size()).colours_of(transport.rank());
  std::optional<size_t> cut;
  for (int64_t q = here.lo; q < here.hi; q++) {
    const Share& share = homes.of[size_t(q)];
    if (!share.fused.empty() || !share.positions.empty()) return {};
    for (size_t d = 0; d < share.coordinates.size(); d++) {
      if (runtime::contains(share.coordinates[d], need.coordinates[d])) continue;
      if (cut && *cut != d) return {};
      cut = d;
    }
  }
  if (!cut) return {};
  std::vector<Space> held;
  for (int64_t q = here.lo; q < here.hi; q++) held.push_back(homes.of[size_t(q)].coordinates[*cut]);
  return Received{*cut, need.coordinates[*cut] - runtime::unite(1, held)};
}

// Of one colour; `received` tells for each access what comes from other ranks, if anything does.
std::vector<bool> ready(int64_t colour, const plan::Plan& plan, const ChunkedLeaf& chunked, Tasks& tasks,
                        const Tasks::Pieces& pieces, const std::vector<std::optional<Received>>& received) {
  Bounds bounds = tasks.bounds_of(chunked.leaf.provenance);
  // What each chunk needs of an access, as far as the loops tell.
  auto needs_of = [&](size_t access) {
    std::vector<Need> out;
    for (int64_t chunk = 0; chunk < ChunkedLeaf::chunks; chunk++) {
      LoopValues values = tasks.values(colour, {});
      values.emplace(chunked.var, chunk);
      Need need;
      for (const IndexVar& var : plan.accesses[access].access.indices)
        need.coordinates.push_back(interval(bounds.of(var, values)));
      out.push_back(std::move(need));
    }
    return out;
  };
  // Which chunks have nothing of some coordinates in a level of a piece. What occurs in a chunk may be a long list: there is one at a time.
  auto are_without = [&](const plan::Gather& gather, const plan::Occurring& n, const Space& coordinates) {
    const Storage& piece = (*pieces[n.access])[colour];
    runtime::Partition parts =
        select(plan.accesses[n.access], piece, 0, runtime::ColourGrid({ChunkedLeaf::chunks}), needs_of(n.access))
            .elements;
    std::vector<bool> out;
    for (int64_t chunk = 0; chunk < ChunkedLeaf::chunks; chunk++)
      out.push_back(coordinates_of(gather, values_of(n, occurring(piece, n.level, parts[chunk])), coordinates).empty());
    return out;
  };
  std::vector<bool> out(size_t(ChunkedLeaf::chunks), true);
  for (size_t k = 1; k < received.size(); k++) {
    if (!received[k]) continue;
    const auto& [dim, coordinates] = *received[k];
    const plan::Projection& projection = plan.accesses[k].projections[dim];
    std::vector<bool> without(out.size(), false);
    if (auto* gather = std::get_if<plan::Gather>(&projection)) {
      const plan::Occurring* source = gather->set.as<plan::Occurring>();
      if (source && !plan.accesses[source->access].split) without = are_without(*gather, *source, coordinates);
    } else if (std::holds_alternative<plan::Affine>(projection)) {
      std::vector<Need> needs = needs_of(k);
      for (size_t chunk = 0; chunk < out.size(); chunk++)
        without[chunk] = !runtime::intersects(needs[chunk].coordinates[dim], coordinates);
    }
    for (size_t chunk = 0; chunk < out.size(); chunk++) out[chunk] = out[chunk] && without[chunk];
  }
  return out;
}

}  // namespace

ReadyChunks ready_chunks(const plan::Plan& plan, const ChunkedLeaf& chunked, Tasks& tasks, const Tasks::Pieces& pieces,
                         const runtime::Transport& transport, int64_t least) {
  if (tasks.steps().size() != 1 || !tasks.steps()[0].empty() || tasks.everywhere()) return {};
  int64_t bytes = 0;
  for (size_t k = 1; k < pieces.size(); k++) {
    bytes += pieces[k]->bytes_received();
    // Values of this rank too wait for the end of the exchange where they come in another order.
    if (!pieces[k]->local_values_come_first()) return {};
  }
  if (bytes == 0 || bytes < least) return {};
  ReadyChunks out;
  bool any = false;
  for (int64_t c = tasks.colours().lo; c < tasks.colours().hi; c++) {
    std::vector<std::optional<Received>> received(pieces.size());
    for (size_t k = 1; k < pieces.size(); k++) {
      if (pieces[k]->bytes_received() == 0) continue;
      received[k] = elsewhere(pieces[k]->homes(), transport, tasks.need(k, c, {}, pieces));
      if (!received[k]) return {};
    }
    out.push_back(tasks.is_idle(c, {}) ? std::vector<bool>(size_t(ChunkedLeaf::chunks), false)
                                       : ready(c, plan, chunked, tasks, pieces, received));
    any |= std::find(out.back().begin(), out.back().end(), true) != out.back().end();
  }
  return any ? out : ReadyChunks();
}

}  // namespace spdistal
