#include "lower/iterate/loop.hpp"

#include <algorithm>

#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

FoundValues ForallLoop::at(const Expr& value) const {
  FoundValues out{{var, value}};
  for (const auto& [lower, distance] : below) out.emplace_back(lower, value - distance);
  return out;
}

ForallLoop loop_of(Context& c, const Scope& s, const Forall& forall) {
  ForallLoop loop{forall, forall.var, {ir::int64(0), ir::int64(0)}, Reach::Whole};
  IndexVar& top = loop.var;
  if (const Root* root = c.provenance.root(top); root && root->fixed) {
    loop.range = {ir::int64(*root->fixed), ir::int64(*root->fixed + 1)};
    loop.reach = Reach::Part;
  } else {
    loop.range.end = size(c, s, top);
  }
  while (const Relation* relation = c.provenance.made_by(top)) {
    const Replaced& up = relation->replaced[0];
    std::optional<Offset> offset = offset_of(up.value, top);
    if (relation->replaced.size() != 1 || !offset) break;
    std::vector<IndexVar> needs = relation->needs();
    if (!std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return v == top || s.knows(v); })) break;
    Expr start =
        offset->added ? Expr(c.f.constant(c.name(up.var) + "_start", index(c, s, *offset->added))) : ir::int64(0);
    bool whole_block = relation->block() && loop.below.empty();
    for (auto& [var, distance] : loop.below) distance = distance + start;
    loop.below.emplace_back(top, start);
    loop.range = whole_block ? s.blocks.at(up.var) : Segment{loop.range.begin + start, loop.range.end + start};
    if (up.guard == Guard::Checked)
      loop.range.end = Expr(c.f.constant(c.name(up.var) + "_end", ir::min(loop.range.end, size(c, s, up.var))));
    if (offset->added) loop.reach = Reach::Part;
    top = up.var;
  }
  return loop;
}

}  // namespace spdistal::lower
