// Nothing inside a loop is other than zero: what has its place is so before, all of it that the loop would come to.
#include "lower/iterate/pattern.hpp"
#include "lower/questions.hpp"
#include "lower/result/strategy.hpp"

namespace spdistal::lower {

void emit(Context& c, const Scope& s, const ForallLoop& loop, const NoPattern&) {
  if (!has_places(c) || c.start == notation::Start::Old || s.elements.sum || !holds_result(c, loop.body())) return;
  if (!s.elements.zeroed) c.kernel.fill_first = true;
  for (const IndexVar& var : c.lhs.indices)
    if (!s.knows(var)) c.sweep({var});
}

}  // namespace spdistal::lower
