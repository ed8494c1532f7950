// reorder(i, k, j): puts loops of one nest into the order given; loops that are not named stay where they are.
//
//   forall i                         forall i
//     forall j              →          forall k
//       forall k                         forall j
#pragma once
#include <vector>

#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Reorder {
  std::vector<IndexVar> order;

  static constexpr std::string_view name = "reorder";
  static constexpr auto params = std::tuple{param::loop("order", &Reorder::order)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& reorder(std::vector<IndexVar> order) {
      return static_cast<Schedule&>(*this).add(Reorder{std::move(order)});
    }
  };
};

}  // namespace spdistal
