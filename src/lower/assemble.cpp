// Results whose elements are not known beforehand: counted first and then filled in, or filled in at once where what
// operands store bounds what there will be.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

void Lowerer::assemble() {
  const Format& format = lhs_.tensor.format();
  const Forall* outer = statement_.body.as<Forall>();
  bool parallel = outer && can_run_in_parallel(*outer);
  ResultLevels made;
  if (kernel_.assembly == Assembly::Listed) {
    for (size_t d = 0; d < lhs_.tensor.order(); d++) {
      std::string key = fmt::format("list{}", d + 1);
      params_.emplace(key, f_.array(key, int(d), ScalarType::Int64, ir::Access::Write));
    }
    made.counts.assign(1, ir::int64(0));
  } else {
    while (format.levels()[made.dense].properties().full) made.gaps |= !is_whole(0, made.dense++);
    made.counts.assign(format.order() - made.dense, ir::int64(0));
  }
  each<Where>(statement_.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) {
      if (a.lhs.tensor.format().is_dense() || rooms_.contains(a.lhs.tensor)) return;
      if (std::optional<Room> room = hashed_room(where, a)) rooms_.emplace(a.lhs.tensor, *room);
    });
  });
  std::optional<std::vector<Expr>> bounds = bounds_of_levels(made.dense);
  auto at_once = [&] { assemble_at_once({made.dense, *bounds, made.gaps}); };
  auto in_phases = [&] { assemble_in_phases(made, parallel ? Expr(shares()) : ir::int64(1)); };
  if (!bounds) return in_phases();
  for (size_t c = 0; c < bounds->size(); c++) (*bounds)[c] = f_.constant(fmt::format("most{}", c + 1), (*bounds)[c]);
  // Who is alone need not count to know where to begin, where positions are wide enough for all there may be.
  std::optional<Expr> alone;
  if (parallel) alone = ir::equal(shares(), 1);
  if (narrow_positions(made)) {
    Expr fits = bounds->back() <= options_.largest_position;
    alone = alone ? *alone && fits : fits;
  }
  if (alone) f_.when(*alone, at_once, in_phases);
  else at_once();
}

bool Lowerer::narrow_positions(const ResultLevels& made) {
  return kernel_.assembly == Assembly::Appended && pos_array(0, made.dense).type.scalar == ScalarType::Int32;
}

void Lowerer::make_room(const ResultLevels& made) {
  if (kernel_.assembly == Assembly::Listed) {
    for (size_t d = 0; d < lhs_.tensor.order(); d++)
      f_.resize(params_.at(fmt::format("list{}", d + 1)), made.counts[0]);
  } else {
    Expr parents = ir::int64(1);
    for (size_t level = 0; level < made.dense; level++) parents = parents * dense_size(0, level);
    for (size_t c = 0; c < made.counts.size(); c++) {
      Var pos = pos_array(0, made.dense + c);
      f_.resize(pos, parents + 1);
      if (c == 0 && made.gaps) f_.loop("p", ir::int64(0), parents + 1, [&](const Var& p) { f_.store(pos, p, 0); });
      else f_.store(pos, 0, 0);
      f_.resize(crd_array(0, made.dense + c), made.counts[c]);
      parents = made.counts[c];
    }
  }
  f_.resize(vals_array(0), made.counts.back());
}

// Places that the loops do not come to end where those before them end.
void Lowerer::close_gaps(const ResultLevels& made) {
  if (!made.gaps) return;
  Var pos = pos_array(0, made.dense);
  Expr places = ir::int64(1);
  for (size_t level = 0; level < made.dense; level++) places = places * dense_size(0, level);
  f_.loop("p", ir::int64(0), places,
          [&](const Var& p) { f_.store(pos, Expr(p) + 1, ir::max(ir::load(pos, p), ir::load(pos, Expr(p) + 1))); });
}

// Workspaces with lists live as long as the thread: only what was touched is cleaned.
void Lowerer::make_workspaces() {
  each<Where>(statement_.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) {
      if (a.lhs.tensor.format().is_dense() || temporaries_.contains(a.lhs.tensor)) return;
      std::string name = kernel_name(print_.name(a.lhs.tensor));
      auto room = rooms_.find(a.lhs.tensor);
      Expr count = room == rooms_.end() ? size(a.lhs.indices[0]) : room->second.places;
      Var values = f_.allocate(name, a.lhs.tensor.type(), count, ir::Fill::Uninitialised);
      Temporary temporary{values, {count}, {}, {}, {}};
      temporary.marks = f_.allocate(name + "_marks", ScalarType::Bool, count, ir::Fill::Zeroed);
      // Narrow where the coordinates are: half the memory to sort.
      std::optional<int64_t> most = a.lhs.tensor.dims()[0].value();
      ScalarType narrow = most && *most <= std::numeric_limits<int32_t>::max() ? ScalarType::Int32 : ScalarType::Int64;
      temporary.list = f_.allocate(name + "_list", narrow, count, ir::Fill::Uninitialised);
      if (room != rooms_.end()) {
        Var keys = f_.allocate(name + "_keys", narrow, count, ir::Fill::Uninitialised);
        Var slots = f_.allocate(name + "_slots", ScalarType::Int64, count, ir::Fill::Uninitialised);
        temporary.hash = Temporary::Hash{room->second.hashed, count, keys, slots};
      }
      temporaries_.insert_or_assign(a.lhs.tensor, temporary);
    });
  });
}

// ---- at once ------------------------------------------------------------------------------------------------------------

