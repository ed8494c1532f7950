// Writing: temporaries, elements of the result, and the levels of a result that is assembled.
#include <fmt/format.h>

#include "base/require.hpp"
#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::StoreMode;
using ir::Var;

bool Lowerer::holds_result(const Stmt& stmt) const {
  bool holds = false;
  each<Assign>(stmt, [&](const Assign& a) { holds |= a.lhs.tensor == lhs_.tensor; });
  return holds;
}

bool Lowerer::indexes_result(const IndexVar& var) const {
  return std::find(lhs_.indices.begin(), lhs_.indices.end(), var) != lhs_.indices.end();
}

bool Lowerer::is_reduction(const IndexVar& var) const {
  std::vector<IndexVar> roots = provenance_.roots_of(var);
  return std::none_of(roots.begin(), roots.end(), [&](const IndexVar& root) { return indexes_result(root); });
}

// Do several values of a loop variable lead to the same element?
bool Lowerer::revisits(const IndexVar& var) const {
  std::vector<IndexVar> roots = provenance_.roots_of(var);
  return std::any_of(roots.begin(), roots.end(), [&](const IndexVar& root) { return !indexes_result(root); });
}

bool Lowerer::element_known() const {
  return std::all_of(lhs_.indices.begin(), lhs_.indices.end(),
                     [&](const IndexVar& var) { return values_.contains(var); });
}

// ---- temporaries --------------------------------------------------------------------------------------------------------

void Lowerer::visit_where(const Where& where) {
  std::optional<Access> made;
  each<Assign>(where.producer, [&](const Assign& a) {
    if (!made) made = a.lhs;
  });
  std::string name = print_.name(made->tensor);
  bool sparse = !made->tensor.format().is_dense();
  std::map<TensorVar, Temporary> saved = temporaries_;
  if (sparse) {
    // The arrays were made outside; only what was touched is cleaned.
    Temporary& temporary = temporaries_.at(made->tensor);
    temporary.count = f_.variable(name + "_count", ir::int64(0));
    // Where all of it is read once, coordinate by coordinate, it is cleaned by the way. A table needs its marks until all
    // places were found.
    if (auto* loop = where.consumer.as<Forall>(); loop && loop->body.is<Assign>() && !temporary.hash) {
      temporary.reader = loop->var;
      each<Access>(loop->body.as<Assign>()->rhs, [&](const Access& a) {
        if (a.tensor == made->tensor && a.indices != std::vector{loop->var}) temporary.reader.reset();
      });
    }
  } else {
    std::vector<Expr> sizes;
    Expr count = ir::int64(1);
    for (const IndexVar& var : made->indices) sizes.push_back(size(var)), count = count * sizes.back();
    Var values = made->indices.empty() ? f_.variable(name, ir::zero(ir::value_of(made->tensor.type())))
                                       : f_.allocate(name, made->tensor.type(), count, ir::Fill::Zeroed);
    Temporary temporary{values, sizes, {}, {}, {}};
    if (sizes.empty()) temporary.made_by = where.producer;
    temporaries_.insert_or_assign(made->tensor, std::move(temporary));
  }
  bool outer = in_producer_;
  in_producer_ = true;
  visit(where.producer);
  in_producer_ = outer;
  visit(where.consumer);
  if (sparse && !temporaries_.at(made->tensor).cleaned) {
    const Temporary& temporary = temporaries_.at(made->tensor);
    f_.loop("p_" + name, ir::int64(0), *temporary.count, [&](const Var& p) {
      const Var& places = temporary.hash ? temporary.hash->slots : *temporary.list;
      f_.store(*temporary.marks, ir::cast(ScalarType::Int64, ir::load(places, p)), ir::literal(ir::Scalar::of(false)));
    });
  }
  temporaries_ = std::move(saved);
}

