// divide(i, outer, inner, pieces): deals the values of i to a number of blocks, as evenly as blocks of one size can.
//
//   forall i                         forall outer in pieces
//     …i…                   →          forall inner in ceil(|i| / pieces)
//                                        with i = outer * ceil(|i| / pieces) + inner < |i|
//                                        …i…
#pragma once
#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Divide {
  IndexVar i, outer, inner;
  Pieces pieces;

  static constexpr std::string_view name = "divide";
  static constexpr auto params =
      std::tuple{param::loop("i", &Divide::i), param::made("outer", &Divide::outer),
                 param::made("inner", &Divide::inner), param::value("pieces", &Divide::pieces)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& divide(IndexVar i, IndexVar outer, IndexVar inner, Pieces pieces) {
      return static_cast<Schedule&>(*this).add(Divide{i, outer, inner, pieces});
    }
  };
};

}  // namespace spdistal
