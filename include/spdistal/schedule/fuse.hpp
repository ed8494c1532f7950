// fuse(i, j, f): makes one loop of two, the inner directly inside the outer.
//
//   forall i                         forall f in |i| * |j|
//     forall j              →          with i = f / |j|, j = f % |j|
//       …i,j…                          …i,j…
#pragma once
#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Fuse {
  IndexVar outer, inner, fused;

  static constexpr std::string_view name = "fuse";
  static constexpr auto params = std::tuple{param::loop("outer", &Fuse::outer), param::loop("inner", &Fuse::inner),
                                            param::made("fused", &Fuse::fused)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& fuse(IndexVar outer, IndexVar inner, IndexVar fused) {
      return static_cast<Schedule&>(*this).add(Fuse{outer, inner, fused});
    }
  };
};

}  // namespace spdistal