void Lowerer::write_temporary(const Assign& assign) {
  const Temporary& temporary = temporaries_.at(assign.lhs.tensor);
  ScalarType type = assign.lhs.tensor.type();
  std::optional<Expr> condition = presence(assign.rhs);
  auto write = [&] {
    if (temporary.list) {
      Expr coordinate = values_.at(assign.lhs.indices[0]);
      Expr at = find_slot(temporary, print_.name(assign.lhs.tensor), coordinate);
      bool fill = phase_ == Phase::Fill;
      std::optional<Expr> v;
      if (fill) v = f_.constant("value", ir::cast(type, value(assign.rhs)));
      f_.when(
          ir::load(*temporary.marks, at),
          [&] {
            if (fill) f_.store_add(temporary.values, at, *v);
          },
          [&] {
            f_.store(*temporary.marks, at, ir::literal(ir::Scalar::of(true)));
            f_.store(*temporary.list, *temporary.count, ir::cast(temporary.list->type.scalar, coordinate));
            if (temporary.hash) {
              f_.store(temporary.hash->keys, at, ir::cast(temporary.hash->keys.type.scalar, coordinate));
              f_.store(temporary.hash->slots, *temporary.count, at);
            }
            f_.increase(*temporary.count, 1);
            if (fill) f_.store(temporary.values, at, *v);
          });
      return;
    }
    Expr v = value(assign.rhs);
    if (assign.lhs.indices.empty()) {
      if (assign.op == AssignOp::Add) f_.increase(temporary.values, ir::cast(type, v));
      else f_.assign(temporary.values, ir::cast(type, v));
    } else {
      store(temporary.values, temporary_position(temporary, assign.lhs.indices), v,
            assign.op == AssignOp::Add ? StoreMode::Add : StoreMode::Set);
    }
  };
  if (condition) f_.when(*condition, write);
  else write();
}

// ---- elements -----------------------------------------------------------------------------------------------------------

// Under which condition the value is stored at all: empty where it always is.
std::optional<Expr> Lowerer::presence(const notation::Expr& expr) {
  std::set<int> flagged;
  for (int k = 0; k < int(states_.size()); k++)
    if (states_[size_t(k)].present) flagged.insert(k);
  made_where_.clear();
  std::map<TensorVar, Formula> made;
  for (const auto& [tensor, temporary] : temporaries_)
    if (temporary.made_by) made.emplace(tensor, where_active(*temporary.made_by, flagged));
  made_where_ = std::move(made);
  Formula where = where_active(expr, flagged);
  made_where_.clear();
  if (where.is_always()) return std::nullopt;
  // One of these is there, and each alone suffices.
  for (const std::set<int>& some : some_present_)
    if (std::all_of(some.begin(), some.end(), [&](int k) {
          return std::any_of(where.alternatives().begin(), where.alternatives().end(),
                             [&](const std::set<int>& a) { return a == std::set<int>{k}; });
        }))
      return std::nullopt;
  std::optional<Expr> any;
  for (const std::set<int>& alternative : where.alternatives()) {
    std::optional<Expr> all;
    for (int k : alternative) all = all ? *all && *states_[size_t(k)].present : *states_[size_t(k)].present;
    any = any ? *any || *all : *all;
  }
  return any ? any : std::optional(ir::literal(ir::Scalar::of(false)));
}

void Lowerer::visit_assign(const Assign& assign) {
  if (assign.lhs.tensor == lhs_.tensor) return write_result(assign);
  write_temporary(assign);
}

void Lowerer::write_result(const Assign& assign) {
  std::optional<Expr> condition = presence(assign.rhs);
  bool saved = covering_;
  if (condition) covering_ = false;
  auto write = [&] {
    bool placed = kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared;
    if (sum_) f_.increase(*sum_, ir::cast(sum_type(), value(assign.rhs)));
    if (any_) f_.assign(*any_, ir::literal(ir::Scalar::of(true)));
    if (sum_ || any_) return;
    // What no other iteration and no other assignment adds to begins here.
    bool first = start_ == Start::Zero && !revisiting_ && !racing_ && assigned_once();
    if (placed) write_element(value(assign.rhs), first ? AssignOp::Set : assign.op);
    else append(phase_ == Phase::Fill ? std::optional(value(assign.rhs)) : std::nullopt);
  };
  if (condition) f_.when(*condition, write);
  else if (sum_ || any_) write();
  else where_element_is(write);
  covering_ = saved;
}

