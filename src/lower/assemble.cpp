// Results whose elements are not known beforehand. Where what operands store bounds what there will be, they are filled in
// at once, by one thread in its place, by several in parts that are put behind each other; otherwise they are counted
// first.
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
  // Shares of a sum would each make the element that it is of; in a list they add up.
  bool elements_apart = kernel_.assembly == Assembly::Listed || (outer && !is_reduction(outer->var));
  bool parallel = outer && elements_apart && can_run_in_parallel(*outer);
  ResultLevels made;
  if (kernel_.assembly == Assembly::Listed) {
    for (size_t d = 0; d < lhs_.tensor.order(); d++) list_array(d);
    made.counts.assign(1, ir::int64(0));
  } else {
    made.dense = leading_dense_levels(format);
    for (size_t level = 0; level < made.dense; level++) made.gaps |= !is_whole(0, level);
    made.counts.assign(format.order() - made.dense, ir::int64(0));
  }
  each<Where>(statement_.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) {
      if (a.lhs.tensor.format().is_dense() || rooms_.contains(a.lhs.tensor)) return;
      if (std::optional<Room> room = hashed_room(where, a)) rooms_.emplace(a.lhs.tensor, *room);
    });
  });
  if (kernel_.assembly == Assembly::Scattered) return scatter(made);
  std::optional<std::vector<int>> bounding = bounding_tensors(made.dense);
  auto in_phases = [&] { assemble_in_phases(made, parallel ? Expr(shares()) : ir::int64(1)); };
  if (!bounding) return in_phases();
  ResultLevels most{made.dense, {}, made.gaps};
  for (const Expr& bound : bounds_of_levels(*bounding, made.dense, [&](int tensor) {
         return Segment{ir::int64(0), made.dense == 1 ? dense_size(tensor, 0) : ir::int64(1)};
       }))
    most.counts.push_back(f_.constant(fmt::format("most{}", most.counts.size() + 1), bound));
  std::optional<Expr> fits, alone;  // in the positions, whatever comes; one thread
  if (narrow_positions(made)) fits = most.counts.back() <= options_.largest_position;
  if (parallel) alone = ir::equal(shares(), 1);
  auto when = [&](const std::optional<Expr>& condition, const auto& then, const auto& otherwise) {
    if (condition) f_.when(*condition, then, otherwise);
    else then();
  };
  auto at_once = [&] { assemble_at_once(most); };
  if (made.dense == 1) {
    auto in_parts = [&] { assemble_in_parts(most, *bounding); };
    when(
        fits, [&] { when(alone, at_once, in_parts); }, in_phases);
  } else {
    when(fits && alone ? std::optional(*alone && *fits) : fits ? fits : alone, at_once, in_phases);
  }
}

Var Lowerer::list_array(size_t dim) {
  return f_.array(fmt::format("list{}", dim + 1), int(dim), ScalarType::Int64, ir::Access::Write);
}

bool Lowerer::narrow_positions(const ResultLevels& made) {
  return kernel_.assembly != Assembly::Listed && made_weight(made.dense).type.scalar == ScalarType::Int32;
}

void Lowerer::make_room(const ResultLevels& made) {
  if (kernel_.assembly == Assembly::Listed) {
    for (size_t d = 0; d < lhs_.tensor.order(); d++) f_.resize(list_array(d), made.counts[0]);
  } else {
    Expr parents = ir::int64(1);
    for (size_t level = 0; level < made.dense; level++) parents = parents * dense_size(0, level);
    for (size_t c = 0; c < made.counts.size(); c++) {
      Var pos = made_weight(made.dense + c);
      f_.resize(pos, parents + 1);
      if (c == 0 && made.gaps) f_.loop("p", ir::int64(0), parents + 1, [&](const Var& p) { f_.store(pos, p, 0); });
      else f_.store(pos, 0, 0);
      for (const Var& array : made_arrays(made.dense + c)) f_.resize(array, made.counts[c]);
      parents = made.counts[c];
    }
  }
  f_.resize(vals_array(0), made.counts.back());
}

// Places that the loops do not come to end where those before them end.
void Lowerer::close_gaps(const ResultLevels& made) {
  if (!made.gaps) return;
  Var pos = made_weight(made.dense);
  Expr places = ir::int64(1);
  for (size_t level = 0; level < made.dense; level++) places = places * dense_size(0, level);
  f_.loop("p", ir::int64(0), places,
          [&](const Var& p) { f_.store(pos, Expr(p) + 1, ir::max(ir::load(pos, p), ir::load(pos, Expr(p) + 1))); });
}

