// What kind of result a statement has, and the frame of its kernel.
#include "lower/lower.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "lower/lowerer.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

Access find_lhs(const ConcreteStatement& statement) {
  std::optional<Access> lhs;
  each<Assign>(statement.body, [&](const Assign& a) {
    if (a.lhs.tensor == statement.result) lhs = a.lhs;
  });
  require(lhs.has_value(), "a statement writes its result");
  return *lhs;
}

std::vector<IndexVar> storage_order(const Access& access) {
  std::vector<IndexVar> out;
  for (int dim : access.tensor.format().mode_order()) out.push_back(access.indices[size_t(dim)]);
  return out;
}

// The directly nested and consumer-side loops down to the assignment of the result.
void loops_to_result(const Stmt& stmt, const TensorVar& result, std::vector<Forall>& path) {
  match(
      stmt,
      [&](const Forall& n) {
        path.push_back(n);
        loops_to_result(n.body, result, path);
      },
      [&](const Where& n) { loops_to_result(n.consumer, result, path); }, [&](const Assign&) {},
      [&](const Sequence& n) {
        for (const Stmt& part : n.stmts) loops_to_result(part, result, path);
      });
}

}  // namespace

Lowerer::Lowerer(const ConcreteStatement& statement, const Options& options)
    : statement_(statement),
      provenance_(statement.provenance),
      options_(options),
      start_(options.start.value_or(statement.start)),
      lhs_(find_lhs(statement)),
      kernel_{{"kernel", {}, ir::block({})},
              statement.result,
              Assembly::Dense,
              0,
              0,
              operands_of(statement),
              false,
              {},
              {},
              {}} {
  print_(statement);
  states_.resize(kernel_.operands.size());
}

std::vector<Access> operands_of(const ConcreteStatement& statement) {
  std::vector<Access> out;
  auto add = [&](const Access& access) {
    if (access.tensor.origin() == Origin::Temporary) return;
    for (const Access& known : out)
      if (structurally_equal(known, access)) return;
    out.push_back(access);
  };
  each<Assign>(statement.body, [&](const Assign& assign) { each<Access>(assign.rhs, add); });
  // A loop may walk the positions of a tensor whose values go through a workspace.
  for (const Relation& relation : statement.provenance.relations)
    for (const Replaced& r : relation.replaced)
      if (auto* stored = r.value.as<StoredCoordinate>()) add(stored->levels.access);
  return out;
}

// Do the loops visit the result's coordinates in storage order, each once, with sums inside?
bool Lowerer::loops_follow_result() const {
  std::vector<Forall> path;
  loops_to_result(statement_.body, lhs_.tensor, path);
  std::vector<IndexVar> wanted = storage_order(lhs_);
  if (std::set<IndexVar>(wanted.begin(), wanted.end()).size() != wanted.size()) return false;
  size_t next = 0;
  for (const Forall& loop : path) {
    IndexVar var = provenance_.ranges_over(loop.var, options_.outer);
    if (provenance_.root(var) == nullptr) return false;
    if (next < wanted.size() && var == wanted[next]) next++;
    else if (next < wanted.size()) return false;
  }
  return next == wanted.size();
}

void Lowerer::choose_assembly() {
  const Format& format = lhs_.tensor.format();
  if (format.is_dense()) return;
  // Shared: the right side is there exactly where one operand is, which stores the same levels.
  std::set<int> sparse;
  for (int k = 0; k < int(states_.size()); k++)
    if (!kernel_.operands[size_t(k)].tensor.format().is_dense()) sparse.insert(k);
  made_where_.clear();
  Formula where = where_active(statement_.body, sparse);
  made_where_.clear();
  if (where.alternatives().size() == 1 && where.alternatives()[0].size() == 1) {
    int k = *where.alternatives()[0].begin();
    const Access& access = kernel_.operands[size_t(k)];
    std::vector<IndexVar> theirs = storage_order(access), ours = storage_order(lhs_);
    const std::vector<LevelFormat>& levels = access.tensor.format().levels();
    bool distinct = std::set<IndexVar>(theirs.begin(), theirs.end()).size() == theirs.size();
    bool same = distinct && ours.size() <= theirs.size() && std::equal(ours.begin(), ours.end(), theirs.begin()) &&
                std::equal(format.levels().begin(), format.levels().end(), levels.begin());
    // A last level that repeats coordinates is not a pattern of its own.
    bool cut = ours.size() < theirs.size() && levels[ours.size()].properties().branchless;
    // Below a dense level there may be nothing, which a pattern of fewer levels would count as stored.
    bool filled = ours.size() >= theirs.size() || !levels[ours.size()].properties().full;
    if (same && !cut && filled) {
      kernel_.assembly = Assembly::Shared;
      kernel_.shared_tensor = k + 1;
      kernel_.shared_level = ours.size() - 1;
      return;
    }
  }
  // Appended: dense levels, then compressed ones.
  bool compressed = false, simple = true;
  for (const LevelFormat& level : format.levels()) {
    const LevelProperties& p = level.properties();
    simple &= !p.branchless && p.unique && (!p.full || !compressed);
    compressed |= !p.full;
  }
  kernel_.assembly = simple && loops_follow_result() ? Assembly::Appended : Assembly::Listed;
}

Kernel Lowerer::run() {
  choose_assembly();
  if (kernel_.assembly == Assembly::Dense || kernel_.assembly == Assembly::Shared)
    inside_outer_loops([&] {
      vals_array(0);
      visit_in_place();
    });
  else assemble();
  kernel_.function = f_.build();
  return std::move(kernel_);
}

