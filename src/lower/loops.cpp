// Which loop is emitted for a forall: over a range, over what one tensor stores, over a merge of several, over positions.
#include <fmt/format.h>

#include <limits>

#include "base/require.hpp"
#include "lower/lowerer.hpp"
#include "notation/races.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

bool is_plain_sum(const IndexExpr& value, const IndexVar& var, std::optional<IndexExpr>& offset) {
  if (auto* same = value.as<ValueOf>()) return same->var == var;
  auto* sum = value.as<IndexBinary>();
  if (!sum || sum->op != IndexOp::Add) return false;
  auto* last = sum->b.as<ValueOf>();
  if (!last || last->var != var) return false;
  offset = sum->a;
  return true;
}

bool is_innermost(const Forall& loop) { return loop.body.is<Assign>(); }

constexpr int first_workspace_atom = 1 << 20;

}  // namespace

void Lowerer::visit(const Stmt& stmt) {
  match(
      stmt, [&](const Forall& n) { visit_loop(n); }, [&](const Where& n) { visit_where(n); },
      [&](const Assign& n) { visit_assign(n); },
      [&](const Sequence& n) {
        for (const Stmt& part : n.stmts) visit(part);
      });
}

// Follows the loop's variable up through sums with what is known (blocks of blocks of i are ranges of i), then picks the
// loop by what the variable at the top is.
void Lowerer::visit_loop(const Forall& loop) {
  IndexVar top = loop.var;
  const Root* root = provenance_.root(top);
  Segment range{ir::int64(0), ir::int64(0)};
  if (root && root->fixed) range = {ir::int64(*root->fixed), ir::int64(*root->fixed + 1)};
  else range.end = size(top);
  bool whole = !(root && root->fixed);
  std::vector<std::pair<IndexVar, Expr>> below;  // a variable on the way, and how far it lies below the top
  while (const Relation* relation = provenance_.made_by(top)) {
    std::optional<IndexExpr> offset;
    const Replaced& up = relation->replaced[0];
    if (relation->replaced.size() != 1 || !is_plain_sum(up.value, top, offset)) break;
    std::vector<IndexVar> needs = relation->needs();
    if (!std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return v == top || values_.contains(v); }))
      break;
    Expr start = offset ? Expr(f_.constant(name(up.var) + "_start", index(*offset))) : ir::int64(0);
    for (auto& [var, distance] : below) distance = distance + start;
    below.emplace_back(top, start);
    range = {range.begin + start, range.end + start};
    if (up.guard == Guard::Checked)
      range.end = Expr(f_.constant(name(up.var) + "_end", ir::min(range.end, size(up.var))));
    whole = whole && !offset;
    top = up.var;
  }
  auto lowered = [&](const Forall& inner) {
    const Relation* relation = provenance_.made_by(top);
    const StoredCoordinate* stored = relation ? relation->replaced[0].value.as<StoredCoordinate>() : nullptr;
    if (stored) position_loop(inner, top, range, stored->levels);
    else if (provenance_.root(top)) coordinate_loop(inner, top, range, whole);
    else dense_loop(inner, top, range, {});
  };
  below_ = std::move(below);

  bool inside = holds_result(loop.body) && !in_producer_, outer = revisiting_;
  bool reduces = inside && is_reduction(loop.var) && !sum_ && !any_;
  if (!reduces) {
    revisiting_ = revisiting_ || (inside && revisits(loop.var));
    lowered(loop);
    revisiting_ = outer;
    return;
  }
  bool placed = kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared;
  if (element_known() && kernel_.assembly != Assembly::Listed) {
    // The element is complete when this loop ends: sum it up apart.
    if (placed && can_run_in_parallel(loop)) {
      if (statement_.start == Start::Zero && !revisiting_)
        store(vals_array(0), result_position(), ir::zero(ir::value_of(result_type())), ir::StoreMode::Set);
      zeroed_here();
      sum_in_threads_ = true;
      lowered(loop);
      sum_in_threads_ = false;
      return;
    }
    if (placed || phase_ == Phase::Fill) sum_ = f_.variable("sum", ir::zero(ir::value_of(sum_type())));
    if (!placed) any_ = f_.variable("any", ir::literal(ir::Scalar::of(false)));
    bool parallel = in_parallel_;
    in_parallel_ = true;  // the sum is one thread's
    lowered(loop);
    in_parallel_ = parallel;
    std::optional<Expr> total = sum_ ? std::optional(Expr(*sum_)) : std::nullopt;
    std::optional<Var> any = any_;
    sum_.reset(), any_.reset();
    bool complete = statement_.start == Start::Zero && !revisiting_;
    if (placed) write_element(*total, complete ? AssignOp::Set : AssignOp::Add);
    else f_.when(*any, [&] { append(total); });
    return;
  }
  bool saved = zeroed_;
  if (placed && covering_ && !zeroed_ && !racing_ && !revisiting_ && statement_.start == Start::Zero) zero_rest();
  revisiting_ = true;
  lowered(loop);
  revisiting_ = outer;
  zeroed_ = saved;
}

