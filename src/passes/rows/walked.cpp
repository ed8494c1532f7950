#include "passes/rows/walked.hpp"

#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/cursors.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

const Declare* variable(const Stmt& s) {
  auto* declared = s.as<Declare>();
  return declared && declared->mutability == Mutability::Mutable ? declared : nullptr;
}

/// An operand of a minimum or maximum that a statement leaves as it is.
std::optional<Var> fixed_bound(const Expr& e, BinaryOp op, const Changes& inside) {
  auto* bound = e.as<Binary>();
  if (!bound || bound->op != op) return {};
  for (const Expr& side : {bound->a, bound->b})
    if (auto* v = side.as<Var>(); v && !inside.touches(side)) return *v;
  return {};
}

/// Does a statement go on to the next row, or over some that have no positions?
bool goes_on_from(const Stmt& s, const Var& row) {
  if (auto* step = s.as<Assign>()) return is_increment(*step, row);
  auto* choice = s.as<If>();
  std::vector<Stmt> over = choice ? flat(choice->then) : std::vector<Stmt>{};
  std::vector<Stmt> next = choice && choice->otherwise ? flat(*choice->otherwise) : std::vector<Stmt>{};
  if (over.size() != 1 || next.size() != 1) return false;
  auto *found = over[0].as<Assign>(), *step = next[0].as<Assign>();
  return found && step && holds<Search>(found->value) && is_increment(*step, row);
}

/// Are two statements the same but for what their variables are called?
bool are_alike(const Stmt& a, const Stmt& b, std::map<Symbol, Symbol> names) {
  std::vector<Symbol> ours = declared_in(a), theirs = declared_in(b);
  if (ours.size() != theirs.size()) return false;
  for (size_t k = 0; k < ours.size(); k++) names.emplace(theirs[k], ours[k]);
  return a == renamed(b, names);
}

/// Positions that are added to an array of sums, and what is done with it.
struct SummedPositions {
  std::vector<Stmt> constants, arrays;
  Allocate sums;
  For loop;  // over positions, or over a level around them
  std::vector<Stmt> after;
};
std::optional<SummedPositions> summed_positions(const Stmt& body) {
  std::vector<Stmt> stmts = flat(body), constants, arrays;
  size_t at = 0;
  const Allocate* sums = nullptr;
  for (; at < stmts.size() && (is_constant(stmts[at]) || stmts[at].is<Allocate>()); at++) {
    auto* array = stmts[at].as<Allocate>();
    if (!array) constants.push_back(stmts[at]);
    else if (array->fill == Fill::Uninitialised) arrays.push_back(stmts[at]);
    else if (std::exchange(sums, array)) return {};
  }
  auto* loop = at < stmts.size() ? stmts[at].as<For>() : nullptr;
  if (!loop || !sums || !constant_integer(sums->count)) return {};
  Changes inside = changes(loop->body);
  for (const Symbol& own : declared_in(loop->body)) inside.arrays.erase(own);
  if (!assigned_outside(body).empty() || inside.arrays != std::set{sums->array.symbol}) return {};
  if (holds<While, Break, Sort>(body)) return {};
  return SummedPositions{constants, arrays, *sums, *loop, {stmts.begin() + long(at) + 1, stmts.end()}};
}

/// Loops in each other: constants, and then nothing but the next one. Innermost are those over positions.
std::vector<For> nest_of(const For& outer) {
  std::vector<For> out{outer};
  while (true) {
    std::vector<Stmt> stmts = flat(out.back().body);
    auto* next = stmts.empty() ? nullptr : stmts.back().as<For>();
    if (!next || trip_count(*next) || !std::all_of(stmts.begin(), stmts.end() - 1, is_constant)) return out;
    out.push_back(*next);
  }
}
std::vector<Stmt> constants_of(const For& loop) {
  std::vector<Stmt> stmts = flat(loop.body);
  return {stmts.begin(), stmts.end() - 1};
}

