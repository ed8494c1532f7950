// Which loop is emitted for a forall: over a range, over what one tensor stores, over a merge of several, over positions.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

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
  Reach reach = root && root->fixed ? Reach::Part : Reach::Whole;
  std::vector<std::pair<IndexVar, Expr>> below;  // a variable on the way, and how far it lies below the top
  while (const Relation* relation = provenance_.made_by(top)) {
    const Replaced& up = relation->replaced[0];
    std::optional<Offset> offset = offset_of(up.value, top);
    if (relation->replaced.size() != 1 || !offset) break;
    std::vector<IndexVar> needs = relation->needs();
    if (!std::all_of(needs.begin(), needs.end(), [&](const IndexVar& v) { return v == top || values_.contains(v); }))
      break;
    Expr start = offset->added ? Expr(f_.constant(name(up.var) + "_start", index(*offset->added))) : ir::int64(0);
    for (auto& [var, distance] : below) distance = distance + start;
    below.emplace_back(top, start);
    range = {range.begin + start, range.end + start};
    if (up.guard == Guard::Checked)
      range.end = Expr(f_.constant(name(up.var) + "_end", ir::min(range.end, size(up.var))));
    if (offset->added) reach = Reach::Part;
    top = up.var;
  }
  auto lowered = [&](const Forall& inner) {
    const Relation* relation = provenance_.made_by(top);
    const StoredCoordinate* stored = relation ? relation->replaced[0].value.as<StoredCoordinate>() : nullptr;
    if (stored) position_loop(inner, top, range, stored->levels);
    else if (provenance_.root(top)) coordinate_loop(inner, top, range, reach);
    else {
      sweep(provenance_.roots_of(top));
      dense_loop(inner, top, range, {});
    }
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
      if (start_ == Start::Zero && !revisiting_)
        where_element_is([&] {
          store(vals_array(0), result_position(), ir::zero(ir::value_of(result_type())), ir::StoreMode::Set);
        });
      zeroed_here();
      // A loop that cannot be divided among threads adds to the element turn by turn.
      bool zeroed = zeroed_;
      sum_in_threads_ = revisiting_ = zeroed_ = true;
      lowered(loop);
      sum_in_threads_ = false;
      revisiting_ = outer;
      zeroed_ = zeroed;
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
    bool complete = start_ == Start::Zero && !revisiting_;
    if (placed) where_element_is([&] { write_element(*total, complete ? AssignOp::Set : AssignOp::Add); });
    else f_.when(*any, [&] { append(total); });
    return;
  }
  bool saved = zeroed_;
  if (placed && covering_ && !zeroed_ && !racing_ && !revisiting_ && start_ == Start::Zero) zero_rest();
  revisiting_ = true;
  lowered(loop);
  revisiting_ = outer;
  zeroed_ = saved;
}

