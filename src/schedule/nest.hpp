// What several commands do with the loops of a statement.
#pragma once
#include "notation/concrete.hpp"

namespace spdistal::schedule {

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
