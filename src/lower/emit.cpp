// Emitting a loop: divided among threads or not, in vectors or not; and what becomes known inside it.
#include <fmt/format.h>

#include <algorithm>

#include "lower/lowerer.hpp"
#include "notation/races.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

bool Lowerer::can_run_in_parallel(const Forall& loop) const {
  if (!loop.tags.parallel || loop.tags.parallel->unit != Unit::CPUThread || in_parallel_) return false;
  // Nothing adds to a bool atomically.
  if (result_type() == ScalarType::Bool && find_race(statement_, loop.var)) return false;
  // Temporaries from outside are written by one thread only.
  bool own = true;
  std::set<TensorVar> inside;
  each<Where>(loop.body,
              [&](const Where& w) { each<Assign>(w.producer, [&](const Assign& a) { inside.insert(a.lhs.tensor); }); });
  each<Assign>(loop.body, [&](const Assign& a) {
    own &= a.lhs.tensor.origin() == Origin::Declared || inside.contains(a.lhs.tensor);
  });
  return own;
}

const Var& Lowerer::shares() {
  if (!shares_) shares_ = f_.shares();
  return *shares_;
}

void Lowerer::range_loop(const Forall& loop, const std::string& name, const Segment& range,
                         const std::optional<Weight>& weight, const std::function<void(const Expr& first)>& before,
                         const std::function<void(const Var&)>& fill) {
  range_loop(loop, name, range, weight, [&](const Segment& mine, const ir::LoopOptions& options) {
    before(mine.begin);
    f_.loop(name, mine.begin, mine.end, fill, options);
  });
}

void Lowerer::range_loop(const Forall& loop, const std::string& name, const Segment& range,
                         const std::optional<Weight>& weight, const Walk& walk) {
  ir::LoopOptions options;
  options.unroll = int(loop.tags.unroll);
  bool races = find_race(statement_, loop.var).has_value();
  bool asked = loop.tags.parallel && loop.tags.parallel->unit == Unit::CPUVector;
  bool by_itself = plain_range_ && !loop.tags.parallel && !races;
  // A sum has a variable of its own for each vector.
  bool sums = sum_ || (loop.body.is<Assign>() && temporary_sum(*loop.body.as<Assign>()));
  if (loop.body.is<Assign>() && plain_range_ && (by_itself || asked) && (!races || sums) && !racing_ &&
      writes_in_place(loop))
    options.kind = ir::LoopKind::Vector;

  auto by_weight = [&](const Segment& all, const Expr& part, const Expr& parts) -> Expr {
    Expr first = all.begin - weight->first, last = all.end - weight->first;
    Expr w0 = ir::cast(ScalarType::Int64, ir::load(weight->sums, first)),
         w1 = ir::cast(ScalarType::Int64, ir::load(weight->sums, last));
    Expr target = ir::cast(weight->sums.type.scalar, w0 + (w1 - w0) * part / parts);
    Expr found = ir::lower_bound(weight->sums, first, last, target) + weight->first;
    // Blocks past the end have no weights.
    return ir::constant_integer(range.begin) == 0 && !on_pieces() ? found
                                                                  : ir::select(all.end <= all.begin, all.end, found);
  };
  auto walk_share = [&](const Segment& mine, bool) { walk(mine, options); };
  divide(loop, name, range, weight ? Cut(by_weight) : Cut(), walk_share);
}

Expr Lowerer::evenly(const Segment& range, const Expr& part, const Expr& parts) {
  return range.begin + (range.end - range.begin) * part / parts;
}

void Lowerer::divide(const Forall& loop, const std::string& name, const Segment& range, const Cut& cut,
                     const std::function<void(const Segment& mine, bool divided)>& walk) {
  auto share = [&](const Expr& t, const Expr& parts) -> Segment {
    Segment all{f_.constant(name + "_from", range.begin), f_.constant(name + "_to", range.end)};
    auto begin_of = [&](const Expr& part) { return cut ? cut(all, part, parts) : evenly(all, part, parts); };
    Expr end = begin_of(t + 1);
    if (cut) end = ir::select(ir::equal(t + 1, parts), all.end, end);
    return {f_.constant(name + "_begin", begin_of(t)), f_.constant(name + "_end", end)};
  };
  if (chunk_) {
    Expr t = *chunk_, parts = *chunks_;
    chunk_.reset();
    Segment mine = share(t, parts);
    auto inside = [&] { walk(mine, true); };
    if (around_share_) around_share_(mine, inside);
    else inside();
    chunk_ = t;
    return;
  }
  if (!can_run_in_parallel(loop)) {
    walk(range, false);
    return;
  }
  bool races = find_race(statement_, loop.var).has_value(), saved = racing_;
  racing_ = racing_ || races;
  if (races) racing_loop_ = loop.var;
  in_parallel_ = true;
  f_.parallel("t", shares(), [&](const Var& t) {
    Segment mine = share(t, shares());
    if (sum_in_threads_) sum_ = f_.variable("sum", ir::zero(ir::value_of(sum_type())));
    walk(mine, true);
    if (sum_in_threads_) {
      Expr total = *sum_;
      sum_.reset();
      where_element_is([&] { store(vals_array(0), result_position(), total, ir::StoreMode::AtomicAdd); });
    }
  });
  in_parallel_ = false;
  racing_ = saved;
  racing_loop_.reset();
}