bool Lowerer::assigned_once() const {
  int count = 0;
  each<Assign>(statement_.body, [&](const Assign& a) { count += a.lhs.tensor == lhs_.tensor; });
  return count == 1;
}

void Lowerer::write_element(const Expr& value, AssignOp op) {
  if (apart_)
    return store(apart_->sums.values, temporary_position(apart_->sums, apart_->indices), value, StoreMode::Add);
  Expr at = result_position();
  bool adds_to_set = statement_.start == Start::Zero && start_ == Start::Old;
  if (op == AssignOp::Set && !adds_to_set) {
    // Elements that no iteration reaches are zero too.
    if (start_ == Start::Zero && !covering_ && kernel_.assembly == Assembly::Dense && !zeroed_)
      kernel_.zero_first = true;
    return store(vals_array(0), at, value, StoreMode::Set);
  }
  if (start_ == Start::Zero && !zeroed_) kernel_.zero_first = true;
  store(vals_array(0), at, value, racing_ ? StoreMode::AtomicAdd : StoreMode::Add);
}

// Adding happens in the wider of the two types, as in C++.
void Lowerer::store(const Var& array, const Expr& at, const Expr& value, StoreMode mode) {
  ScalarType held = array.type.scalar, given = ir::type_of(value).scalar, wide = promote(held, given);
  if (mode == StoreMode::Add && wide != held) {
    Expr sum = ir::cast(wide, ir::load(array, at)) + ir::cast(wide, value);
    f_.add(ir::store(array, at, ir::cast(held, sum), StoreMode::Set));
    return;
  }
  f_.add(ir::store(array, at, ir::cast(held, value), mode));
}

// A shared pattern may not have the element that was looked up in it.
void Lowerer::where_element_is(const std::function<void()>& fill) {
  std::optional<Expr> present;
  if (kernel_.assembly == Assembly::Shared) present = states_[size_t(kernel_.shared_tensor) - 1].present;
  if (present) f_.when(*present, fill);
  else fill();
}

Expr Lowerer::result_position() {
  if (kernel_.assembly == Assembly::Shared)
    return states_[size_t(kernel_.shared_tensor) - 1].path[kernel_.shared_level];
  Expr position = ir::int64(0);
  const Format& format = lhs_.tensor.format();
  for (size_t level = 0; level < lhs_.tensor.order(); level++)
    position = position_of(0, level, position, values_.at(lhs_.indices[size_t(format.mode_order()[level])]));
  return position;
}

void Lowerer::zeroed_here() {
  if (start_ == Start::Zero && (!covering_ || revisiting_)) kernel_.zero_first = true;
}

std::optional<std::vector<IndexVar>> Lowerer::open_variables() const {
  std::vector<IndexVar> open;
  for (const IndexVar& var : lhs_.indices)
    if (!values_.contains(var) && std::find(open.begin(), open.end(), var) == open.end()) open.push_back(var);
  // A part of a variable that is bound outside (its block) would zero too much. What loops around the kernel bind is a
  // part of, the piece has no more than.
  for (const IndexVar& var : open)
    for (const auto& [known, value] : values_) {
      std::vector<IndexVar> roots = provenance_.roots_of(known);
      if (std::find(roots.begin(), roots.end(), var) != roots.end() && !provenance_.determined(known, options_.outer))
        return std::nullopt;
    }
  return open;
}

void Lowerer::each_open_element(const std::vector<IndexVar>& open, const std::function<void()>& fill) {
  std::map<IndexVar, Expr> saved = values_;
  std::function<void(size_t)> nest = [&](size_t next) {
    if (next == open.size()) return fill();
    size_t dim = size_t(std::find(lhs_.indices.begin(), lhs_.indices.end(), open[next]) - lhs_.indices.begin());
    size_t level = lhs_.tensor.format().level_of(dim);
    Expr first = first_coordinate(0, level);
    Expr end = is_whole(0, level) ? size(open[next]) : first + dense_size(0, level);
    f_.loop(name(open[next]), first, end, [&](const Var& v) {
      values_.insert_or_assign(open[next], v);
      nest(next + 1);
    });
  };
  nest(0);
  values_ = saved;
}

