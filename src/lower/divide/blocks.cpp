#include "lower/divide/blocks.hpp"

#include <algorithm>
#include <limits>

#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// Tells how much operands store before a value of the variable that indexes their first levels.
class Scales {
 public:
  Scales(Context& c, const std::vector<int>& operands) : c_(c) {
    for (int k : operands) weighed_.push_back({k + 1, stored_at_first(k + 1)});
  }

  Expr before(const Expr& value) {
    Expr sum = ir::int64(0);
    for (const Weighed& operand : weighed_) sum = sum + stored_before(operand, value);
    return sum;
  }

 private:
  struct Weighed {
    int tensor;
    std::optional<Segment> stored;  // positions of the first level, where values are looked for among them
  };

  std::optional<Segment> stored_at_first(int tensor) {
    if (stores_all(c_.functions(tensor, 0))) return std::nullopt;
    KernelLevel level = c_.level_of(tensor, 0);
    Segment all = children_of(c_.functions(tensor, 0), level, root);
    return Segment{c_.f.constant(level.name + "_from", ir::wide(all.begin)),
                   c_.f.constant(level.name + "_to", ir::wide(all.end))};
  }
  // The first position of the first level at or after a value, which a piece need not have.
  Expr first_position(const Weighed& operand, const Expr& value) {
    if (operand.stored)
      return c_.functions(operand.tensor, 0).seek(c_.level_of(operand.tensor, 0), root, *operand.stored, value);
    if (!c_.on_pieces()) return value;
    return ir::min(ir::max(value - c_.first_coordinate(operand.tensor, 0), 0), c_.dense_size(operand.tensor, 0));
  }
  Expr stored_before(const Weighed& operand, const Expr& value) {
    Expr position = first_position(operand, value);
    for (size_t level = 1; level < c_.tensor_var(operand.tensor).order(); level++)
      if (auto first = c_.functions(operand.tensor, level).first)
        position = first(c_.level_of(operand.tensor, level), position);
    return ir::wide(position);
  }

  inline static const Above root{ir::int64(0)};
  Context& c_;
  std::vector<Weighed> weighed_;
};

// Does a loop around the kernel leave only some of the blocks, or just the one?
bool is_cut_outside(const Context& c, const BlockStart& block) {
  return c.on_pieces() && std::any_of(c.options.outer.begin(), c.options.outer.end(), [&](const IndexVar& loop) {
           bool cuts = false;
           each<ValueOf>(block.number, [&](const ValueOf& n) { cuts |= c.provenance.bounded_by(n.var, loop); });
           return cuts;
         });
}
bool is_known_outside(const Context& c, const BlockStart& block) {
  bool known = true;
  each<ValueOf>(block.number, [&](const ValueOf& n) { known &= c.provenance.determined(n.var, c.options.outer); });
  return known;
}

}  // namespace

Segment cut_by_weight(Context& c, const std::string& name, const std::vector<int>& operands, const Segment& range,
                      const Expr& part, const Expr& parts) {
  Scales scales(c, operands);
  Var before = c.f.constant(name + "_before", scales.before(range.begin));
  Var stored = c.f.constant(name + "_stored", scales.before(range.end) - before);
  // The first value, from one on, for which the weights before and through it, about twice its middle, are no less.
  auto search = [&](const std::string& which, const Expr& first, const Expr& least) {
    Var goal = c.f.constant(which + "_least", least);
    Var from = c.f.variable(which + "_from", first), to = c.f.variable(which + "_to", range.end);
    c.f.loop_while(Expr(from) < to, [&] {
      Var middle = c.f.constant("middle", from + (Expr(to) - from) / 2);
      Var lighter = c.f.constant("lighter", scales.before(middle) + scales.before(Expr(middle) + 1) < goal);
      c.f.assign(from, ir::select(lighter, Expr(middle) + 1, from));
      c.f.assign(to, ir::select(lighter, to, middle));
    });
    return c.f.constant(which, from);
  };
  auto least = [&](const Expr& of) { return Expr(before) * 2 + (Expr(stored) * of * 2 + parts - 1) / parts; };
  Expr begin = search(name + "_start", range.begin, least(part));
  constexpr int64_t all = std::numeric_limits<int64_t>::max();
  Expr end = search(name + "_stop", begin, ir::select(part + 1 < parts, least(part + 1), ir::int64(all)));
  return {begin, end};
}

std::optional<Segment> find_block(Context& c, const Scope& s, const BlockStart& block) {
  bool known = true;
  each<ValueOf>(block.number, [&](const ValueOf& n) { known &= s.knows(n.var); });
  if (!known) return std::nullopt;
  const IndexVar& var = block.blocks.var;
  std::string name = c.name(var);
  using Which = BlocksLeft::Which;
  auto left = [&](const char* what, Which which) { return c.number(name + what, BlocksLeft{var, which}); };
  Segment values{ir::int64(0), size(c, s, var)};
  Expr number = index(c, s, block.number), count = index(c, s, notation::number(block.blocks.count));
  if (is_cut_outside(c, block)) {
    values = {left("_first", Which::FirstValue), left("_last", Which::EndValue)};
    if (is_known_outside(c, block)) return values;
    Expr before = left("_block", Which::FirstBlock);
    number = number - before;
    count = left("_blocks", Which::EndBlock) - before;
  }
  std::vector<int> operands;
  for (const Access& access : block.blocks.operands) operands.push_back(c.find_operand(access));
  // Named values: they are used in every step of the search.
  Var part = c.f.constant(name + "_part", number), parts = c.f.constant(name + "_parts", count);
  return cut_by_weight(c, name, operands, values, part, parts);
}

}  // namespace spdistal::lower