// ---- what is active ---------------------------------------------------------------------------------------------------

Formula Lowerer::where_active(const Stmt& stmt, const std::set<int>& atoms) {
  return match(
      stmt, [&](const Forall& n) { return where_active(n.body, atoms); },
      [&](const Where& n) {
        Formula made = where_active(n.producer, atoms);
        each<Assign>(n.producer, [&](const Assign& a) { made_where_.insert_or_assign(a.lhs.tensor, made); });
        return where_active(n.consumer, atoms);
      },
      [&](const Assign& n) { return where_active(n.rhs, atoms); },
      [&](const Sequence& n) {
        Formula any = Formula::never();
        for (const Stmt& part : n.stmts) any = any | where_active(part, atoms);
        return any;
      });
}

Formula Lowerer::where_active(const notation::Expr& expr, const std::set<int>& atoms) {
  auto of = [&](const notation::Expr& e) { return where_active(e, atoms); };
  return match(
      expr,
      [&](const Access& n) {
        if (auto made = made_where_.find(n.tensor); made != made_where_.end()) return made->second;
        if (n.tensor.origin() == Origin::Temporary) {
          int atom = first_workspace_atom + int(std::distance(temporaries_.begin(), temporaries_.find(n.tensor)));
          return atoms.contains(atom) ? Formula::atom(atom) : Formula::always();
        }
        int operand = find_operand(n);
        return atoms.contains(operand) ? Formula::atom(operand) : Formula::always();
      },
      [&](const Literal& n) {
        bool zero = std::visit([](auto v) { return v == decltype(v){}; }, static_cast<const ScalarVariant&>(n.value));
        return zero ? Formula::never() : Formula::always();
      },
      [&](const Neg& n) { return of(n.a); },
      [&](const Binary& n) {
        switch (n.op) {
          case notation::BinaryOp::Mul: return of(n.a) & of(n.b);
          case notation::BinaryOp::Div: return of(n.a);
          default: return of(n.a) | of(n.b);
        }
      },
      [&](const Call& n) {
        switch (n.function) {
          case Function::Sqrt:
          case Function::Abs: return of(n.args[0]);
          case Function::Min:
          case Function::Max: return of(n.args[0]) | of(n.args[1]);
          default: return Formula::always();
        }
      },
      [&](const Sum& n) { return of(n.body); });
}

// ---- loops over coordinates -------------------------------------------------------------------------------------------

void Lowerer::coordinate_loop(const Forall& loop, const IndexVar& var, const Segment& range, bool whole) {
  std::set<int> atoms;
  std::vector<int> walked;
  for (int k = 0; k < int(states_.size()); k++)
    if (!at_end(k) && level_var(k) == var && !level_format(k).properties().full) atoms.insert(k), walked.push_back(k);
  std::set<int> with_workspaces = atoms;
  std::map<int, TensorVar> workspaces;
  int number = first_workspace_atom;
  for (const auto& [tensor, temporary] : temporaries_) {
    bool read = false;
    each<Assign>(loop.body, [&](const Assign& a) {
      each<Access>(a.rhs, [&](const Access& x) { read |= x.tensor == tensor && x.indices == std::vector{var}; });
    });
    if (temporary.list && read) with_workspaces.insert(number), workspaces.emplace(number, tensor);
    number++;
  }
  auto active = [&](const std::set<int>& over) {
    made_where_.clear();
    Formula out = where_active(loop.body, over);
    made_where_.clear();
    return out;
  };
  Formula where = active(with_workspaces);
  bool single = where.alternatives().size() == 1 && where.alternatives()[0].size() == 1;
  if (!workspaces.empty() && !single) where = active(atoms);
  if (where.is_never()) return;
  // A dense level of a result that is assembled has a place for every coordinate.
  if (kernel_.assembly == Assembly::Appended && holds_result(loop.body) && !in_producer_)
    for (size_t level = 0; level < lhs_.tensor.order(); level++)
      if (lhs_.indices[size_t(lhs_.tensor.format().mode_order()[level])] == var &&
          lhs_.tensor.format().levels()[level].properties().full)
        where = Formula::always();

  if (where.is_always()) return dense_loop(loop, var, range, walked);
  bool saved = covering_;
  covering_ = covering_ && !holds_result(loop.body);
  int first = *where.atoms().begin();
  if (single && first >= first_workspace_atom) workspace_loop(loop, var, workspaces.at(first));
  else if (single) sparse_loop(loop, var, range, whole, first);
  else merge_loop(loop, var, range, whole, where);
  covering_ = saved;
}

