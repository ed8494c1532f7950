// unroll(i, factor): writes out a number of iterations per turn of the loop.
//
//   forall i                →        forall i: unroll factor
#pragma once
#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Unroll {
  IndexVar i;
  int64_t factor;

  static constexpr std::string_view name = "unroll";
  static constexpr auto params = std::tuple{param::loop("i", &Unroll::i), param::value("factor", &Unroll::factor)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& unroll(IndexVar i, int64_t factor) { return static_cast<Schedule&>(*this).add(Unroll{i, factor}); }
  };
};

}  // namespace spdistal
