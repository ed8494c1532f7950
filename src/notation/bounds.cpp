#include "notation/bounds.hpp"

#include <algorithm>

#include "base/require.hpp"

namespace spdistal::notation {

namespace {

// The variable that a relation splits into quotient and remainder: i = f / |j|, j = f % |j|.
std::optional<IndexVar> fused_by(const Relation& relation) {
  if (relation.replaced.size() != 2) return {};
  const IndexBinary* outer = relation.replaced[0].value.as<IndexBinary>();
  const IndexBinary* inner = relation.replaced[1].value.as<IndexBinary>();
  if (!outer || !inner || outer->op != IndexOp::Div || inner->op != IndexOp::Mod) return {};
  const ValueOf* f = outer->a.as<ValueOf>();
  const SizeOf* n = outer->b.as<SizeOf>();
  if (!f || !n || !(n->var == relation.replaced[1].var) || !(outer->a == inner->a) || !(outer->b == inner->b))
    return {};
  return f->var;
}

// The end of an interval has to fit too: larger numbers count as this one.
constexpr int64_t largest = INT64_MAX - 1;

Range between(int64_t least, int64_t most) { return {least, most + 1}; }
Range point(int64_t x) { return between(std::min(x, largest), std::min(x, largest)); }

int64_t sum(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_add_overflow(a, b, &out) ? largest : std::min(out, largest);
}
int64_t product(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out) ? largest : std::min(out, largest);
}

// What an operation gives for any two numbers of the intervals. Divisors are sizes: nothing is divided by those that are 0.
Range combined(IndexOp op, const Range& a, const Range& b) {
  if (a.size() <= 0 || b.size() <= 0) return {0, 0};
  int64_t a_most = a.hi - 1, b_least = std::max<int64_t>(b.lo, 1), b_most = std::max<int64_t>(b.hi - 1, 1);
  switch (op) {
    case IndexOp::Add: return between(sum(a.lo, b.lo), sum(a_most, b.hi - 1));
    case IndexOp::Mul: return between(product(a.lo, b.lo), product(a_most, b.hi - 1));
    case IndexOp::Div: return between(a.lo / b_most, a_most / b_least);
    case IndexOp::CeilDiv: return between(block_size(a.lo, b_most), block_size(a_most, b_least));
    case IndexOp::Min: return between(std::min(a.lo, b.lo), std::min(a_most, b.hi - 1));
    case IndexOp::Mod: break;
  }
  if (b_least == b_most && a.lo / b_least == a_most / b_least) return between(a.lo % b_least, a_most % b_least);
  return between(0, std::min(a_most, b_most - 1));
}

}  // namespace

Bounds::Bounds(const Provenance& provenance, Counts counts, Cuts cuts, Before before)
    : provenance_(provenance), counts_(std::move(counts)), cuts_(std::move(cuts)), before_(std::move(before)) {}

int64_t Bounds::size(const IndexVar& var) const {
  const Root* root = provenance_.root(var);
  return root ? root->size.value().value() : sizes(var).hi - 1;
}

Range Bounds::sizes(const IndexVar& var, const LoopValues& values) const {
  if (const Root* root = provenance_.root(var)) return point(root->size.value().value());
  const Relation* relation = provenance_.made_by(var);
  require(relation, "a variable is a root or made by a relation");
  for (const Made& made : relation->made)
    if (made.var == var) return interval(made.size, values);
  require(false, "a relation makes the variables it is found by");
  return {};
}

Range Bounds::of(const IndexVar& var, const LoopValues& values) const {
  int64_t n = sizes(var, values).hi - 1;
  if (auto known = values.find(var); known != values.end())
    return known->second < n ? Range{known->second, known->second + 1} : Range{n, n};
  const Relation* relation = provenance_.replaced_by(var);
  if (!relation) {
    const Root* root = provenance_.root(var);
    return root && root->fixed ? Range{*root->fixed, *root->fixed + 1} : Range{0, n};
  }
  Range r = interval(relation->value_of(var), values);
  if (r.size() <= 0 && !is_bounded(var, values)) return {0, n};
  int64_t lo = std::min(r.lo, n);
  return {lo, std::max(lo, std::min(r.hi, n))};
}

bool Bounds::is_bounded(const IndexVar& var, const LoopValues& values) const {
  return std::any_of(values.begin(), values.end(),
                     [&](const auto& loop) { return provenance_.bounded_by(var, loop.first); });
}

