// Questions about loops and the variables they determine that several commands ask.
#pragma once
#include <vector>

#include "notation/concrete.hpp"

namespace spdistal::schedule {

/// Is the value of a loop variable needed to find that of `var`?
bool is_found_from(const notation::Provenance& provenance, const IndexVar& var, const IndexVar& loop);

/// Is the value of `var` determined by these loop variables?
bool determined(const notation::Provenance& provenance, const IndexVar& var, const std::vector<IndexVar>& loops);

/// The statement with the loop over var changed by f(tags).
template <class F>
notation::ConcreteStatement tag_loop(notation::ConcreteStatement statement, const IndexVar& var, F&& f) {
  statement.body = notation::replace_loop(statement.body, var, [&](notation::Forall loop) {
    f(loop.tags);
    return loop;
  });
  return statement;
}

}  // namespace spdistal::schedule
