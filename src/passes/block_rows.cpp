// block rows: short rows that a loop of constant length zeroes, and a later loop adds to, are summed up in one local array,
// in which `vectorize` keeps them in registers: the rows of a dense block.
//
//   requires  nothing
//   ensures   the same sums, each in the same order
//
//   for i in 0 .. 4                                 allocate sums: double[64] zeroed
//     for j in 0 .. 16                              for p in lo .. hi
//       A[(n * 4 + i) * 16 + j] = 0                   for k in 0 .. 4
//   for p in lo .. hi                                   for i in 0 .. 4 unroll
//     for i in 0 .. 4                         →           for j in 0 .. 16 vector
//       for k in 0 .. 4                                     sums[i * 16 + j] += B[…] * C[…]
//         for j in 0 .. 16 vector                   for i in 0 .. 4 unroll
//           A[(n * 4 + i) * 16 + j] += B[…] * C[…]    for j in 0 .. 16 vector
//                                                       A[(n * 4 + i) * 16 + j] = sums[i * 16 + j]
//
// The loop over rows becomes the one next to the innermost, so that what is multiplied with all of them is loaded once.
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"
#include "passes/registers.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool counts_from_zero(const For& loop) {
  return constant_integer(loop.lo) == 0 && constant_integer(loop.step) == 1 && trip_count(loop).value_or(0) > 0;
}

const Stmt& unwrapped(const Stmt& s) {
  auto* block = s.as<Block>();
  return block && block->stmts.size() == 1 ? unwrapped(block->stmts[0]) : s;
}

/// Loops that zero the rows of a block.
struct ZeroedBlock {
  For rows, columns;
  Store store;

  int64_t size() const { return *trip_count(rows) * *trip_count(columns); }
  Expr index(const Var& row, const Var& column) const {
    return substitute(store.index, {{rows.var.symbol, row}, {columns.var.symbol, column}});
  }
};

std::optional<ZeroedBlock> zeroed_block(const Stmt& s, const Target& target) {
  auto* rows = s.as<For>();
  auto* columns = rows ? unwrapped(rows->body).as<For>() : nullptr;
  auto* store = columns ? unwrapped(columns->body).as<Store>() : nullptr;
  if (!store || store->mode != StoreMode::Set || !(store->value == zero(type_of(store->value)))) return {};
  if (!counts_from_zero(*rows) || !counts_from_zero(*columns) || rows->kind != LoopKind::Serial) return {};
  ScalarType type = store->array.type.scalar;
  if (!has_lanes(type)) return {};
  ZeroedBlock out{*rows, *columns, *store};
  int lanes = lanes_for(*trip_count(*columns), type, target.vector_bytes);
  if (lanes < 2 || out.size() / lanes > registers_of(target.vector_bytes)) return {};
  return out;
}

/// A loop over the rows of a block, down to the additions in its innermost one. All that stands between is constants and
/// loops that do not depend on the row.
struct AddedRows {
  For rows;
  std::vector<For> between;         // outermost first
  std::vector<Stmt> constants;      // declared in `rows` or `between`
  std::optional<For> columns = {};  // a vector loop that holds the addition
};

/// Goes down from a loop over rows; nothing where something else stands between.
std::optional<AddedRows> down_from(const For& rows) {
  AddedRows out{rows, {}, {}};
  Changes own{{rows.var.symbol}, {}};
  const Stmt* body = &rows.body;
  while (!out.columns) {
    const For* inner = nullptr;
    std::vector<Stmt> here{*body};
    if (auto* block = body->as<Block>()) here = block->stmts;
    for (const Stmt& s : here) {
      if (inner) return {};
      auto* declared = s.as<Declare>();
      if (declared && declared->mutability == Mutability::Const) {
        own.variables.insert(declared->var.symbol);
        out.constants.push_back(s);
      } else if (!(inner = s.as<For>())) {
        return {};
      }
    }
    if (!inner) return {};
    if (inner->kind == LoopKind::Vector) {
      out.columns = *inner;
    } else if (inner->kind != LoopKind::Serial || own.touches(inner->lo) || own.touches(inner->hi) ||
               own.touches(inner->step)) {
      return {};
    } else {
      out.between.push_back(*inner);
      body = &out.between.back().body;
    }
  }
  return out;
}

