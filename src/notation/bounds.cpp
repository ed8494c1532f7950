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

}  // namespace

Bounds::Bounds(const Provenance& provenance, Counts counts) : provenance_(provenance), counts_(std::move(counts)) {}

int64_t Bounds::size(const IndexVar& var) const {
  if (const Root* root = provenance_.root(var)) return root->size.value().value();
  const Relation* relation = provenance_.made_by(var);
  require(relation, "a variable is a root or made by a relation");
  for (const Made& made : relation->made)
    if (made.var == var) return number(made.size);
  require(false, "a relation makes the variables it is found by");
  return 0;
}

// Sizes only.
int64_t Bounds::number(const IndexExpr& expr) const {
  Range r = interval(expr, {});
  require(r.size() == 1, "sizes do not depend on the values of loops");
  return r.lo;
}

Range Bounds::of(const IndexVar& var, const LoopValues& values) const {
  int64_t n = size(var);
  if (auto known = values.find(var); known != values.end())
    return known->second < n ? Range{known->second, known->second + 1} : Range{n, n};
  const Relation* relation = provenance_.replaced_by(var);
  if (!relation) {
    const Root* root = provenance_.root(var);
    return root && root->fixed ? Range{*root->fixed, *root->fixed + 1} : Range{0, n};
  }
  Range r = interval(relation->value_of(var), values);
  int64_t lo = std::min(r.lo, n);
  return {lo, std::max(lo, std::min(r.hi, n))};
}

Range Bounds::interval(const IndexExpr& expr, const LoopValues& values) const {
  auto point = [](int64_t x) { return Range{x, x + 1}; };
  return match(
      expr, [&](const ValueOf& n) { return of(n.var, values); }, [&](const SizeOf& n) { return point(size(n.var)); },
      [&](const Number& n) { return point(n.value.value().value()); },
      [&](const IndexBinary& n) -> Range {
        Range a = interval(n.a, values), b = interval(n.b, values);
        if (a.size() <= 0 || b.size() <= 0) return {0, 0};
        switch (n.op) {
          case IndexOp::Add: return {a.lo + b.lo, a.hi + b.hi - 1};
          case IndexOp::Mul: {
            // Beyond 63 bits is beyond every size.
            int64_t lo, hi;
            if (__builtin_mul_overflow(a.lo, b.lo, &lo)) return {INT64_MAX - 1, INT64_MAX};
            if (__builtin_mul_overflow(a.hi - 1, b.hi - 1, &hi) || hi == INT64_MAX) return {lo, INT64_MAX};
            return {lo, hi + 1};
          }
          default: break;
        }
        require(b.size() == 1, "divisors are sizes");
        int64_t d = std::max<int64_t>(b.lo, 1);
        if (n.op == IndexOp::Div) return {a.lo / d, (a.hi - 1) / d + 1};
        if (n.op == IndexOp::CeilDiv) return {block_size(a.lo, d), block_size(a.hi - 1, d) + 1};
        if (a.lo / d == (a.hi - 1) / d) return {a.lo % d, (a.hi - 1) % d + 1};
        return {0, d};
      },
      [&](const StoredCount& n) {
        require(bool(counts_), "who asks for positions says how many there are");
        return point(counts_(n.levels));
      },
      [&](const StoredCoordinate& n) -> Range {
        Range positions = interval(n.position, values);
        if (positions.size() <= 0) return {0, 0};
        return {0, INT64_MAX};  // any coordinate, clamped to the variable's size
      });
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
