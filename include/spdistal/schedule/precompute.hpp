// precompute(e, {j}, {jw}, w): computes a sub-expression into a workspace before it is used. Loops over variables that
// only the sub-expression uses move to the workspace, which then holds sums: of all of them, where no loop is named.
//
//   forall j                         where
//     a(i,j) += e(j) * x    →          forall j
//                                        a(i,j) += w(j) * x
//                                    w from
//                                      forall jw
//                                        w(jw) = e(jw)
#pragma once
#include <vector>

#include "spdistal/schedule/param.hpp"

namespace spdistal {

struct Precompute {
  Expression expression;
  std::vector<IndexVar> loops, copies;
  WorkspaceName workspace;

  static constexpr std::string_view name = "precompute";
  static constexpr auto params =
      std::tuple{param::value("expression", &Precompute::expression), param::any_loops("loops", &Precompute::loops),
                 param::made("copies", &Precompute::copies), param::value("workspace", &Precompute::workspace)};
  Result<> check(const notation::ConcreteStatement& statement) const;
  notation::ConcreteStatement apply(const notation::ConcreteStatement& statement) const;

  template <class Schedule>
  struct Fluent {
    Schedule& precompute(Expression expression, std::vector<IndexVar> loops, std::vector<IndexVar> copies,
                         WorkspaceName workspace) {
      return static_cast<Schedule&>(*this).add(
          Precompute{std::move(expression), std::move(loops), std::move(copies), std::move(workspace)});
    }
  };
};

}  // namespace spdistal
