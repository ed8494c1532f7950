// communicate({a, B, c}, io): fetches what one iteration of the loop needs of the tensors at its start. The loop is a
// distributed one, or one between those and the leaf (which then runs in steps).
//
//   forall io: distribute   →        forall io: distribute, communicate {a, B, c}
#pragma once
#include <vector>

#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Communicate {
  std::vector<TensorRef> tensors;
  IndexVar at;

  static constexpr std::string_view name = "communicate";
  static constexpr auto params =
      std::tuple{param::value("tensors", &Communicate::tensors), param::loop("at", &Communicate::at)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& communicate(std::vector<TensorRef> tensors, IndexVar at) {
      return static_cast<Schedule&>(*this).add(Communicate{std::move(tensors), at});
    }
    Schedule& communicate(TensorRef tensor, IndexVar at) { return communicate(std::vector{std::move(tensor)}, at); }
  };
};

}  // namespace spdistal