// Every value of a range; sparse accesses walk along.
void Lowerer::dense_loop(const Forall& loop, const IndexVar& var, const Segment& range,
                         const std::vector<int>& walked) {
  std::vector<Var> at, end;
  std::optional<Var> weight;
  for (int k = 0; k < int(states_.size()); k++) {
    const TensorVar& tensor = kernel_.operands[size_t(k)].tensor;
    if (at_end(k) || states_[size_t(k)].level > 0 || level_var(k) != var || !level_format(k).properties().full)
      continue;
    bool tells = tensor.order() > 1 && !tensor.format().levels()[1].properties().full &&
                 !tensor.format().levels()[1].properties().branchless;
    if (tells && !weight) weight = pos_array(k + 1, 1);
  }
  std::vector<AccessState> entry = states_;
  plain_range_ = walked.empty();
  range_loop(
      loop, name(var), range, weight,
      [&](const Expr& first) {
        for (int k : walked) {
          Segment s = segment(k);
          std::string tag = fmt::format("{}{}", tensor_name(k + 1), states_[size_t(k)].level + 1);
          end.push_back(f_.constant(tag + "_to", s.end));
          Var crd = crd_array(k + 1, states_[size_t(k)].level);
          bool from_start = ir::constant_integer(first) == 0;
          at.push_back(f_.variable(
              "p" + tag,
              from_start ? s.begin : ir::lower_bound(crd, s.begin, end.back(), ir::cast(crd.type.scalar, first))));
        }
      },
      [&](const Var& i) {
        std::vector<Expr> found;
        for (size_t w = 0; w < walked.size(); w++) {
          int k = walked[w];
          std::string tag = fmt::format("has_{}{}", tensor_name(k + 1), states_[size_t(k)].level + 1);
          found.push_back(f_.constant(tag, Expr(at[w]) < end[w] && ir::equal(coordinate(k, at[w]), i)));
          enter(k, at[w], found[w], end[w]);
        }
        std::vector<AccessState> entered = states_;
        bind(with_below(var, i), [&] { visit(loop.body); });
        for (size_t w = 0; w < walked.size(); w++) {
          const AccessState& state = entered[size_t(walked[w])];
          Expr next = state.group ? *state.group : Expr(at[w]) + 1;
          f_.assign(at[w], ir::select(found[w], next, at[w]));
        }
        states_ = entry;
      });
  states_ = entry;
}

// What one access stores.
void Lowerer::sparse_loop(const Forall& loop, const IndexVar& var, const Segment& range, bool whole, int k) {
  AccessState entry = states_[size_t(k)];
  const std::vector<LevelFormat>& levels = kernel_.operands[size_t(k)].tensor.format().levels();
  std::string tag = fmt::format("{}{}", tensor_name(k + 1), entry.level + 1);
  Segment s = segment(k);
  if (!whole) {
    Var crd = crd_array(k + 1, entry.level);
    Var from = f_.constant(tag + "_from", s.begin), to = f_.constant(tag + "_to", s.end);
    s.begin = f_.constant(tag + "_first", ir::lower_bound(crd, from, to, ir::cast(crd.type.scalar, range.begin)));
    s.end = f_.constant(tag + "_last", ir::lower_bound(crd, from, to, ir::cast(crd.type.scalar, range.end)));
  }
  auto body = [&](const Expr& p) {
    Var i = f_.constant(name(var), coordinate(k, p));
    enter(k, p, std::nullopt, s.end);
    AccessState entered = states_[size_t(k)];
    bind(with_below(var, i), [&] { visit(loop.body); });
    states_[size_t(k)] = entry;
    return entered;
  };
  bool repeats = entry.level + 1 < levels.size() && levels[entry.level + 1].properties().branchless;
  if (repeats) {
    once_for_all_shares([&] {
      Var end = f_.constant(tag + "_to", s.end), p = f_.variable("p" + tag, s.begin);
      s.end = end;
      f_.loop_while(Expr(p) < end, [&] {
        AccessState entered = body(p);
        f_.assign(p, *entered.group);
      });
    });
    return;
  }
  std::optional<Var> weight;
  if (entry.level + 1 < levels.size() && !levels[entry.level + 1].properties().full)
    weight = pos_array(k + 1, entry.level + 1);
  range_loop(
      loop, "p" + tag, s, weight, [](const Expr&) {}, [&](const Var& p) { body(p); });
}