/// Whole numbers of any width are of one.
template <class Tree>
Tree of_one_width(const Tree& tree) {
  auto is_whole = [](const Type& type) { return type == Int32 || type == Int64; };
  return rewrite(
      tree,
      [&](const Cast& n) -> Expr {
        return is_whole(type_of(n.value)) && n.type == ScalarType::Int64 ? n.value : Expr(n);
      },
      [&](const Var& v) -> Expr {
        return v.type == Int32 ? Var{v.symbol, Int64} : v;
      },
      [&](const Literal& n) -> Expr {
        auto value = constant_integer(n);
        return value && is_whole(type_of(n)) ? int64(*value) : Expr(n);
      });
}

/// The array in which a loop's bounds follow each other: array[parent] .. array[parent + 1].
std::optional<Var> segments_of(const For& loop, const Var& parent) {
  Expr lo = of_one_width(loop.lo), hi = of_one_width(loop.hi), at = of_one_width(Expr(parent));
  auto *begin = lo.as<Load>(), *end = hi.as<Load>();
  if (!begin || !end || begin->array.symbol != end->array.symbol || constant_integer(loop.step) != 1) return {};
  if (begin->index != at || end->index != at + 1) return {};
  return begin->array;
}

/// Sums over levels between: that of rows that are whole says which; that of others has the same in its innermost loop.
std::optional<RowTurns> turns_of_levels(const std::vector<Stmt>& constants, const Var& row, const Expr& whole,
                                        const SummedPositions& all, const SummedPositions& cut,
                                        std::map<Symbol, Symbol> names) {
  std::vector<For> ours = nest_of(all.loop), theirs = nest_of(cut.loop);
  auto* both = whole.as<Binary>();
  auto* from = both && both->op == BinaryOp::And ? both->a.as<Binary>() : nullptr;
  auto* to = from ? both->b.as<Binary>() : nullptr;
  if (ours.size() != theirs.size() || !to || from->op != BinaryOp::Ge || to->op != BinaryOp::Le) return {};
  std::vector<InnerLevel> levels;
  std::vector<Var> segments;
  Expr begin = row, end = Expr(row) + 1;
  for (size_t k = 0; k < ours.size(); k++) {
    auto found = segments_of(ours[k], k == 0 ? row : ours[k - 1].var);
    if (!found) return {};
    segments.push_back(*found);
    begin = load(*found, begin), end = load(*found, end);
    names.emplace(theirs[k].var.symbol, ours[k].var.symbol);
  }
  Stmt scope = Block{constants};
  if (of_one_width(expanded(from->a, scope)) != begin || of_one_width(expanded(to->a, scope)) != end) return {};
  for (size_t k = 0; k + 1 < ours.size(); k++) {
    levels.push_back({ours[k].var, constants_of(ours[k]), segments[k + 1]});
    if (!are_alike(of_one_width(Stmt(Block{constants_of(ours[k])})), of_one_width(Stmt(Block{constants_of(theirs[k])})),
                   names))
      return {};
    std::vector<Stmt> own = constants_of(ours[k]), other = constants_of(theirs[k]);
    for (size_t c = 0; c < own.size(); c++)
      names.emplace(other[c].as<Declare>()->var.symbol, own[c].as<Declare>()->var.symbol);
  }
  if (!are_alike(of_one_width(ours.back().body), of_one_width(theirs.back().body), names)) return {};
  const For& inner = ours.back();
  For positions{inner.var, max(wide(begin), from->b), min(wide(end), to->b), int64(1), inner.body};
  std::vector<Stmt> of_cut = cut.arrays;
  for (const Stmt& s : cut.after) of_cut.push_back(renamed(s, names));
  RowOfSums sums{all.sums, whole, with_constants(cut.constants, of_cut), levels, segments[0]};
  return RowTurns{constants, {}, positions, all.after, sums};
}

