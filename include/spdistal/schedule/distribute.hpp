// distribute(io): runs the iterations of the outermost loops on different pieces of the machine; the k-th distributed
// loop goes over the machine's k-th dimension.
//
//   forall io               →        forall io: distribute
#pragma once
#include <vector>

#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Distribute {
  std::vector<IndexVar> loops;

  static constexpr std::string_view name = "distribute";
  static constexpr auto params = std::tuple{param::loop("loops", &Distribute::loops)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& distribute(IndexVar i) { return distribute(std::vector{i}); }
    Schedule& distribute(std::vector<IndexVar> loops) {
      return static_cast<Schedule&>(*this).add(Distribute{std::move(loops)});
    }
  };
};

}  // namespace spdistal
