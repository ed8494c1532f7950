// vectorize: small local arrays that vector loops accumulate in become short vectors, which the C++ compiler keeps in
// registers (a plain array of 32 doubles it leaves in memory, three to four times slower).
//
//   requires  nothing
//   ensures   the same results to the last bit: lanes are computed as the turns of the loop were
//
//   allocate sums: double[16] zeroed                var sums0: double x 8 = broadcast(0.0, 8)
//   for p in lo .. hi                               var sums1: double x 8 = broadcast(0.0, 8)
//     for k in 0 .. 16 vector                       for p in lo .. hi
//       sums[k] += B[p] * C[j * 16 + k]       →       sums0 = sums0 + broadcast(B[p], 8) * C[j * 16 x 8]
//   for k in 0 .. 16 vector                           sums1 = sums1 + broadcast(B[p], 8) * C[j * 16 + 8 x 8]
//     A[i * 16 + k] = sums[k]                       A[i * 16] = sums0
//                                                   A[i * 16 + 8] = sums1
//
// An array is taken where every access to it is at [k], or at [16 + k] of a longer one, in vector loops over all of it or
// over parts of one length, whose body is arithmetic on that array's type, on elements k apart by one and on values that are
// the same in every turn. Other vector loops are left to `#pragma omp simd`.
#include <numeric>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"
#include "passes/registers.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool is_var(const Expr& e, const Var& v) {
  auto* cast = e.as<Cast>();
  return e == Expr(v) || (cast && is_integral(cast->type) && cast->value == Expr(v));
}

bool mentions(const Expr& e, const std::set<Symbol>& symbols) { return Changes{symbols, {}}.touches(e); }

/// Where the part of a local array begins that a loop over k goes over: c in [c + k].
std::optional<int64_t> part_at(const Expr& index, const Var& k) {
  if (is_var(index, k)) return 0;
  auto* sum = index.as<Binary>();
  if (!sum || sum->op != BinaryOp::Add) return {};
  if (is_var(sum->b, k)) return constant_integer(sum->a);
  return is_var(sum->a, k) ? constant_integer(sum->b) : std::nullopt;
}

/// Does the index grow by one with k?
bool has_unit_stride(const Expr& index, const Var& k) {
  if (is_var(index, k)) return true;
  auto* n = index.as<Binary>();
  if (!n) return false;
  std::set<Symbol> own{k.symbol};
  if (n->op == BinaryOp::Add && !mentions(n->a, own)) return has_unit_stride(n->b, k);
  return (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) && !mentions(n->b, own) && has_unit_stride(n->a, k);
}

/// One vector loop, taken apart into strips of lanes.
class Strips {
 public:
  Strips(const For& loop, int vector_bytes) : loop_(loop), trips_(trip_count(loop).value_or(0)) {
    varying_.insert(loop.var.symbol);
    scalar_ = ScalarType::Bool;
    each<Store>(loop.body, [&](const Store& n) { scalar_ = n.array.type.scalar; });
    lanes = has_lanes(scalar_) ? lanes_for(trips_, scalar_, vector_bytes) : 1;
  }

  int lanes = 1;

  /// Can it be done? The arrays that become registers are those in `local`.
  bool possible(const std::set<Symbol>& local) {
    if (loop_.kind != LoopKind::Vector || constant_integer(loop_.lo) != 0 || constant_integer(loop_.step) != 1)
      return false;
    if (lanes < 2 || trips_ / lanes > most_registers) return false;
    return possible(loop_.body, local);
  }

  /// The strips, given the registers of each local array.
  Stmt made(const std::map<Symbol, std::vector<Var>>& registers) {
    std::vector<Stmt> out;
    for (int64_t s = 0; s < trips_ / lanes; s++) {
      strip_ = s;
      renamed_.clear();
      std::vector<Stmt> one;
      stmt(loop_.body, registers, one);
      if (renamed_.empty()) out.insert(out.end(), one.begin(), one.end());
      else out.push_back(Block{std::move(one)});
    }
    return Block{std::move(out)};
  }

