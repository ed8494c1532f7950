// Makes room for as much as there can be, of which the system gives only what is touched, fills, and keeps what there is.
#include <fmt/format.h>

#include "lower/result/appended.hpp"

namespace spdistal::lower {

using ir::Expr;
using ir::Var;

void fill_at_once(Context& c, const Scope& s, const Rooms& rooms, const MadeLevels& made, const std::vector<Expr>& most,
                  const WalkLoops& walk) {
  make_room(c, s, made, most);
  Scope inside = s;
  std::vector<Var>& cursors = inside.assembling.cursors;
  for (size_t k = 0; k < made.count; k++) cursors.push_back(c.f.variable(fmt::format("at{}", k + 1), ir::int64(0)));
  inside = with_workspaces(c, inside, rooms);
  inside.threads = Parallelism::Taken;  // there is one
  walk(inside);
  for (size_t k = 0; k < made.count; k++) {
    Var pos = made_weight(c, s, made.dense + k);
    if (made.dense + k == 0) c.f.store(pos, 1, ir::cast(pos.type.scalar, cursors[0]));
    if (k > 0) c.f.shrink(pos, Expr(cursors[k - 1]) + 1);
    for (const Var& array : made_arrays(c, s, made.dense + k)) c.f.shrink(array, cursors[k]);
  }
  c.f.shrink(c.vals_array(0), cursors.back());
  close_gaps(c, s, made);
  finish_levels(c, s, made, std::vector<Expr>(cursors.begin(), cursors.end()));
}

}  // namespace spdistal::lower
