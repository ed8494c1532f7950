// hoist: what is the same in every turn of a loop is computed once, before it: loads, where the loop surely runs, and
// products in indices.
//
//   requires  nothing
//   ensures   a loop of constant length loads nothing by an index that is the same in every turn, unless conditionally
//
//   for k in 0 .. 32                            const B_p: double = B[p]
//     A[k] += B[p] * C[j * 32 + k]        →     const offset: int32 = j * 32
//                                               for k in 0 .. 32
//                                                 A[k] += B_p * C[offset + k]
//
// A load is moved only out of loops known to run: elsewhere its index might be out of bounds. The C++ compiler does the
// rest; it cannot do this where a store in the loop might, for all it knows, change what is loaded.
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

class Hoister {
 public:
  Hoister(const For& loop, Changes changed) : changed_(std::move(changed)), runs_(trip_count(loop).value_or(0) > 0) {
    changed_.variables.insert(loop.var.symbol);
    // A turn that is left early may leave out what follows.
    each<Break>(loop.body, [&](const Break&) { runs_ = false; });
  }

  std::vector<Stmt> declarations;

  /// The body with invariant expressions replaced; those that are evaluated in every turn.
  Stmt stmt(const Stmt& s, bool always) {
    return match(
        s,
        [&](const Declare& n) -> Stmt {
          return Declare{n.var, expr(n.init, always), n.mutability};
        },
        [&](const Assign& n) -> Stmt {
          return Assign{n.var, expr(n.value, always)};
        },
        [&](const Store& n) -> Stmt {
          return Store{n.mode, n.array, expr(n.index, always), expr(n.value, always)};
        },
        [&](const Prefetch& n) -> Stmt {
          return Prefetch{n.array, expr(n.index, always)};
        },
        [&](const For& n) -> Stmt {
          bool inside = always && trip_count(n).value_or(0) > 0;
          return For{
              n.var,   expr(n.lo, always), expr(n.hi, always), expr(n.step, always), stmt(n.body, inside), n.kind,
              n.unroll};
        },
        [&](const While& n) -> Stmt {
          return While{expr(n.cond, always), stmt(n.body, false)};
        },
        [&](const If& n) -> Stmt {
          std::optional<Stmt> otherwise;
          if (n.otherwise) otherwise = stmt(*n.otherwise, false);
          return If{expr(n.cond, always), stmt(n.then, false), otherwise};
        },
        [&](const Block& n) -> Stmt {
          std::vector<Stmt> out;
          for (const Stmt& inner : n.stmts) out.push_back(stmt(inner, always));
          return Block{std::move(out)};
        },
        [&](const Comment&) { return s; },
        [&](const Allocate& n) -> Stmt {
          return Allocate{n.array, expr(n.count, always), n.fill, n.space};
        },
        [&](const Sort&) { return s; }, [&](const Break&) { return s; }, [&](const Return&) { return s; },
        [&](const Parallel&) { return s; }, [&](const Resize&) { return s; }, [&](const Shrink&) { return s; },
        [&](const Append&) { return s; }, [&](const Define&) { return s; }, [&](const Perform&) { return s; },
        [&](const Barrier&) { return s; }, [&](const Claim&) { return s; });
  }

 private:
  Expr expr(const Expr& e, bool always) {
    bool load = e.is<Load>() && always && runs_;
    bool product = e.is<Binary>() && e.as<Binary>()->op == BinaryOp::Mul && is_integral(type_of(e).scalar) &&
                   (!has_loads(e) || (always && runs_));
    if ((load || product) && !changed_.touches(e)) return hoisted(e);
    // The operands that are not always evaluated hide what is below them.
    auto* b = e.as<Binary>();
    bool short_circuit = b && (b->op == BinaryOp::And || b->op == BinaryOp::Or);
    if (e.is<Select>() || short_circuit) always = false;
    return map_children(e, [&](const Expr& child) { return expr(child, always); });
  }

  Expr hoisted(const Expr& e) {
    for (const auto& [known, var] : known_)
      if (known == e) return var;
    std::string name = "offset";
    if (auto* load = e.as<Load>()) {
      auto* index = load->index.as<Var>();
      name = load->array.symbol.name() + "_" + (index ? index->symbol.name() : "value");
    }
    Var v = var(std::move(name), type_of(e));
    known_.emplace_back(e, v);
    declarations.push_back(Declare{v, e, Mutability::Const});
    return v;
  }

  Changes changed_;
  bool runs_;
  std::vector<std::pair<Expr, Var>> known_;
};

}  // namespace

Function hoist(const Function& f, const Target&) {
  // From the inside out: what leaves an inner loop may leave the outer one too.
  Stmt body = rewrite(f.body, [](const For& n) -> Stmt {
    if (is_gpu(n.kind)) return n;
    Hoister hoister(n, changes(n.body));
    Stmt inner = hoister.stmt(n.body, true);
    if (hoister.declarations.empty()) return n;
    std::vector<Stmt> out = std::move(hoister.declarations);
    out.push_back(For{n.var, n.lo, n.hi, n.step, inner, n.kind, n.unroll});
    return Block{std::move(out)};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