void Lowerer::finish_levels(const ResultLevels& made) {
  Expr parents = ir::int64(1);
  for (size_t level = 0; level < made.dense; level++) parents = parents * dense_size(0, level);
  for (size_t c = 0; c < made.counts.size() && kernel_.assembly != Assembly::Listed; c++) {
    size_t level = made.dense + c;
    if (functions(0, level).finish) functions(0, level).finish(level_of(0, level), parents, made.counts[c]);
    parents = made.counts[c];
  }
}

// Workspaces with lists live as long as the thread: only what was touched is cleaned.
void Lowerer::make_workspaces() {
  each<Where>(statement_.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& a) {
      if (a.lhs.tensor.format().is_dense() || temporaries_.contains(a.lhs.tensor)) return;
      std::string name = print_.name(a.lhs.tensor);
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

// Operands with the levels of the result, one of which stores an element wherever the result does.
std::optional<std::vector<int>> Lowerer::bounding_tensors(size_t dense) {
  if (kernel_.assembly != Assembly::Appended || dense > 1) return {};
  std::vector<IndexVar> ours = storage_order(lhs_);
  const std::vector<LevelFormat>& levels = lhs_.tensor.format().levels();
  auto same_kind = [](const LevelFormat& a, const LevelFormat& b) {
    const KernelFunctions& theirs = kernel_functions(b);
    return stores_all(kernel_functions(a)) ? stores_all(theirs) : theirs.weight != nullptr;
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
  std::vector<int> out;
  for (const std::set<int>& alternative : where.alternatives()) out.push_back(*alternative.begin() + 1);
  return out;
}

// How much there can be at most of each level that is not dense, below positions of the level above them.
std::vector<Expr> Lowerer::bounds_of_levels(const std::vector<int>& tensors, size_t dense,
                                            const std::function<Segment(int tensor)>& rows) {
  size_t order = lhs_.tensor.order();
  std::vector<Expr> out(order - dense, ir::int64(0));
  for (int tensor : tensors) {
    Segment stored = rows(tensor);
    for (size_t level = dense; level < order; level++) {
      stored = children_of(functions(tensor, level), level_of(tensor, level), stored);
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
    Var pos = made_weight(made.dense + c);
    if (made.dense + c == 0) f_.store(pos, 1, ir::cast(pos.type.scalar, cursors_[0]));
    if (c > 0) f_.shrink(pos, Expr(cursors_[c - 1]) + 1);
    for (const Var& array : made_arrays(made.dense + c)) f_.shrink(array, cursors_[c]);
  }
  f_.shrink(vals_array(0), cursors_.back());
  close_gaps(made);
  finish_levels({made.dense, std::vector<Expr>(cursors_.begin(), cursors_.end()), made.gaps});
  states_ = saved;
}

// ---- in parts -----------------------------------------------------------------------------------------------------------

// Shares fill parts of their own, small enough to stay in a cache, which the host puts behind each other as it comes to
// know how long they are. Until all are there, `pos` says how much is below each place.
void Lowerer::assemble_in_parts(const ResultLevels& made, const std::vector<int>& bounding) {
  constexpr int64_t elements_of_a_part = 1 << 15;
  size_t cursors = made.counts.size(), last = made.dense + cursors - 1;
  make_room(made);
  Var parts = f_.constant("parts", ir::max(shares(), made.counts.back() / elements_of_a_part));
  std::optional<Var> share;
  // The arrays of a part are made when it is known which rows it has.
  around_share_ = [&](const Segment& rows, const std::function<void()>& walk) {
    std::vector<Expr> most = bounds_of_levels(bounding, made.dense, [&](int tensor) {
      return Segment{position_of(tensor, 0, ir::int64(0), rows.begin), position_of(tensor, 0, ir::int64(0), rows.end)};
    });
    struct Filled {
      Var whole, part, count;
    };
    std::vector<Filled> filled;
    part_.emplace();
    cursors_.clear();
    for (size_t c = 0; c < cursors; c++) {
      Var room = f_.constant(fmt::format("room{}", c + 1), most[c]);
      cursors_.push_back(f_.variable(fmt::format("at{}", c + 1), ir::int64(0)));
      auto make = [&](const Var& whole) {
        Var part = f_.allocate(whole.symbol.name() + "_part", whole.type.scalar, room, ir::Fill::Uninitialised);
        filled.push_back({whole, part, cursors_[c]});
        part_->arrays.emplace_back(whole, part);
      };
      for (const Var& array : made_arrays(made.dense + c)) make(array);
      // The rows of the first level have their places; those of the others are counted in the part.
      if (made.dense + c == last) make(vals_array(0));
      else make(made_weight(made.dense + c + 1));
    }
    walk();
    for (const auto& [whole, part, count] : filled) f_.append(whole, *share, parts, part, count);
    part_.reset();
  };
  std::vector<AccessState> saved = states_;
  in_parallel_ = true;
  f_.comment("Fill parts, which are put behind each other, and note how much is where.");
  f_.parallel(
      "t", parts,
      [&](const Var& t) {
        share = t;
        chunk_ = t, chunks_ = parts;
        inside_outer_loops([&] { visit(statement_.body); });
        chunk_.reset();
      },
      [&] { make_workspaces(); });
  states_ = saved;
  around_share_ = {};
  temporaries_.clear();
  in_parallel_ = false;
  f_.comment("Add up.");
  Expr places = dense_size(0, 0);
  ResultLevels there{made.dense, {}, made.gaps};
  for (size_t c = 0; c < cursors; c++) {
    size_t level = made.dense + c;
    Var pos = made_weight(level), total = f_.variable(fmt::format("total{}", c + 1), ir::int64(0));
    f_.loop("p", ir::int64(0), places, [&](const Var& p) {
      Var here = f_.constant("here", ir::cast(ScalarType::Int64, ir::load(pos, p)));
      f_.store(pos, p, ir::cast(pos.type.scalar, total));
      f_.increase(total, here);
    });
    f_.store(pos, places, ir::cast(pos.type.scalar, total));
    if (c > 0) f_.shrink(pos, places + 1);
    for (const Var& array : made_arrays(level)) f_.shrink(array, total);
    places = total;
    there.counts.push_back(total);
  }
  f_.shrink(vals_array(0), places);
  finish_levels(there);
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
    Var pos = made_weight(0);
    f_.store(pos, 1, ir::cast(pos.type.scalar, made.counts[0]));
  }
  f_.comment("Fill it.");
  assemble_phase(Phase::Fill, counts, shares, cursors);
  close_gaps(made);
  finish_levels(made);
}

void Lowerer::assemble_phase(Phase phase, const Var& counts, const Expr& shares, size_t cursors) {
  walk_shares(phase, shares, [&](const Expr& t, const std::function<void()>& walk) {
    cursors_.clear();
    for (size_t c = 0; c < cursors; c++)
      cursors_.push_back(
          f_.variable(fmt::format("at{}", c + 1),
                      phase == Phase::Fill ? ir::load(counts, t * int64_t(cursors) + int64_t(c)) : ir::int64(0)));
    walk();
    if (phase == Phase::Count)
      for (size_t c = 0; c < cursors; c++) f_.store(counts, t * int64_t(cursors) + int64_t(c), cursors_[c]);
  });
}

void Lowerer::walk_shares(Phase phase, const Expr& shares, const Around& around) {
  phase_ = phase;
  std::vector<AccessState> saved = states_;
  auto share = [&](const Expr& t) {
    around(t, [&] {
      chunk_ = t, chunks_ = shares;
      inside_outer_loops([&] {
        if (statement_.body.is<Forall>()) visit(statement_.body);
        else once_for_all_shares([&] { visit(statement_.body); });
      });
      chunk_.reset();
    });
    states_ = saved;
  };
  in_parallel_ = true;  // shares are all the parallelism there is
  each_share(shares, share, [&] { make_workspaces(); });
  temporaries_.clear();
  in_parallel_ = false;
}

void Lowerer::each_share(const Expr& shares, const std::function<void(const Expr& share)>& fill,
                         const std::function<void()>& setup) {
  if (ir::constant_integer(shares) != 1) return f_.parallel("t", shares, fill, setup);
  f_.add(f_.collect([&] {
    setup();
    fill(ir::int64(0));
  }));
}

}  // namespace spdistal::lower
