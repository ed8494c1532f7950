// substitute({ii, j}, leaf): replaces the innermost loops by a routine of a library.
//
//   forall ii                        forall ii: substitute leaf
//     forall j              →          forall j
//       …                                …
#pragma once
#include <vector>

#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Substitute {
  std::vector<IndexVar> loops;
  LeafName leaf;

  static constexpr std::string_view name = "substitute";
  static constexpr auto params =
      std::tuple{param::loop("loops", &Substitute::loops), param::value("leaf", &Substitute::leaf)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& substitute(std::vector<IndexVar> loops, LeafName leaf) {
      return static_cast<Schedule&>(*this).add(Substitute{std::move(loops), std::move(leaf)});
    }
  };
};

}  // namespace spdistal
