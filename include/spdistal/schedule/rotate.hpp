// rotate(ko, {io, jo}, kos): lets every piece start its steps elsewhere, so that neighbours pass blocks on instead of all
// asking one for the same (Cannon's algorithm).
//
//   forall io                        forall io
//     forall jo             →          forall jo
//       forall ko                        forall kos in |ko|
//         …ko…                             with ko = (kos + io + jo) % |ko|
//                                          …ko…
#pragma once
#include <vector>

#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Rotate {
  IndexVar i;
  std::vector<IndexVar> offsets;
  IndexVar rotated;

  static constexpr std::string_view name = "rotate";
  static constexpr auto params = std::tuple{param::loop("i", &Rotate::i), param::loop("offsets", &Rotate::offsets),
                                            param::made("rotated", &Rotate::rotated)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& rotate(IndexVar i, std::vector<IndexVar> offsets, IndexVar rotated) {
      return static_cast<Schedule&>(*this).add(Rotate{i, std::move(offsets), rotated});
    }
  };
};

}  // namespace spdistal
