// split(i, outer, inner, size): cuts the values of i into blocks of a size.
//
//   forall i                         forall outer in ceil(|i| / size)
//     …i…                   →          forall inner in size
//                                        with i = outer * size + inner < |i|
//                                        …i…
#pragma once
#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Split {
  IndexVar i, outer, inner;
  int64_t size;

  static constexpr std::string_view name = "split";
  static constexpr auto params = std::tuple{param::loop("i", &Split::i), param::made("outer", &Split::outer),
                                            param::made("inner", &Split::inner), param::value("size", &Split::size)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& split(IndexVar i, IndexVar outer, IndexVar inner, int64_t size) {
      return static_cast<Schedule&>(*this).add(Split{i, outer, inner, size});
    }
  };
};

}  // namespace spdistal