// How much there can be at most of each level that is not dense, where operands with the same levels tell: one of them
// stores an element wherever the result does.
std::optional<std::vector<Expr>> Lowerer::bounds_of_levels(size_t dense) {
  if (kernel_.assembly != Assembly::Appended || dense > 1) return {};
  std::vector<IndexVar> ours = storage_order(lhs_);
  const std::vector<LevelFormat>& levels = lhs_.tensor.format().levels();
  auto same_kind = [](const LevelFormat& a, const LevelFormat& b) {
    return a.properties().full == b.properties().full && !b.properties().branchless;
  };
  std::set<int> alike;
  for (int k = 0; k < int(states_.size()); k++) {
    const Access& access = kernel_.operands[size_t(k)];
    std::vector<IndexVar> theirs = storage_order(access);
    if (ours.size() <= theirs.size() && std::equal(ours.begin(), ours.end(), theirs.begin()) &&
        std::equal(levels.begin(), levels.end(), access.tensor.format().levels().begin(), same_kind))
      alike.insert(k);
  }
  made_where_.clear();
  Formula where = where_active(statement_.body, alike);
  made_where_.clear();
  if (where.is_always()) return {};
  std::vector<Expr> out(levels.size() - dense, ir::int64(0));
  for (const std::set<int>& alternative : where.alternatives()) {
    int tensor = *alternative.begin() + 1;
    Segment stored{ir::int64(0), dense == 1 ? dense_size(tensor, 0) : ir::int64(1)};
    for (size_t level = dense; level < levels.size(); level++) {
      Var pos = pos_array(tensor, level);
      auto below = [&](const Expr& position) { return ir::cast(ScalarType::Int64, ir::load(pos, position)); };
      stored = {below(stored.begin), below(stored.end)};
      out[level - dense] = out[level - dense] + (stored.end - stored.begin);
    }
  }
  return out;
}

// Makes room for as much as there can be, of which the system gives only what is touched, fills, and keeps what there is.
void Lowerer::assemble_at_once(const ResultLevels& made) {
  std::vector<AccessState> saved = states_;
  make_room(made);
  cursors_.clear();
  for (size_t c = 0; c < made.counts.size(); c++)
    cursors_.push_back(f_.variable(fmt::format("at{}", c + 1), ir::int64(0)));
  make_workspaces();
  in_parallel_ = true;  // there is one thread
  inside_outer_loops([&] { visit(statement_.body); });
  in_parallel_ = false;
  temporaries_.clear();
  for (size_t c = 0; c < made.counts.size(); c++) {
    Var pos = pos_array(0, made.dense + c);
    if (made.dense + c == 0) f_.store(pos, 1, ir::cast(pos.type.scalar, cursors_[0]));
    if (c > 0) f_.shrink(pos, Expr(cursors_[c - 1]) + 1);
    f_.shrink(crd_array(0, made.dense + c), cursors_[c]);
  }
  f_.shrink(vals_array(0), cursors_.back());
  close_gaps(made);
  states_ = saved;
}

// ---- in phases ----------------------------------------------------------------------------------------------------------

// Counts what there will be, makes room, fills: each phase walks the same loops, in shares of the outermost one.
void Lowerer::assemble_in_phases(ResultLevels made, const Expr& shares) {
  size_t cursors = made.counts.size();
  Var counts = f_.allocate("counts", ScalarType::Int64, shares * int64_t(cursors), ir::Fill::Uninitialised);
  f_.comment("Count what there will be.");
  assemble_phase(Phase::Count, counts, shares, cursors);
  f_.comment("Make room.");
  for (size_t c = 0; c < cursors; c++) {
    Var total = f_.variable(fmt::format("total{}", c + 1), ir::int64(0));
    f_.loop("t", ir::int64(0), shares, [&](const Var& t) {
      Expr at = Expr(t) * int64_t(cursors) + int64_t(c);
      Var here = f_.constant("here", ir::load(counts, at));
      f_.store(counts, at, total);
      f_.increase(total, here);
    });
    made.counts[c] = total;
  }
  // The last level has the most positions.
  if (narrow_positions(made))
    f_.when(made.counts.back() > options_.largest_position, [&] {
      f_.comment("Too many for positions of 32 bits: a kernel with wider ones is run instead.");
      f_.leave(1);
    });
  make_room(made);
  if (kernel_.assembly == Assembly::Appended && made.dense == 0) {
    Var pos = pos_array(0, 0);
    f_.store(pos, 1, ir::cast(pos.type.scalar, made.counts[0]));
  }
  f_.comment("Fill it.");
  assemble_phase(Phase::Fill, counts, shares, cursors);
  close_gaps(made);
}

void Lowerer::assemble_phase(Phase phase, const Var& counts, const Expr& shares, size_t cursors) {
  phase_ = phase;
  std::vector<AccessState> saved = states_;
  auto share = [&](const Expr& t) {
    cursors_.clear();
    for (size_t c = 0; c < cursors; c++)
      cursors_.push_back(
          f_.variable(fmt::format("at{}", c + 1),
                      phase == Phase::Fill ? ir::load(counts, t * int64_t(cursors) + int64_t(c)) : ir::int64(0)));
    chunk_ = t, chunks_ = shares;
    inside_outer_loops([&] {
      if (statement_.body.is<Forall>()) visit(statement_.body);
      else once_for_all_shares([&] { visit(statement_.body); });
    });
    chunk_.reset();
    if (phase == Phase::Count)
      for (size_t c = 0; c < cursors; c++) f_.store(counts, t * int64_t(cursors) + int64_t(c), cursors_[c]);
    states_ = saved;
  };
  in_parallel_ = true;  // shares are all the parallelism there is
  if (ir::constant_integer(shares) == 1) {
    f_.add(f_.collect([&] {
      make_workspaces();
      share(ir::int64(0));
    }));
  } else {
    f_.parallel("t", shares, share, [&] { make_workspaces(); });
  }
  temporaries_.clear();
  in_parallel_ = false;
}

}  // namespace spdistal::lower