/// Where rows that are whole are treated otherwise than those that are cut, once their positions are added up.
std::optional<RowTurns> turns_of_sums(const std::vector<Stmt>& constants, const Var& row, const If& choice) {
  if (!choice.otherwise) return {};
  std::optional<SummedPositions> all = summed_positions(choice.then), cut = summed_positions(*choice.otherwise);
  if (!all || !cut || !all->arrays.empty() || !all->constants.empty() || all->sums.count != cut->sums.count) return {};
  std::map<Symbol, Symbol> name{{cut->sums.array.symbol, all->sums.array.symbol}};
  if (nest_of(all->loop).size() > 1) return turns_of_levels(constants, row, choice.cond, *all, *cut, name);
  if (!are_alike(all->loop, cut->loop, name) || constant_integer(all->loop.step) != 1) return {};
  std::vector<Stmt> of_cut = cut->arrays;
  for (const Stmt& s : cut->after) of_cut.push_back(renamed(s, name));
  of_cut = with_constants(cut->constants, of_cut);
  return RowTurns{constants, {}, all->loop, all->after, RowOfSums{all->sums, choice.cond, of_cut}};
}

std::optional<RowTurns> row_turns(const Stmt& body, const Var& row) {
  std::vector<Stmt> stmts = flat(body), constants;
  size_t at = 0;
  std::optional<Declare> sum;
  for (; at < stmts.size() && stmts[at].is<Declare>(); at++) {
    if (is_constant(stmts[at])) constants.push_back(stmts[at]);
    else if (std::exchange(sum, *variable(stmts[at]))) return {};
  }
  auto* choice = at + 2 == stmts.size() ? stmts[at].as<If>() : nullptr;
  if (choice && !sum && goes_on_from(stmts.back(), row)) return turns_of_sums(constants, row, *choice);
  auto* loop = at < stmts.size() ? stmts[at].as<For>() : nullptr;
  if (!loop || constant_integer(loop->step) != 1 || at + 2 > stmts.size() || !goes_on_from(stmts.back(), row))
    return {};
  std::vector<Stmt> after(stmts.begin() + long(at) + 1, stmts.end() - 1);
  Stmt rest = Block{after};
  if (!assigned_outside(rest).empty() || holds<For, While, Break, Allocate, Sort>(rest)) return {};
  return RowTurns{constants, sum, *loop, after};
}

struct PositionRange {
  Expr begin, end;
};
/// Where shares are dealt out evenly: of number t it is base + size * t / count.
std::optional<PositionRange> all_of(const Expr& begin, const ParallelRegion& region) {
  auto* sum = begin.as<Binary>();
  bool shifted = sum && sum->op == BinaryOp::Add;
  Expr base = shifted ? sum->a : int64(0), rest = shifted ? sum->b : begin;
  auto* part = rest.as<Binary>();
  auto* all = part && part->op == BinaryOp::Div ? part->a.as<Binary>() : nullptr;
  if (!all || all->op != BinaryOp::Mul || all->b != Expr(region.item) || part->b != region.count) return {};
  PositionRange out{base, base + all->a};
  if (has_loads(begin) || Changes{{region.item.symbol}, {}}.touches(out.end)) return {};
  return out;
}

/// Where each share begins where the one before ends, and nothing else tells them apart; takes its bounds out of its constants.
std::optional<PositionRange> dealt_out(const ParallelRegion& region, std::vector<Stmt>& constants, const Var& from,
                                       const Var& to) {
  Stmt scope = Block{constants};
  Expr begin = expanded(from, scope), end = expanded(to, scope);
  std::erase_if(constants, [&](const Stmt& s) {
    const Symbol& symbol = s.as<Declare>()->var.symbol;
    return symbol == from.symbol || symbol == to.symbol;
  });
  Changes share{{region.item.symbol}, {}};
  for (const Stmt& s : constants)
    if (share.touches(expanded(s.as<Declare>()->init, scope))) return {};
  if (end != substitute(begin, {{region.item.symbol, Expr(region.item) + 1}})) return {};
  return all_of(begin, region);
}

}  // namespace