// Writes elements that have their place. A piece of the result may have more of them than the loops come to.
void Lowerer::visit_in_place() {
  if (!on_pieces() || start_ == Start::Old) return visit(statement_.body);
  if (kernel_.assembly == Assembly::Shared) {
    kernel_.zero_first = true;
    return visit(statement_.body);
  }
  std::optional<Expr> covers = outer_may_lie_beyond() ? std::nullopt : covers_result();
  covering_ = covers.has_value();
  ir::Stmt body = f_.collect([&] { visit(statement_.body); });
  bool always = covers && ir::constant(*covers);
  if (covers && !always && !kernel_.zero_first) f_.when(!*covers, [&] { zero_all(); });
  f_.add(body);
}

// Counts what there will be, makes room, fills: each phase walks the same loops, in shares of the outermost one.
void Lowerer::assemble() {
  const Format& format = lhs_.tensor.format();
  const Forall* outer = statement_.body.as<Forall>();
  bool parallel = outer && can_run_in_parallel(*outer);
  Expr shares = parallel ? Expr(this->shares()) : ir::int64(1);
  size_t dense = 0;
  while (kernel_.assembly == Assembly::Appended && format.levels()[dense].properties().full) dense++;
  size_t cursors = kernel_.assembly == Assembly::Appended ? format.order() - dense : 1;
  for (size_t d = 0; kernel_.assembly == Assembly::Listed && d < lhs_.tensor.order(); d++) {
    std::string key = fmt::format("list{}", d + 1);
    params_.emplace(key, f_.array(key, int(d), ScalarType::Int64, ir::Access::Write));
  }

  Var counts = f_.allocate("counts", ScalarType::Int64, shares * int64_t(cursors), ir::Fill::Uninitialised);
  f_.comment("Count what there will be.");
  assemble_phase(Phase::Count, counts, shares, cursors);
  f_.comment("Make room.");
  std::vector<Expr> totals;
  for (size_t c = 0; c < cursors; c++) {
    Var total = f_.variable(fmt::format("total{}", c + 1), ir::int64(0));
    f_.loop("t", ir::int64(0), shares, [&](const Var& t) {
      Expr at = Expr(t) * int64_t(cursors) + int64_t(c);
      Var here = f_.constant("here", ir::load(counts, at));
      f_.store(counts, at, total);
      f_.increase(total, here);
    });
    totals.push_back(total);
  }
  // A piece may have places that the loops do not come to: they end where those before them end.
  bool gaps = false;
  Expr parents = ir::int64(1), places = ir::int64(0);
  if (kernel_.assembly == Assembly::Listed) {
    for (size_t d = 0; d < lhs_.tensor.order(); d++) f_.resize(params_.at(fmt::format("list{}", d + 1)), totals[0]);
  } else {
    for (size_t level = 0; level < dense; level++)
      parents = parents * dense_size(0, level), gaps |= !is_whole(0, level);
    if (gaps) places = f_.constant("places", parents);
    for (size_t c = 0; c < cursors; c++) {
      Var pos = pos_array(0, dense + c);
      f_.resize(pos, parents + 1);
      if (c == 0 && gaps) f_.loop("p", ir::int64(0), places + 1, [&](const Var& p) { f_.store(pos, p, 0); });
      else f_.store(pos, 0, 0);
      f_.resize(crd_array(0, dense + c), totals[c]);
      parents = totals[c];
    }
    if (dense == 0) {
      Var pos = pos_array(0, 0);
      f_.store(pos, 1, ir::cast(pos.type.scalar, totals[0]));
    }
  }
  f_.resize(vals_array(0), totals.back());
  f_.comment("Fill it.");
  assemble_phase(Phase::Fill, counts, shares, cursors);
  if (gaps) {
    Var pos = pos_array(0, dense);
    f_.loop("p", ir::int64(0), places,
            [&](const Var& p) { f_.store(pos, Expr(p) + 1, ir::max(ir::load(pos, p), ir::load(pos, Expr(p) + 1))); });
  }
}

void Lowerer::assemble_phase(Phase phase, const Var& counts, const Expr& shares, size_t cursors) {
  phase_ = phase;
  std::vector<AccessState> saved = states_;
  // Workspaces with lists live as long as the thread: only what was touched is cleaned.
  auto workspaces = [&] {
    each<Where>(statement_.body, [&](const Where& where) {
      each<Assign>(where.producer, [&](const Assign& a) {
        if (a.lhs.tensor.format().is_dense() || temporaries_.contains(a.lhs.tensor)) return;
        std::string name = kernel_name(print_.name(a.lhs.tensor));
        Expr count = size(a.lhs.indices[0]);
        Var values = f_.allocate(name, a.lhs.tensor.type(), count, ir::Fill::Uninitialised);
        Temporary temporary{values, {count}, {}, {}, {}};
        temporary.marks = f_.allocate(name + "_marks", ScalarType::Bool, count, ir::Fill::Zeroed);
        // Narrow where the coordinates are: half the memory to sort.
        std::optional<int64_t> most = a.lhs.tensor.dims()[0].value();
        ScalarType narrow =
            most && *most <= std::numeric_limits<int32_t>::max() ? ScalarType::Int32 : ScalarType::Int64;
        temporary.list = f_.allocate(name + "_list", narrow, count, ir::Fill::Uninitialised);
        temporaries_.insert_or_assign(a.lhs.tensor, temporary);
      });
    });
  };
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
      workspaces();
      share(ir::int64(0));
    }));
  } else {
    f_.parallel("t", shares, share, workspaces);
  }
  temporaries_.clear();
  in_parallel_ = false;
}

Kernel lower(const ConcreteStatement& statement, const Options& options) { return Lowerer(statement, options).run(); }

}  // namespace spdistal::lower