void Lowerer::zero_rest() {
  std::optional<std::vector<IndexVar>> open = open_variables();
  if (kernel_.assembly != Assembly::Dense || !open) return;
  each_open_element(*open, [&] { f_.store(vals_array(0), result_position(), ir::zero(ir::value_of(result_type()))); });
  zeroed_ = true;
}

void Lowerer::sum_apart(const std::function<void()>& fill) {
  std::optional<std::vector<IndexVar>> open = open_variables();
  if (!racing_ || kernel_.assembly != Assembly::Dense || !open) return fill();
  std::vector<Expr> sizes;
  Expr count = ir::int64(1);
  for (const IndexVar& var : *open) sizes.push_back(size(var)), count = count * sizes.back();
  Temporary sums{f_.allocate("row", result_type(), count, ir::Fill::Uninitialised), sizes, {}, {}, {}};
  each_open_element(
      *open, [&] { f_.store(sums.values, temporary_position(sums, *open), ir::zero(ir::value_of(result_type()))); });
  apart_ = Apart{sums, *open};
  racing_ = false;
  fill();
  racing_ = true;
  apart_.reset();
  each_open_element(*open,
                    [&] { write_element(ir::load(sums.values, temporary_position(sums, *open)), AssignOp::Add); });
}

// ---- assembly -----------------------------------------------------------------------------------------------------------

// Adds an entry at its place, at the cursor of the last level, or to the list.
void Lowerer::append(const std::optional<Expr>& value) {
  if (kernel_.assembly == Assembly::Scattered) return scatter_element(value);
  const Var& cursor = cursors_.back();
  if (phase_ == Phase::Fill) {
    const Format& format = lhs_.tensor.format();
    if (kernel_.assembly == Assembly::Listed) {
      for (size_t d = 0; d < lhs_.tensor.order(); d++) f_.store(list_array(d), cursor, values_.at(lhs_.indices[d]));
    } else {
      size_t last = lhs_.tensor.order() - 1;
      functions(0, last).append(level_of(0, last), cursor, values_.at(lhs_.indices[size_t(format.mode_order()[last])]));
    }
    f_.store(made_vals(), cursor, ir::cast(result_type(), *value));
  }
  f_.increase(cursor, 1);
}

// Runs the inside of one coordinate of a result level, then notes what came to be below it.
void Lowerer::open_level(const IndexVar& var, const std::function<void()>& fill) {
  const Format& format = lhs_.tensor.format();
  size_t level =
      format.level_of(size_t(std::find(lhs_.indices.begin(), lhs_.indices.end(), var) - lhs_.indices.begin()));
  if (kernel_.assembly != Assembly::Appended || level + 1 == lhs_.tensor.order()) return fill();
  size_t dense = leading_dense_levels(format);  // the cursors are those of the levels after them
  bool full = level < dense;
  if (level + 1 < dense) return fill();
  Expr below = cursors_[level + 1 - dense];
  Var before = f_.constant(name(var) + "_start", below);
  fill();
  auto close = [&](const Expr& position) {
    if (phase_ != Phase::Fill) return;
    Var pos = made_weight(level + 1);
    // A part does not know where it begins: it says how much there is.
    if (part_) f_.store(pos, position, ir::cast(pos.type.scalar, below - before));
    else f_.store(pos, position + 1, ir::cast(pos.type.scalar, below));
  };
  if (full) {
    Expr position = ir::int64(0);
    for (size_t k = 0; k <= level; k++)
      position = position_of(0, k, position, values_.at(lhs_.indices[size_t(format.mode_order()[k])]));
    return close(position);
  }
  f_.when(below > before, [&] {
    const Var& cursor = cursors_[level - dense];
    if (phase_ == Phase::Fill) functions(0, level).append(level_of(0, level), cursor, values_.at(var));
    close(cursor);
    f_.increase(cursor, 1);
  });
}

}  // namespace spdistal::lower