// Several accesses side by side: the smallest coordinate at hand is next.
void Lowerer::merge_loop(const Forall& loop, const IndexVar& var, const Segment& range, bool whole,
                         const Formula& where) {
  once_for_all_shares([&] {
    std::vector<AccessState> entry = states_;
    std::vector<int> walked;
    for (int atom : where.atoms()) walked.push_back(atom);
    bool all_needed = where.alternatives().size() == 1;
    std::map<int, Var> at, end;
    for (int k : walked) {
      Segment s = segment(k);
      std::string tag = fmt::format("{}{}", tensor_name(k + 1), states_[size_t(k)].level + 1);
      Var crd = crd_array(k + 1, states_[size_t(k)].level);
      Var to = f_.constant(tag + "_to", s.end);
      if (!whole) {
        Var from = f_.constant(tag + "_from", s.begin);
        s.begin = ir::lower_bound(crd, from, to, ir::cast(crd.type.scalar, range.begin));
        to = f_.constant(tag + "_last", ir::lower_bound(crd, from, to, ir::cast(crd.type.scalar, range.end)));
      }
      at.emplace(k, f_.variable("p" + tag, s.begin));
      end.emplace(k, to);
    }
    // Where some may end before others, the coordinate at hand is kept beside the position: past all others at the end.
    Expr past = ir::int64(std::numeric_limits<int64_t>::max());
    auto coordinate_or_past = [&](int k) {
      return ir::select(Expr(at.at(k)) < end.at(k), coordinate(k, at.at(k)), past);
    };
    auto name_here = [&](int k) { return fmt::format("{}_{}", name(var), tensor_name(k + 1)); };
    std::map<int, Var> here;
    if (!all_needed)
      for (int k : walked) here.emplace(k, f_.variable(name_here(k), coordinate_or_past(k)));
    auto any_of_all = [&](const std::function<Expr(int)>& condition) {
      std::optional<Expr> any;
      for (const std::set<int>& alternative : where.alternatives()) {
        std::optional<Expr> all;
        for (int k : alternative) all = all ? *all && condition(k) : condition(k);
        any = any ? *any || *all : *all;
      }
      return *any;
    };
    auto goes_on = [&](int k) { return all_needed ? Expr(at.at(k)) < end.at(k) : Expr(here.at(k)) < past; };
    f_.loop_while(any_of_all(goes_on), [&] {
      if (all_needed) here.clear();
      std::optional<Expr> smallest;
      for (int k : walked) {
        if (all_needed) here.emplace(k, f_.constant(name_here(k), coordinate(k, at.at(k))));
        smallest = smallest ? ir::min(*smallest, here.at(k)) : Expr(here.at(k));
      }
      Var i = f_.constant(name(var), *smallest);
      std::map<int, Expr> found;
      for (int k : walked) {
        found.emplace(k, f_.constant(fmt::format("has_{}{}", tensor_name(k + 1), states_[size_t(k)].level + 1),
                                     ir::equal(here.at(k), i)));
        enter(k, at.at(k), found.at(k), end.at(k));
      }
      std::vector<AccessState> entered = states_;
      auto body = [&] { bind(with_below(var, i), [&] { visit(loop.body); }); };
      bool all_alone = std::all_of(where.alternatives().begin(), where.alternatives().end(),
                                   [](const std::set<int>& a) { return a.size() == 1; });
      if (all_alone) {
        some_present_.push_back(where.atoms());
        body();
        some_present_.pop_back();
      } else {
        f_.when(any_of_all([&](int k) { return found.at(k); }), [&] {
          if (all_needed)
            for (int k : walked) states_[size_t(k)].present.reset();
          body();
        });
      }
      states_ = entry;
      for (int k : walked) {
        const AccessState& state = entered[size_t(k)];
        Expr next = state.group ? *state.group : Expr(at.at(k)) + 1;
        if (all_needed) {
          f_.assign(at.at(k), ir::select(found.at(k), next, at.at(k)));
          continue;
        }
        f_.when(found.at(k), [&] {
          f_.assign(at.at(k), next);
          f_.assign(here.at(k), coordinate_or_past(k));
        });
      }
    });
  });
}

