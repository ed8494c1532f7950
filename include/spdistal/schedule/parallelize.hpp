// parallelize(i, unit, race): runs the iterations of a loop side by side.
//
//   forall i                →        forall i: parallelize unit
#pragma once
#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Parallelize {
  IndexVar i;
  Unit unit;
  Race race = Race::Auto;

  static constexpr std::string_view name = "parallelize";
  static constexpr auto params = std::tuple{param::loop("i", &Parallelize::i), param::value("unit", &Parallelize::unit),
                                            param::optional("race", &Parallelize::race)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& parallelize(IndexVar i, Unit unit, Race race = Race::Auto) {
      return static_cast<Schedule&>(*this).add(Parallelize{i, unit, race});
    }
  };
};

}  // namespace spdistal