 private:
  bool possible(const Stmt& s, const std::set<Symbol>& local) {
    if (s.is<Comment>()) return true;
    if (auto* n = s.as<Block>())
      return std::all_of(n->stmts.begin(), n->stmts.end(), [&](const Stmt& t) { return possible(t, local); });
    if (auto* n = s.as<Declare>()) {
      if (n->mutability == Mutability::Mutable || !possible(n->init, local)) return false;
      varying_.insert(n->var.symbol);
      return true;
    }
    auto* n = s.as<Store>();
    if (!n || is_atomic(n->mode) || n->array.type.scalar != scalar_) return false;
    return has_place(n->array, n->index, local) && possible(n->value, local);
  }

  bool has_place(const Var& array, const Expr& index, const std::set<Symbol>& local) const {
    if (!local.contains(array.symbol)) return has_unit_stride(index, loop_.var);
    std::optional<int64_t> part = part_at(index, loop_.var);
    return part && *part % lanes == 0;
  }

  bool possible(const Expr& e, const std::set<Symbol>& local) {
    if (type_of(e) != value_of(scalar_)) return false;
    bool uses_local = false;
    each<Load>(e, [&](const Load& n) { uses_local |= local.contains(n.array.symbol); });
    if (!mentions(e, varying_)) return !uses_local;
    if (auto* n = e.as<Load>()) return has_place(n->array, n->index, local);
    if (auto* n = e.as<Var>()) return n->symbol != loop_.var.symbol;
    if (auto* n = e.as<Unary>()) return possible(n->a, local);
    auto* n = e.as<Binary>();
    return n && n->op <= BinaryOp::Max && possible(n->a, local) && possible(n->b, local);
  }

  void stmt(const Stmt& s, const std::map<Symbol, std::vector<Var>>& registers, std::vector<Stmt>& out) {
    if (auto* n = s.as<Block>()) {
      for (const Stmt& inner : n->stmts) stmt(inner, registers, out);
    } else if (auto* d = s.as<Declare>()) {
      Expr init = expr(d->init, registers);
      Var v = var(d->var.symbol.name(), type_of(init));
      out.push_back(Declare{v, init, Mutability::Const});
      renamed_.emplace(d->var.symbol, v);
    } else if (auto* w = s.as<Store>()) {
      Expr value = expr(w->value, registers);
      auto it = registers.find(w->array.symbol);
      if (it == registers.end()) {
        out.push_back(Store{w->mode, w->array, index(w->index), value});
        return;
      }
      const Var& own = register_of(it->second, w->index);
      out.push_back(Assign{own, w->mode == StoreMode::Add ? Expr(Binary{BinaryOp::Add, own, value}) : value});
    } else {
      out.push_back(s);
    }
  }

  const Var& register_of(const std::vector<Var>& registers, const Expr& index) const {
    return registers[size_t(*part_at(index, loop_.var) / lanes + strip_)];
  }

  Expr index(const Expr& e) const {
    Expr first = literal(ir::Scalar::integer(loop_.var.type.scalar, strip_ * lanes));
    return rewrite(
        substitute(e, {{loop_.var.symbol, first}}), [](const Binary& n) { return binary(n.op, n.a, n.b); },
        [](const Cast& n) { return cast(n.type, n.value); });
  }

  Expr expr(const Expr& e, const std::map<Symbol, std::vector<Var>>& registers) {
    if (!mentions(e, varying_)) return broadcast(e, lanes);
    if (auto* n = e.as<Load>()) {
      auto it = registers.find(n->array.symbol);
      if (it != registers.end()) return register_of(it->second, n->index);
      return Load{n->array, index(n->index), lanes};
    }
    if (auto* n = e.as<Var>()) return renamed_.at(n->symbol);
    if (auto* n = e.as<Unary>()) return Unary{n->op, expr(n->a, registers)};
    const Binary& n = *e.as<Binary>();
    return Binary{n.op, expr(n.a, registers), expr(n.b, registers)};
  }

  const For& loop_;
  int64_t trips_, strip_ = 0;
  ScalarType scalar_;
  std::set<Symbol> varying_;
  std::map<Symbol, Var> renamed_;
};