// What was touched of a workspace, in order.
void Lowerer::workspace_loop(const Forall& loop, const IndexVar& var, const TensorVar& workspace) {
  const Temporary& temporary = temporaries_.at(workspace);
  if (phase_ == Phase::Fill) f_.sort(*temporary.list, 0, *temporary.count);
  f_.loop("p_" + kernel_name(print_.name(workspace)), ir::int64(0), *temporary.count, [&](const Var& p) {
    Var i = f_.constant(name(var), ir::cast(ScalarType::Int64, ir::load(*temporary.list, p)));
    bind(with_below(var, i), [&] { visit(loop.body); });
  });
}

// ---- loops over positions ---------------------------------------------------------------------------------------------

Expr Lowerer::stored_positions(int tensor, size_t level) {
  std::string key = fmt::format("{}{}_count", tensor_name(tensor), level + 1);
  auto known = params_.find(key);
  if (known == params_.end())
    known = params_.emplace(key, f_.number(key, ir::Source::Field::End, tensor, int(level))).first;
  return known->second;
}

// The position above one of a compressed level.
Expr Lowerer::search_parent(int tensor, size_t level, const Expr& position) {
  Var pos = pos_array(tensor, level);
  return ir::upper_bound(pos, 0, stored_positions(tensor, level - 1) + 1, ir::cast(pos.type.scalar, position)) - 1;
}

// Goes to a position of the last of the levels: gives the coordinates of all of them. `parent` finds the position above
// one of a compressed level.
std::vector<std::pair<IndexVar, Expr>> Lowerer::enter_position(
    const IndexVar& position_var, const Levels& levels, const Expr& p,
    const std::function<Expr(size_t level, const Expr& position)>& parent) {
  int k = find_operand(levels.access), tensor = k + 1;
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  Expr position = levels.first > 0 ? segment(k).begin + p : p;
  AccessState reached{levels.last + 1, position, states_[size_t(k)].present, std::nullopt, states_[size_t(k)].path};
  reached.path.resize(levels.last + 1, position);
  std::vector<std::pair<IndexVar, Expr>> found;
  for (size_t level = levels.last;; level--) {
    bool full = formats[level].properties().full;
    Expr c = !full ? ir::cast(ScalarType::Int64, ir::load(crd_array(tensor, level), position))
             : level == levels.first && level == levels.last ? p
             : level == levels.first && level == 0           ? position
                                                             : position % dense_size(tensor, level);
    reached.path[level] = position;
    found.emplace_back(levels.var(level), f_.constant(name(levels.var(level)), c));
    if (level == levels.first) break;
    if (full) position = position / dense_size(tensor, level);
    else if (!formats[level].properties().branchless) position = parent(level, position);
  }
  states_[size_t(k)] = reached;
  // The variable that the coordinates together stand for; seldom read.
  const IndexVar& whole = provenance_.made_by(position_var)->replaced[0].var;
  if (levels.first < levels.last) {
    Expr fused = found.back().second;
    for (size_t n = found.size() - 1; n-- > 0;) fused = fused * size(found[n].first) + found[n].second;
    found.emplace_back(whole, fused);
  }
  return found;
}

void Lowerer::position_loop(const Forall& loop, const IndexVar& var, const Segment& range, const Levels& levels) {
  int k = find_operand(levels.access), tensor = k + 1;
  const std::vector<LevelFormat>& formats = levels.access.tensor.format().levels();
  std::vector<AccessState> entry = states_;
  bool saved = covering_;
  covering_ = covering_ && !holds_result(loop.body);
  std::map<size_t, Var> parents;  // positions at the levels above: searched once, then walked along
  plain_range_ = false;
  range_loop(
      loop, name(var), range, std::nullopt,
      [&](const Expr& first) {
        Expr position = levels.first > 0 ? segment(k).begin + first : first;
        for (size_t level = levels.last; level > levels.first; level--) {
          if (formats[level].properties().full) position = position / dense_size(tensor, level);
          else if (!formats[level].properties().branchless) {
            Expr above = search_parent(tensor, level, position);
            parents.insert_or_assign(level, f_.variable(fmt::format("p{}{}", tensor_name(tensor), level), above));
            position = parents.at(level);
          }
        }
      },
      [&](const Var& p) {
        std::vector<std::pair<IndexVar, Expr>> found =
            enter_position(var, levels, p, [&](size_t level, const Expr& position) -> Expr {
              const Var& parent = parents.at(level);
              Expr end = ir::cast(ScalarType::Int64, ir::load(pos_array(tensor, level), Expr(parent) + 1));
              f_.loop_while(end <= position, [&] { f_.increase(parent, 1); });
              return parent;
            });
        for (auto& more : with_below(var, p)) found.push_back(more);
        bind(found, [&] { visit(loop.body); });
        states_ = entry;
      });
  states_ = entry;
  covering_ = saved;
}

