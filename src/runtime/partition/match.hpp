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

/// Collective. P[c] = held[c] \ ∪ { held[b] : b < c }, for the colours of this rank.
Partition owned(Transport& transport, const Partition& held);

struct Facts {
  bool disjoint, complete;
  bool operator==(const Facts&) const = default;
};
/// Collective. Whether a distributed partition is disjoint and complete, the same answer on all ranks.
Facts facts(Transport& transport, const Partition& p);

/// Collective. P'[d] = ∪_c answer(c, owned[c] ∩ P[d]): each part of the question is answered on the rank that holds
/// what it is about. With `held` the parents of each rank's part of pos, this is the distributed image; with the
/// positions below them, the preimage; with the positions of each part of crd, the image by value.
Partition ask_holders(Transport& transport, const Partition& held, const Partition& question, const Space& universe,
                      const std::function<Space(int64_t source, const Space& part)>& answer);

}  // namespace spdistal::runtime
