// Every element has its place: the kernel writes values. A piece of the result may have more of them than the loops come
// to.

#include "lower/bind.hpp"
#include "lower/questions.hpp"
#include "lower/result/strategy.hpp"
#include "lower/values.hpp"
#include "lower/visit.hpp"
#include "notation/check.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// The values of a variable that dense loops inside the kernel visit; none where they are not a range.
std::optional<Segment> covered(Context& c, const Scope& s, const IndexVar& var) {
  if (auto known = s.values.find(var); known != s.values.end()) return Segment{known->second, known->second + 1};
  if (!depends_on_outer(c, var)) return Segment{ir::int64(0), size(c, s, var)};
  const Relation* relation = c.provenance.replaced_by(var);
  if (!relation || relation->replaced.size() != 1) return std::nullopt;
  std::vector<IndexVar> needs = relation->needs();
  for (const IndexVar& part : needs) {
    std::optional<Offset> offset = offset_of(relation->replaced[0].value, part);
    if (!offset) continue;
    if (!std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return v == part || s.knows(v); })) continue;
    if (relation->block() && !depends_on_outer(c, part)) return s.blocks.at(var);
    std::optional<Segment> range = covered(c, s, part);
    if (!range) return std::nullopt;
    Expr start = offset->added ? index(c, s, *offset->added) : ir::int64(0), end = range->end + start;
    if (relation->replaced[0].guard == Guard::Checked) end = ir::min(end, size(c, s, var));
    return Segment{range->begin + start, end};
  }
  return std::nullopt;
}

// Do dense loops come to every element of the result's piece? None where that is not to be had.
std::optional<Expr> covers_result(Context& c, const Scope& s) {
  if (outer_may_lie_beyond(c) || is_diagonal(c.lhs)) return std::nullopt;
  Expr all = ir::literal(ir::Scalar::of(true));
  std::vector<IndexVar> vars = storage_order(c.lhs);
  for (size_t level = 0; level < vars.size(); level++) {
    if (!depends_on_outer(c, vars[level])) continue;
    std::optional<Segment> range = covered(c, s, vars[level]);
    if (!range) return std::nullopt;
    Expr first = c.first_coordinate(0, level);
    all = all && ir::equal(range->begin, first) && ir::equal(range->end, first + c.dense_size(0, level));
  }
  return all;
}

void fill_all(Context& c) {
  std::function<void(size_t, const Expr&)> nest = [&](size_t level, const Expr& position) {
    if (level == c.lhs.tensor.order()) return c.f.store(c.vals_array(0), position, ir::literal(c.background));
    c.f.loop("p", ir::int64(0), c.dense_size(0, level),
             [&](const Var& p) { nest(level + 1, level == 0 ? Expr(p) : position * c.stride(0, level) + p); });
  };
  nest(0, ir::int64(0));
}

bool suits(Context& c) { return c.lhs.tensor.format().is_dense(); }

void emit(Context& c) {
  inside_outer_loops(c, outermost(c), [&](const Scope& s) {
    c.vals_array(0);
    Scope inside = s;
    inside.elements.covered = !is_diagonal(c.lhs);
    if (!c.on_pieces() || c.start == Start::Old) return visit(c, inside, c.statement.body);
    std::optional<Expr> covers = covers_result(c, s);
    inside.elements.covered = covers.has_value();
    ir::Stmt body = c.f.collect([&] { visit(c, inside, c.statement.body); });
    bool always = covers && ir::constant(*covers);
    if (covers && !always && !c.kernel.fill_first) c.f.when(!*covers, [&] { fill_all(c); });
    c.f.add(body);
  });
}

Expr position(Context& c, const Scope& s) {
  Expr at = ir::int64(0);
  std::vector<IndexVar> vars = storage_order(c.lhs);
  for (size_t level = 0; level < vars.size(); level++) at = c.position_of(0, level, at, s.values.at(vars[level]));
  return at;
}

}  // namespace

const Strategy in_place{
    .name = "in place", .assembly = Assembly::Dense, .suits = suits, .emit = emit, .position = position};

}  // namespace spdistal::lower
