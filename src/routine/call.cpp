#include "routine/call.hpp"

#include <algorithm>
#include <functional>

#include "base/require.hpp"
#include "memory/mirror.hpp"

namespace spdistal::routine {

using namespace notation;

namespace {

// Of a device an array has an owner, through which it is found there.
std::byte* address(const spd_array& array, const std::optional<memory::Place>& device, bool written) {
  if (!device) return static_cast<std::byte*>(array.data);
  auto* mirror = static_cast<memory::Mirror*>(array.owner);
  require(mirror || !array.data, "what a routine of a device takes has a mirror there");
  if (!mirror) return nullptr;
  return written ? mirror->to_change(*device) : mirror->to_read(*device);
}

}  // namespace

RoutineCall::RoutineCall(LeafLoops loops, FoundRoutine found) : loops_(std::move(loops)), found_(std::move(found)) {}

int RoutineCall::operator()(spd_call& call) const {
  LoopValues values;
  for (const auto& [var, scalar] : loops_.outer) values[var] = call.scalars[scalar];
  Bounds bounds(loops_.provenance);
  std::function<void(size_t)> nest = [&](size_t k) {
    if (k == loops_.around.size()) return turn(call, values);
    Range range = bounds.of(loops_.around[k], values);
    for (int64_t value = range.lo; value < range.hi; value++) {
      values[loops_.around[k]] = value;
      nest(k + 1);
    }
    values.erase(loops_.around[k]);
  };
  nest(0);
  return 0;
}

void RoutineCall::turn(spd_call& call, const LoopValues& values) const {
  Bounds bounds(loops_.provenance);
  Ranges visited;
  for (const MatchedTensor& tensor : loops_.match.tensors)
    for (const IndexVar& var : tensor.access.indices) visited.try_emplace(var, bounds.of(var, values));
  // Where loops come to nothing, pieces may have nothing of any variable.
  bool nothing = std::any_of(visited.begin(), visited.end(), [](const auto& v) { return v.second.size() <= 0; });
  if (nothing && (loops_.filled || loops_.start == LeafStart::Combine)) return;
  LeafPiece piece;
  piece.start = loops_.start;
  piece.threads = call.context->threads;
  if (loops_.device) piece.device = loops_.device->device;
  for (size_t k = 0; k < loops_.numbers.size(); k++)
    piece.tensors.push_back(tensor(call.tensors[loops_.numbers[k]], k, visited));
  const std::vector<LeafLevel>& result = piece.tensors[0].levels;
  if (std::any_of(result.begin(), result.end(), [](const LeafLevel& level) { return level.extent <= 0; })) return;
  found_.run(piece);
}

LeafTensor RoutineCall::tensor(const spd_tensor& view, size_t k, const Ranges& visited) const {
  const MatchedTensor& matched = loops_.match.tensors[k];
  const Format& format = matched.access.tensor.format();
  const bool dense = format.is_dense(), written = k == 0;
  const size_t order = format.order();
  LeafTensor out{
      .name = loops_.match.routine->tensors()[k].name, .type = matched.access.tensor.type(), .count = view.vals.count};
  std::vector<LeafLevel> levels(order);
  int64_t first = 0, stride = 1;  // of the element of the first coordinates
  for (size_t level = order; level-- > 0;) {
    const spd_level& from = view.levels[level];
    const IndexVar& var = matched.access.indices[size_t(format.mode_order()[level])];
    Range covered{from.lo, from.lo + from.extent}, wanted = visited.at(var);
    bool swept = std::find(loops_.swept.begin(), loops_.swept.end(), var) != loops_.swept.end();
    bool inside = wanted.lo <= covered.lo && covered.hi <= wanted.hi;
    require(dense || !swept || inside || covered.size() <= 0, "a routine takes all that a sparse piece stores");
    if (dense && swept) {
      require(wanted.size() <= 0 || (covered.lo <= wanted.lo && wanted.hi <= covered.hi),
              "a piece has what the loops come to");
      if (wanted.size() > 0) first += (wanted.lo - covered.lo) * stride;
      covered = wanted;
    }
    LeafLevel& to = levels[level];
    to.first = covered.lo;
    to.extent = covered.size();
    if (dense) to.stride = stride;
    stride *= from.stride;  // of neighbours in the level above
    std::span<const LevelArray> named = format.levels()[level].arrays();
    for (size_t n = 0; n < named.size(); n++)
      to.arrays.push_back({named[n].name, loops_.widths[k][level][n], address(from.arrays[n], loops_.device, false),
                           from.arrays[n].count});
  }
  out.values = address(view.vals, loops_.device, written);
  if (out.values) out.values = static_cast<std::byte*>(out.values) + size_t(first) * size_of(out.type);
  for (size_t level : matched.levels) out.levels.push_back(std::move(levels[level]));
  return out;
}

}  // namespace spdistal::routine