std::set<Symbol> arrays_in(const Stmt& s, const std::map<Symbol, Allocate>& of) {
  std::set<Symbol> out;
  for (const auto& [symbol, n] : uses(s))
    if (of.contains(symbol)) out.insert(symbol);
  return out;
}

/// The length of the parts that loops go over local arrays in.
std::map<Symbol, int64_t> part_lengths(const Stmt& body, const std::map<Symbol, Allocate>& small) {
  std::map<Symbol, int64_t> out;
  each<For>(body, [&](const For& n) {
    if (!holds<For>(n.body))
      for (const Symbol& s : arrays_in(n.body, small)) out[s] = std::gcd(out[s], trip_count(n).value_or(0));
  });
  return out;
}

/// The local arrays that can become registers: all that are, less those used where they cannot be, until none is left.
std::set<Symbol> takeable(const Stmt& body, const std::map<Symbol, Allocate>& small, int vector_bytes) {
  std::set<Symbol> take;
  std::map<Symbol, int64_t> parts = part_lengths(body, small);
  for (const auto& [symbol, length] : parts)
    if (length > 0) take.insert(symbol);
  for (bool again = true; again;) {
    again = false;
    std::map<Symbol, int> total = uses(body), inside;
    std::set<Symbol> refused;
    each<For>(body, [&](const For& n) {
      std::set<Symbol> here = arrays_in(n.body, small);
      if (here.empty() || holds<For>(n.body)) return;
      Strips strips(n, vector_bytes);
      bool possible = strips.possible(take);
      for (const Symbol& s : here) {
        if (!take.contains(s)) continue;
        bool divides = *constant_integer(small.at(s).count) % parts[s] == 0;
        if (possible && trip_count(n) == parts[s] && divides) inside[s] += uses(n.body)[s];
        else refused.insert(s);
      }
    });
    for (const Symbol& s : std::set<Symbol>(take))
      if (refused.contains(s) || inside[s] != total[s]) take.erase(s), again = true;
  }
  return take;
}

}  // namespace

Function vectorize(const Function& f, const Target& target) {
  std::map<Symbol, Allocate> small;
  each<Allocate>(f.body, [&](const Allocate& n) {
    auto count = constant_integer(n.count);
    if (count && *count > 1 && n.space == MemorySpace::Private && has_lanes(n.array.type.scalar))
      small.emplace(n.array.symbol, n);
  });
  std::set<Symbol> take = takeable(f.body, small, target.vector_bytes);
  if (take.empty()) return f;
  std::map<Symbol, int64_t> parts = part_lengths(f.body, small);
  std::map<Symbol, std::vector<Var>> registers;
  std::map<Symbol, std::vector<Stmt>> declarations;
  for (const Symbol& s : take) {
    const Allocate& a = small.at(s);
    ScalarType scalar = a.array.type.scalar;
    int64_t count = *constant_integer(a.count);
    int lanes = lanes_for(parts.at(s), scalar, target.vector_bytes);
    for (int64_t r = 0; r < count / lanes; r++) {
      std::string name = s.name() + (count == lanes ? "" : std::to_string(r));
      Var v = var(std::move(name), {scalar, Type::Form::Value, lanes});
      registers[s].push_back(v);
      declarations[s].push_back(Declare{v, broadcast(zero({scalar}), lanes), Mutability::Mutable});
    }
  }
  Stmt body = rewrite(
      f.body,
      [&](const Block& n) -> Stmt {
        std::vector<Stmt> out;
        for (const Stmt& s : n.stmts) {
          auto* a = s.as<Allocate>();
          auto it = a ? declarations.find(a->array.symbol) : declarations.end();
          if (it == declarations.end()) out.push_back(s);
          else out.insert(out.end(), it->second.begin(), it->second.end());
        }
        return Block{std::move(out)};
      },
      [&](const For& n) -> Stmt {
        bool ours = false;
        for (const auto& [symbol, count] : uses(n.body)) ours |= take.contains(symbol);
        if (!ours || holds<For>(n.body)) return n;
        Strips strips(n, target.vector_bytes);
        return strips.possible(take) ? strips.made(registers) : Stmt(n);
      });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