// ---- emitting ----------------------------------------------------------------------------------------------------------

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

void Lowerer::range_loop(const Forall& loop, const std::string& name, const Segment& range,
                         const std::optional<Var>& weight, const std::function<void(const Expr& first)>& before,
                         const std::function<void(const Var&)>& fill) {
  ir::LoopOptions options;
  options.unroll = int(loop.tags.unroll);
  bool shares = find_race(statement_, loop.var).has_value();
  bool asked = loop.tags.parallel && loop.tags.parallel->unit == Unit::CPUVector;
  bool by_itself = plain_range_ && !loop.tags.parallel && !shares;
  if (is_innermost(loop) && plain_range_ && (by_itself || asked) && (!shares || sum_) && !racing_ &&
      writes_in_place(loop))
    options.kind = ir::LoopKind::Vector;

  // The share [t, t + 1) of `parts` of the range, by weight where that is told.
  auto share = [&](const Expr& t, const Expr& parts) -> Segment {
    Var from = f_.constant(name + "_from", range.begin), to = f_.constant(name + "_to", range.end);
    auto cut = [&](const Expr& part) -> Expr {
      if (!weight) return from + (to - from) * part / parts;
      Expr w0 = ir::cast(ScalarType::Int64, ir::load(*weight, from)),
           w1 = ir::cast(ScalarType::Int64, ir::load(*weight, to));
      Expr target = ir::cast(weight->type.scalar, w0 + (w1 - w0) * part / parts);
      return ir::select(ir::equal(part, 0), from,
                        ir::select(ir::equal(part, parts), to, ir::lower_bound(*weight, from, to, target)));
    };
    return {f_.constant(name + "_begin", cut(t)), f_.constant(name + "_end", cut(t + 1))};
  };

  if (chunk_) {
    Expr t = *chunk_, parts = *chunks_;
    chunk_.reset();
    Segment mine = share(t, parts);
    before(mine.begin);
    f_.loop(name, mine.begin, mine.end, fill, options);
    chunk_ = t;
    return;
  }
  if (!can_run_in_parallel(loop)) {
    before(range.begin);
    f_.loop(name, range.begin, range.end, fill, options);
    return;
  }
  if (!threads_) threads_ = f_.threads();
  bool saved = racing_;
  racing_ = racing_ || shares;
  in_parallel_ = true;
  f_.parallel("t", *threads_, [&](const Var& t) {
    Segment mine = share(t, *threads_);
    before(mine.begin);
    if (sum_in_threads_) sum_ = f_.variable("sum", ir::zero(ir::value_of(sum_type())));
    f_.loop(name, mine.begin, mine.end, fill, options);
    if (sum_in_threads_) {
      Expr total = *sum_;
      sum_.reset();
      store(vals_array(0), result_position(), total, ir::StoreMode::AtomicAdd);
    }
  });
  in_parallel_ = false;
  racing_ = saved;
}

// Does the assignment in an innermost loop go to elements that have their place? Lists and cursors grow one by one.
bool Lowerer::writes_in_place(const Forall& loop) const {
  const Assign* assign = loop.body.as<Assign>();
  if (assign->lhs.tensor == lhs_.tensor)
    return kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared || (sum_ && !any_);
  return assign->lhs.tensor.format().is_dense() && !assign->lhs.indices.empty();
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

// Finds variables that follow from those known; where one may lie beyond its size, the rest is guarded.
void Lowerer::derive(const std::function<void()>& fill) {
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
      continue;
    }
    std::optional<Expr> inside;
    for (const Replaced& r : relation->replaced) {
      if (known(r.var)) continue;
      Expr value = f_.constant(name(r.var), index(r.value));
      values_.insert_or_assign(r.var, value);
      if (r.guard != Guard::Checked) continue;
      Expr check = value < size(r.var);
      inside = inside ? *inside && check : check;
    }
    if (!inside) continue;
    f_.when(*inside, [&] { derive(fill); });
    return;
  }
  fill();
}

}  // namespace spdistal::lower
