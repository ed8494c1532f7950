// divide(i, outer, inner, pieces): deals the values of i to a number of blocks, as evenly as blocks of one size can.
// divide(i, outer, inner, pieces, {B, C}): the same in blocks that each have an equal share of what B and C store.
//
//   forall i                         forall outer in pieces
//     …i…                   →          forall inner in ceil(|i| / pieces)
//                                        with i = outer * ceil(|i| / pieces) + inner < |i|
//                                        …i…
//
//   forall i                         forall outer in pieces
//     …i…                   →          forall inner in |cut(outer, B, C)|
//                                        with i = cut(outer, B, C) + inner
//                                        …i…
#pragma once
#include <vector>

#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Divide {
  IndexVar i, outer, inner;
  Pieces pieces;
  std::vector<TensorRef> weights = {};

  static constexpr std::string_view name = "divide";
  static constexpr auto params = std::tuple{
      param::loop("i", &Divide::i), param::made("outer", &Divide::outer), param::made("inner", &Divide::inner),
      param::value("pieces", &Divide::pieces), param::optional("weights", &Divide::weights)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& divide(IndexVar i, IndexVar outer, IndexVar inner, Pieces pieces, std::vector<TensorRef> weights = {}) {
      return static_cast<Schedule&>(*this).add(Divide{i, outer, inner, pieces, std::move(weights)});
    }
    Schedule& divide(IndexVar i, IndexVar outer, IndexVar inner, Pieces pieces, TensorRef weight) {
      return divide(i, outer, inner, std::move(pieces), std::vector{std::move(weight)});
    }
  };
};

}  // namespace spdistal