void Lowerer::coordinate_loop(const Forall& loop, const IndexVar& var, Segment range, Reach reach) {
  std::set<int> atoms, in_order;
  for (int k = 0; k < int(states_.size()); k++) {
    if (at_end(k) || level_var(k) != var || stores_all(next_functions(k))) continue;
    atoms.insert(k);
    if (next_functions(k).seek) in_order.insert(k);
  }
  std::vector<int> walked(in_order.begin(), in_order.end());
  std::set<int> with_workspaces = atoms;
  std::map<int, TensorVar> workspaces;
  int number = first_workspace_atom;
  for (const auto& [tensor, temporary] : temporaries_) {
    bool read = false;
    each<Assign>(loop.body, [&, tensor = tensor](const Assign& a) {
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
  // What has no order goes along with nothing: it is looked up, or walked alone.
  auto unordered = [&](int atom) { return atoms.contains(atom) && !in_order.contains(atom); };
  if (std::set<int> all = where.atoms(); std::any_of(all.begin(), all.end(), unordered)) {
    bool alone = where.alternatives().size() == 1 && std::all_of(all.begin(), all.end(), unordered);
    where = alone ? Formula::atom(*all.begin()) : active(in_order);
    single = where.alternatives().size() == 1 && where.alternatives()[0].size() == 1;
  }
  // A dense level of a result that is assembled has a place for every coordinate.
  bool clipped = false;
  if (kernel_.assembly == Assembly::Appended && holds_result(loop.body) && !in_producer_)
    for (size_t level = 0; level < lhs_.tensor.order(); level++)
      if (lhs_.indices[size_t(lhs_.tensor.format().mode_order()[level])] == var && stores_all(functions(0, level)) &&
          !where.is_always()) {
        where = Formula::always();
        clipped = true;
        range = where_dense_levels_are(var, range);
      }

  if (where.is_never()) return leave_zero(loop);
  if (where.is_always()) {
    if (!clipped) sweep({var});
    return dense_loop(loop, var, range, walked);
  }
  bool saved = covering_;
  covering_ = covering_ && !holds_result(loop.body);
  int first = *where.atoms().begin();
  if (single && first >= first_workspace_atom) workspace_loop(loop, var, workspaces.at(first));
  else if (single) sparse_loop(loop, var, range, reach, first);
  else merge_loop(loop, var, range, reach, where);
  covering_ = saved;
}

// Nothing inside a loop is other than zero: what has its place is so before, all of it that the loop would come to.
void Lowerer::leave_zero(const Forall& loop) {
  bool placed = kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared;
  if (!placed || start_ == Start::Old || in_producer_ || sum_ || !holds_result(loop.body)) return;
  if (!zeroed_) kernel_.zero_first = true;
  for (const IndexVar& var : lhs_.indices)
    if (!values_.contains(var)) sweep({var});
}

// Every value of a range; sparse accesses walk along.
void Lowerer::dense_loop(const Forall& loop, const IndexVar& var, const Segment& range,
                         const std::vector<int>& walked) {
  std::vector<Var> at, end;
  std::optional<Weight> weight;
  for (int k = 0; k < int(states_.size()); k++) {
    if (at_end(k) || states_[size_t(k)].level > 0 || level_var(k) != var || !stores_all(next_functions(k))) continue;
    bool tells = tensor_var(k + 1).order() > 1 && functions(k + 1, 1).weight;
    if (tells && !weight) weight = Weight{functions(k + 1, 1).weight(level_of(k + 1, 1)), first_coordinate(k + 1, 0)};
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
          bool from_start = ir::constant_integer(first) == 0;
          at.push_back(f_.variable("p" + tag, from_start ? s.begin : seek(k, {s.begin, end.back()}, first)));
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
void Lowerer::sparse_loop(const Forall& loop, const IndexVar& var, const Segment& range, Reach reach, int k) {
  AccessState entry = states_[size_t(k)];
  const Format& format = kernel_.operands[size_t(k)].tensor.format();
  std::string tag = fmt::format("{}{}", tensor_name(k + 1), entry.level + 1);
  Segment s = segment(k);
  bool in_order = next_functions(k).seek != nullptr;
  if (reach == Reach::Part && in_order) {
    Var from = f_.constant(tag + "_from", s.begin), to = f_.constant(tag + "_to", s.end);
    s.begin = f_.constant(tag + "_first", seek(k, {from, to}, range.begin));
    s.end = f_.constant(tag + "_last", seek(k, {from, to}, range.end));
  }
  auto body = [&](const Expr& p) {
    Var i = f_.constant(name(var), coordinate(k, p));
    enter(k, p, std::nullopt, s.end);
    AccessState entered = states_[size_t(k)];
    auto inside = [&] { bind(with_below(var, i), [&] { visit(loop.body); }); };
    if (reach == Reach::Part && !in_order) f_.when(Expr(i) >= range.begin && Expr(i) < range.end, inside);
    else inside();
    states_[size_t(k)] = entry;
    return entered;
  };
  if (begins_tuples(format, entry.level)) {
    // Shares begin where a coordinate does.
    auto group = [&](const Segment& all, const Expr& part, const Expr& parts) {
      Expr here = coordinate(k, evenly(all, part, parts));
      return ir::select(all.begin < all.end, seek(k, all, here), all.end);
    };
    divide(loop, "p" + tag, s, group, [&](const Segment& mine, bool) {
      s.end = f_.constant(tag + "_to", mine.end);
      Var p = f_.variable("p" + tag, mine.begin);
      f_.loop_while(Expr(p) < s.end, [&] {
        AccessState entered = body(p);
        f_.assign(p, *entered.group);
      });
    });
    return;
  }
  std::optional<Weight> weight;
  if (size_t below = entry.level + 1; below < format.order() && functions(k + 1, below).weight)
    weight = Weight{functions(k + 1, below).weight(level_of(k + 1, below))};
  range_loop(
      loop, "p" + tag, s, weight, [](const Expr&) {}, [&](const Var& p) { body(p); });
}

// What was touched of a workspace, in order.
void Lowerer::workspace_loop(const Forall& loop, const IndexVar& var, const TensorVar& workspace) {
  Temporary& temporary = temporaries_.at(workspace);
  temporary.cleaned = temporary.reader == loop.var;
  if (phase_ == Phase::Fill) f_.sort(*temporary.list, 0, *temporary.count);
  f_.loop("p_" + print_.name(workspace), ir::int64(0), *temporary.count, [&](const Var& p) {
    Var i = f_.constant(name(var), ir::cast(ScalarType::Int64, ir::load(*temporary.list, p)));
    if (phase_ == Phase::Fill && temporary.hash) temporary.slot = find_slot(temporary, print_.name(workspace), i);
    bind(with_below(var, i), [&] { visit(loop.body); });
    if (temporary.cleaned) f_.store(*temporary.marks, i, ir::literal(ir::Scalar::of(false)));
  });
}

}  // namespace spdistal::lower