Range Bounds::interval(const IndexExpr& expr, const LoopValues& values) const {
  return match(
      expr, [&](const ValueOf& n) { return of(n.var, values); }, [&](const SizeOf& n) { return sizes(n.var, values); },
      [&](const IndexNumber& n) { return point(n.value.value().value()); },
      [&](const IndexBinary& n) {
        Range out = combined(n.op, interval(n.a, values), interval(n.b, values));
        // What is found in a block stays in it.
        if (auto* block = n.a.as<BlockStart>(); block && n.op == IndexOp::Add)
          out.hi = std::min(out.hi, blocks(*block, values).values.hi);
        if (auto* before = n.a.as<StoredBefore>(); before && n.op == IndexOp::Add)
          out.hi = std::min(out.hi, ends(before->levels, values).end.hi - 1);
        return out;
      },
      [&](const StoredCount& n) -> Range {
        if (n.levels.block) {
          auto [begin, end] = ends(n.levels, values);
          return between(std::max<int64_t>(0, end.lo - (begin.hi - 1)), std::max<int64_t>(0, end.hi - 1 - begin.lo));
        }
        require(bool(counts_), "who asks for positions says how many there are");
        int64_t count = counts_(n.levels);
        return n.levels.first == 0 ? point(count) : Range{0, count + 1};
      },
      [&](const StoredBefore& n) -> Range { return ends(n.levels, values).begin; },
      [&](const StoredCoordinate& n) -> Range {
        Range positions = interval(n.position, values);
        if (positions.size() <= 0) return {0, 0};
        return {0, INT64_MAX};  // any coordinate, clamped to the variable's size
      },
      [&](const BlockStart& n) -> Range {
        Blocks left = blocks(n, values);
        if (left.numbers.size() <= 0) return {0, 0};
        return between(left.values.lo, cuts_(n.blocks)[size_t(left.numbers.hi) - 1]);
      },
      [&](const BlockSize& n) -> Range {
        Range numbers = blocks({n.blocks, n.number}, values).numbers;
        const std::vector<int64_t>& cuts = cuts_(n.blocks);
        Range out = point(0);
        for (int64_t k = numbers.lo; k < numbers.hi; k++) {
          int64_t here = cuts[size_t(k) + 1] - cuts[size_t(k)];
          out = k == numbers.lo ? point(here) : between(std::min(out.lo, here), std::max(out.hi - 1, here));
        }
        return out;
      });
}

// Of nothing there is nothing, wherever it would begin.
Bounds::Ends Bounds::ends(const Levels& levels, const LoopValues& values) const {
  require(bool(before_), "who asks for the positions of blocks says where they begin");
  Range first = interval(levels.block->first, values), end = interval(levels.block->end, values);
  if (first.size() <= 0 || end.size() <= 0) return {{0, 1}, {0, 1}};
  auto before = [&](const Range& coordinates) {
    return Range{before_(levels, coordinates.lo).lo, before_(levels, coordinates.hi - 1).hi};
  };
  return {before(first), before(end)};
}

Range Bounds::positions_of_block(const IndexVar& part, const LoopValues& values) const {
  for (const Relation& relation : provenance_.relations)
    if (auto* stored = relation.replaced[0].value.as<StoredCoordinate>())
      if (stored->levels.block && stored->levels.block->part == part) {
        auto [begin, end] = ends(stored->levels, values);
        return {begin.lo, std::max(begin.lo, end.lo)};
      }
  require(false, "positions are asked for of a block that is walked");
  return {};
}

// Numbers may lie beyond the last block, where nothing is left.
Bounds::Blocks Bounds::blocks(const BlockStart& block, const LoopValues& values) const {
  require(bool(cuts_), "who asks for blocks of weight says where they begin");
  const std::vector<int64_t>& cuts = cuts_(block.blocks);
  Range numbers = interval(block.number, values);
  auto last = int64_t(cuts.size()) - 1;
  numbers = {std::min(numbers.lo, last), std::min(numbers.hi, last)};
  return {numbers, {cuts[size_t(numbers.lo)], cuts[size_t(numbers.hi)]}};
}

Bounds::Blocks Bounds::blocks(const IndexVar& var, const LoopValues& values) const {
  const Relation* relation = provenance_.replaced_by(var);
  require(relation && relation->block(), "blocks are asked for of a variable that is cut by weight");
  return blocks(*relation->block(), values);
}

std::vector<FusedInterval> Bounds::fused(const LoopValues& values) const {
  std::vector<FusedInterval> out;
  // The roots that a variable is made of by fusions alone; empty where something else was done to them.
  std::function<std::vector<IndexVar>(const IndexVar&)> roots_of = [&](const IndexVar& var) -> std::vector<IndexVar> {
    for (const Relation& relation : provenance_.relations)
      if (fused_by(relation) == var) {
        std::vector<IndexVar> parts = roots_of(relation.replaced[0].var);
        std::vector<IndexVar> inner = roots_of(relation.replaced[1].var);
        if (parts.empty() || inner.empty()) return {};
        parts.insert(parts.end(), inner.begin(), inner.end());
        return parts;
      }
    if (provenance_.root(var)) return {var};
    return {};
  };
  for (const Relation& relation : provenance_.relations) {
    std::optional<IndexVar> f = fused_by(relation);
    if (!f) continue;
    const Relation* above = provenance_.replaced_by(*f);
    if (above && fused_by(*above)) continue;  // part of a larger fusion
    Range range = of(*f, values);
    if (range == Range{0, size(*f)}) continue;
    std::vector<IndexVar> vars = roots_of(*f);
    if (!vars.empty()) out.push_back({std::move(vars), range});
  }
  return out;
}

}  // namespace spdistal::notation