std::optional<WalkedRows> walked_rows(const ParallelRegion& region) {
  std::vector<Stmt> stmts = flat(region.body);
  std::optional<Expr> asked;  // of a share, before it is walked along
  if (auto* guarded = stmts.empty() ? nullptr : stmts.back().as<If>(); guarded && !guarded->otherwise) {
    asked = guarded->cond;
    std::vector<Stmt> inner = flat(guarded->then);
    stmts.pop_back();
    stmts.insert(stmts.end(), inner.begin(), inner.end());
  }
  if (stmts.size() < 2) return {};
  const Declare* row = variable(stmts[stmts.size() - 2]);
  auto* rows = stmts.back().as<While>();
  if (!row || !rows) return {};
  std::vector<Stmt> constants;
  std::vector<Declare> inner;  // where the walk begins in levels between, the innermost first
  for (const Stmt& s : std::vector(stmts.begin(), stmts.end() - 2)) {
    auto* found = variable(s);
    if (found && holds<Search>(found->init)) inner.push_back(*found);
    else if (is_constant(s)) constants.push_back(s);
    else return {};
  }
  std::vector<Var> moved = assigned_outside(rows->body);
  if (moved.size() != 1 || moved[0].symbol != row->var.symbol) return {};
  std::optional<RowTurns> in_row = row_turns(rows->body, row->var);
  auto* less = rows->cond.as<Binary>();
  if (!in_row || !less || less->op != BinaryOp::Lt) return {};
  Changes inside = changes(rows->body);
  std::optional<Var> begin = fixed_bound(expanded(in_row->positions.lo, rows->body), BinaryOp::Max, inside);
  std::optional<Var> end = fixed_bound(expanded(in_row->positions.hi, rows->body), BinaryOp::Min, inside);
  if (!begin || !end || begin->type != Int64 || end->type != Int64) return {};
  if (less->b != Expr(*end) || (asked && *asked != (Expr(*begin) < Expr(*end)))) return {};
  if (inner.size() != (in_row->sums ? in_row->sums->levels.size() : 0)) return {};
  std::optional<PositionRange> all = dealt_out(region, constants, *begin, *end);
  if (!all) return {};
  return WalkedRows{constants, *begin, *end, all->begin, all->end, *row, inner, rows->cond, *in_row};
}

bool looks_up_rows(const WalkedRows& walk) {
  const Search* search = nullptr;
  each<Search>(walk.row.init, [&](const Search& n) { search = &n; });
  return search && search->bound == Bound::Upper && type_of(search->lo) == Int64 && walk.row.var.type == Int64;
}

// All between the two rows ascends.
Expr row_between(const WalkedRows& walk, const Expr& position, const Expr& first, const Expr& last) {
  Expr row = rewrite(walk.row.init, [&](const Search& n) -> Expr {
    return Search{n.bound, n.array, first, last + 1, n.value};
  });
  return wide(substitute(row, {{walk.begin.symbol, position}}));
}

std::vector<Stmt> with_constants(const std::vector<Stmt>& constants, std::vector<Stmt> stmts) {
  for (auto s = constants.rbegin(); s != constants.rend(); s++)
    if (uses(Block{stmts}).contains(s->as<Declare>()->var.symbol)) stmts.insert(stmts.begin(), *s);
  return stmts;
}

Expr RowBlocks::count() const { return (walk.all_end - walk.all_begin + (room - 1)) / room; }

Expr RowBlocks::begin_of(const Expr& block) const { return min(walk.all_begin + block * room, walk.all_end); }

Stmt RowBlocks::look_up(const Var& found, const Expr& block) const {
  Body f;
  std::map<Symbol, Expr> known{{walk.begin.symbol, begin_of(block)}};
  int64_t number = starts();
  auto find = [&](const Declare& where) {
    Expr at = wide(substitute(expanded(where.init, Block{walk.constants}), known));
    number--;
    if (number > 0) at = f.constant(where.var.symbol.name(), at), known.emplace(where.var.symbol, at);
    f.store(found, block * starts() + number, at);
  };
  for (const Declare& where : walk.inner) find(where);
  find(walk.row);
  return f.build();
}

std::vector<Stmt> RowBlocks::declarations(const Expr& block) const {
  std::vector<Stmt> out = walk.constants;
  out.push_back(declare(walk.begin, begin_of(block)));
  out.push_back(declare(walk.end, begin_of(block + 1)));
  return out;
}

}  // namespace spdistal::passes
