// A kernel that calls a routine: what a call has of each tensor is cut down to what the loops come to, and described.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "memory/place.hpp"
#include "notation/bounds.hpp"
#include "routine/match.hpp"
#include "spdistal/abi.h"

namespace spdistal::routine {

/// What is known of the loops that a routine replaces, before it is called.
struct LeafLoops {
  RoutineMatch match;
  notation::Provenance provenance;
  /// Loops of the plan around the leaf: where the call's scalars have their values; and loops inside of the leaf but around the
  /// routine, which is called in every turn of theirs.
  std::vector<std::pair<IndexVar, size_t>> outer;
  std::vector<IndexVar> around;
  /// The tensor of the call that each of the routine's is, the result being 0; and how wide its arrays are, by level.
  std::vector<size_t> numbers;
  std::vector<std::vector<std::vector<ScalarType>>> widths;
  /// Variables that loops visit every value of. Others take those that are stored.
  std::vector<IndexVar> swept;
  LeafStart start;
  /// Is the result what it has to be where no call comes to it?
  bool filled;
  std::optional<memory::Place> device = {};  // that it is called for; none: the host
};

/// Calls a routine as a kernel is called.
class RoutineCall {
 public:
  RoutineCall(LeafLoops loops, FoundRoutine found);
  int operator()(spd_call& call) const;

 private:
  /// The values of each variable that a turn of the loops around comes to.
  using Ranges = std::map<IndexVar, Range>;
  void turn(spd_call& call, const notation::LoopValues& values) const;
  LeafTensor tensor(const spd_tensor& view, size_t k, const Ranges& visited) const;

  LeafLoops loops_;
  FoundRoutine found_;
};

}  // namespace spdistal::routine
