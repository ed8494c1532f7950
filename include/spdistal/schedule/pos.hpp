// pos(f, fp, B(i,j)): walks the coordinates that B stores instead of all of them. Legal where everything computed in the
// loop is zero wherever B is.
//
//   forall f                         forall fp in |B(i,j)|
//     with i = …, j = …     →          with (i,j) = B(i,j) at fp
//     …                                …
#pragma once
#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Pos {
  IndexVar i, position;
  Expression access;

  static constexpr std::string_view name = "pos";
  static constexpr auto params = std::tuple{param::loop("i", &Pos::i), param::made("position", &Pos::position),
                                            param::value("access", &Pos::access)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& pos(IndexVar i, IndexVar position, const spdistal::Access& access) {
      return static_cast<Schedule&>(*this).add(Pos{i, position, access});
    }
  };
};

}  // namespace spdistal
