// What is held where it is needed:  M[c, d] = owned[c] ∩ needed[d],  owned[c] = held[c] \ ∪ { held[b] : b < c }
//
// The owner of an element is the lowest colour that holds it. Both partitions are distributed: a rank knows its own
// pieces, and learns the matches that its own colours are part of, as owner or as the one in need.
#pragma once
#include <functional>

#include "runtime/partition/directory.hpp"

namespace spdistal::runtime {

/// Elements that colour `user` of the needed partition gets from colour `source` of the held one. Never empty.
struct Match {
  int64_t source, user;
  Space elements;

  bool operator==(const Match&) const = default;
};

enum class Sources {
  Owners,    // owners only: other copies may be stale
  AnyLocal,  // a copy held on the same rank before the owner's: the lowest colour there
  Everyone,  // every colour that holds an element, not only its owner
};

/// What becomes of elements that are needed and held nowhere.
enum class Unheld {
  Refuse,  // an error, on all ranks
  Skip,    // they are in no match
};

/// Collective. The matches of which this rank has the source or the user, by source and then by user.
std::vector<Match> match(Transport& transport, const Partition& held, const Partition& needed, Sources sources,
                         Unheld unheld = Unheld::Refuse);

}  // namespace spdistal::runtime
