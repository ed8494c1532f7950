// bound(i, ib, size, kind): says what is known of a variable's extent, so that loops over it can be unrolled or
// vectorised. MaxExact: it is the size (checked against the data). MaxConstraint: it is at most the size.
//
//   forall i                         forall ib in size
//     …i…                   →          with i = ib
//                                      …i…
#pragma once
#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Bound {
  IndexVar i, bounded;
  int64_t size;
  BoundKind kind = BoundKind::MaxExact;

  static constexpr std::string_view name = "bound";
  static constexpr auto params = std::tuple{param::loop("i", &Bound::i), param::made("bounded", &Bound::bounded),
                                            param::value("size", &Bound::size), param::optional("kind", &Bound::kind)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& bound(IndexVar i, IndexVar bounded, int64_t size, BoundKind kind = BoundKind::MaxExact) {
      return static_cast<Schedule&>(*this).add(Bound{i, bounded, size, kind});
    }
  };
};

}  // namespace spdistal