/// The rows of a zeroed block that a statement adds to, if it does nothing else with them.
std::optional<AddedRows> added_rows(const Stmt& s, const ZeroedBlock& block) {
  const Symbol& array = block.store.array.symbol;
  if (!s.is<For>() || uses(s)[array] != 1 || holds<Parallel>(s) || holds<Break>(s)) return {};
  Changes changed = changes(s);
  std::optional<AddedRows> out;
  each<For>(s, [&](const For& rows) {
    if (rows.kind != LoopKind::Serial || !counts_from_zero(rows) || trip_count(rows) != trip_count(block.rows)) return;
    std::optional<AddedRows> found = down_from(rows);
    if (!found || !counts_from_zero(*found->columns) || trip_count(*found->columns) != trip_count(block.columns))
      return;
    // Nothing else is changed where the order of the loops does.
    Changes inside = changes(found->columns->body);
    Expr wanted = block.index(rows.var, found->columns->var);
    bool adds = inside.arrays == std::set<Symbol>{array} && !holds<Assign>(found->columns->body);
    each<Store>(found->columns->body, [&](const Store& n) { adds &= n.mode == StoreMode::Add && n.index == wanted; });
    if (adds) out = found;
  });
  Expr free = block.index(var("row", block.rows.var.type), var("column", block.columns.var.type));
  return out && !changed.touches(free) ? out : std::nullopt;
}

/// The loops, with the one over rows next to the innermost and unrolled.
Stmt rows_inside(const AddedRows& added, const Var& sums, int64_t row_length) {
  const For &rows = added.rows, &columns = *added.columns;
  Expr row = binary(BinaryOp::Mul, rows.var, literal(ir::Scalar::integer(rows.var.type.scalar, row_length)));
  Stmt additions = rewrite(columns.body, [&](const Store& n) -> Stmt {
    return Store{StoreMode::Add, sums, binary(BinaryOp::Add, row, columns.var), n.value};
  });
  std::vector<Stmt> inner = added.constants;
  inner.push_back(For{columns.var, columns.lo, columns.hi, columns.step, additions, columns.kind, columns.unroll});
  Stmt out = For{rows.var, rows.lo, rows.hi, rows.step, Block{std::move(inner)}, LoopKind::Serial, 0};
  for (size_t k = added.between.size(); k-- > 0;) {
    const For& loop = added.between[k];
    out = For{loop.var, loop.lo, loop.hi, loop.step, out, loop.kind, loop.unroll};
  }
  return out;
}

Stmt summed_up(const Stmt& s, const ZeroedBlock& block, const AddedRows& added) {
  const Var& array = block.store.array;
  Var sums = var("sums", array_of(array.type.scalar));
  int64_t row_length = *trip_count(block.columns);
  Stmt loops = rewrite(s, [&](const For& n) -> Stmt {
    return n.var.symbol == added.rows.var.symbol ? rows_inside(added, sums, row_length) : Stmt(n);
  });
  Var row = var(added.rows.var.symbol.name(), block.rows.var.type);
  Var column = var(added.columns->var.symbol.name(), block.columns.var.type);
  Expr at = binary(BinaryOp::Add, binary(BinaryOp::Mul, row, literal(ir::Scalar::integer(row.type.scalar, row_length))),
                   column);
  Stmt write = For{column,
                   block.columns.lo,
                   block.columns.hi,
                   block.columns.step,
                   store(array, block.index(row, column), load(sums, at)),
                   LoopKind::Vector,
                   1};
  return Block{{Allocate{sums, literal(ir::Scalar::integer(ScalarType::Int64, block.size())), Fill::Zeroed}, loops,
                For{row, block.rows.lo, block.rows.hi, block.rows.step, write, LoopKind::Serial, 0}}};
}

Stmt rewritten(const Block& n, const Target& target) {
  std::vector<Stmt> stmts = n.stmts;
  for (size_t at = 0; at < stmts.size(); at++) {
    std::optional<ZeroedBlock> block = zeroed_block(stmts[at], target);
    if (!block) continue;
    // What stands between neither uses the rows nor moves them.
    auto passes_by = [&](const Stmt& s) {
      return uses(s)[block->store.array.symbol] == 0 && !changes(s).touches(block->store.index);
    };
    size_t next = at + 1;
    while (next < stmts.size() && passes_by(stmts[next])) next++;
    if (next == stmts.size()) continue;
    std::optional<AddedRows> added = added_rows(stmts[next], *block);
    if (!added) continue;
    stmts[next] = summed_up(stmts[next], *block, *added);
    stmts.erase(stmts.begin() + std::ptrdiff_t(at--));
  }
  return Block{std::move(stmts)};
}

}  // namespace

Function block_rows(const Function& f, const Target& target) {
  return {f.name, f.params, rewrite(f.body, [&](const Block& n) { return rewritten(n, target); })};
}

}  // namespace spdistal::passes