// Does the assignment in an innermost loop go to elements that have their place? Lists and cursors grow one by one.
bool Lowerer::writes_in_place(const Forall& loop) const {
  const Assign* assign = loop.body.as<Assign>();
  if (assign->lhs.tensor == lhs_.tensor)
    return kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared || (sum_ && !any_);
  return assign->lhs.tensor.format().is_dense() && (!assign->lhs.indices.empty() || temporary_sum(*assign));
}

// Is it a sum into a temporary that is one number?
bool Lowerer::temporary_sum(const Assign& assign) const {
  return assign.lhs.indices.empty() && assign.op == AssignOp::Add && temporaries_.contains(assign.lhs.tensor);
}

// A loop that cannot be divided is run whole by the first share.
void Lowerer::once_for_all_shares(const std::function<void()>& fill) {
  if (!chunk_) return fill();
  Expr t = *chunk_;
  chunk_.reset();
  f_.when(ir::equal(t, 0), fill);
  chunk_ = t;
}

std::vector<std::pair<IndexVar, Expr>> Lowerer::with_below(const IndexVar& top, const Expr& value) const {
  std::vector<std::pair<IndexVar, Expr>> out{{top, value}};
  for (const auto& [var, distance] : below_) out.emplace_back(var, value - distance);
  return out;
}

void Lowerer::bind(std::vector<std::pair<IndexVar, Expr>> found, const std::function<void()>& fill) {
  std::map<IndexVar, Expr> saved_values = values_;
  std::vector<AccessState> saved_states = states_;
  std::vector<std::pair<IndexVar, Expr>> saved_below = below_;
  plain_range_ = false;
  for (auto& [var, value] : found) values_.insert_or_assign(var, value);
  derive([&] {
    settle();
    // Levels of the result that its new coordinates belong to are closed when what is inside is done.
    std::vector<IndexVar> fresh;
    if (!in_producer_)
      for (int dim : lhs_.tensor.format().mode_order())
        if (const IndexVar& var = lhs_.indices[size_t(dim)]; values_.contains(var) && !saved_values.contains(var))
          fresh.push_back(var);
    std::function<void(size_t)> open = [&](size_t next) {
      if (next == fresh.size()) fill();
      else open_level(fresh[next], [&] { open(next + 1); });
    };
    open(0);
  });
  values_ = std::move(saved_values);
  states_ = std::move(saved_states);
  below_ = std::move(saved_below);
}

// Finds variables that follow from those known; where one may lie beyond its size, the rest is guarded, and where one is
// found from positions, not all of its values are.
void Lowerer::derive(const std::function<void()>& fill) {
  bool saved = covering_;
  const std::vector<Relation>& relations = provenance_.relations;
  for (auto relation = relations.rbegin(); relation != relations.rend(); ++relation) {
    auto known = [&](const IndexVar& v) { return values_.contains(v); };
    std::vector<IndexVar> needs = relation->needs();
    auto done = [&](const Replaced& r) { return known(r.var); };
    if (std::all_of(relation->replaced.begin(), relation->replaced.end(), done)) continue;
    if (!std::all_of(needs.begin(), needs.end(), known)) continue;
    if (auto* stored = relation->replaced[0].value.as<StoredCoordinate>()) {
      // The variables of the levels are what is asked for; the fused one is never read.
      if (known(stored->levels.var(stored->levels.last))) continue;
      int tensor = find_operand(stored->levels.access) + 1;
      Expr p = f_.constant("p" + tensor_name(tensor), index(stored->position));
      for (const auto& [var, value] :
           enter_position(relation->made[0].var, stored->levels, p, [&](size_t level, const Expr&position) -> Expr {
             return f_.constant(fmt::format("p{}{}", tensor_name(tensor), level),
                                search_parent(tensor, level, position));
           }))
        values_.insert_or_assign(var, value);
      covering_ = false;
      continue;
    }
    std::optional<Expr> inside;
    for (const Replaced& r : relation->replaced) {
      if (known(r.var)) continue;
      Expr value = f_.constant(name(r.var), index(r.value));
      values_.insert_or_assign(r.var, value);
      sweep({r.var});
      if (r.guard != Guard::Checked) continue;
      Expr check = value < size(r.var);
      inside = inside ? *inside && check : check;
    }
    if (!inside) continue;
    f_.when(*inside, [&] { derive(fill); });
    covering_ = saved;
    return;
  }
  fill();
  covering_ = saved;
}

}  // namespace spdistal::lower
